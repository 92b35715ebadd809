// SPDX-License-Identifier: MIT
// The schedule as a pass is making it, which stages write: what agreements in flight have promised,
// what the plan decides and what it reserves.  Each decision changes the SystemState at once, so
// that every stage sees what the stages before it have left.
//
// The agreement list A and the list of jobs to start J_s of [lina] section 4 are the plan's
// actions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/model/plan.hpp"
#include "core/pass/state/system_state.hpp"

namespace elastic::core {

class Schedule : public SystemState {
  public:
    // All must outlive the pass; the index is the snapshot's.
    void begin(const Snapshot&, const SnapshotIndex&, const Policy&);
    // From now on reservations count on what malleable jobs can give back.
    void count_on_returns();

    using SystemState::availability;
    AvailabilityProfile& availability() { return nodes_.availability(); }

    // What has been promised.
    void book_growth(std::uint32_t running, const PoolCounts& more);
    void book_shrink(const Shrinkage&, Time beneficiary_end);
    // The job waits for victims: nothing is to be decided for it any more.
    void claim(std::uint32_t pending);

    // Decisions.  Each takes the nodes, marks the jobs and adds to the plan.  `idle` are nodes that
    // are free now.
    void start(std::uint32_t pending, const PoolCounts& idle, int size, Reason);
    // Of the partly used nodes of a pool those that a start on so many idle ones may take besides
    // until `end`: a reservation may count on their coming free.
    int shareable(PoolId, int idle, Time end);
    // The start that was added last takes up to so many.
    void share(const PoolCounts& parts, Time end);
    // With `more` nodes, which the job keeps until then.  `action` is an index into plan().
    void enlarge_start(std::size_t action, const PoolCounts& more, Time until);
    void start_by_shrinking(std::uint32_t pending, const PoolCounts& idle, int size,
                            const std::vector<Shrinkage>&, Reason why = Reason::for_pending_job);
    // A running job ends now; its nodes are as good as free.
    void preempt(std::uint32_t running, std::uint32_t pending);
    // A claimed job, on `nodes`, which but for the idle ones are taken for claimed jobs already.
    void start_by_trading(std::uint32_t pending, const PoolCounts& nodes, const PoolCounts& idle,
                          int size);
    // The nodes of a promise are for `beneficiary`, which leaves `nodes` for them.
    void trade(const Promise&, JobId beneficiary, const PoolCounts& nodes);
    void shrink_for_anybody(const Shrinkage&);
    // For nobody; what is `used` of the nodes never comes free.
    void leave(const Shrinkage&, Reason);
    // Nobody gets these nodes, which are free from then on, or come free then.
    void withhold(Time from, Time to, const PoolCounts&);
    void grant(const GrowthRequest&, std::uint32_t running, const PoolCounts& idle,
               const std::vector<Shrinkage>&);
    void deny(const GrowthRequest&, Reason);
    void expand(std::uint32_t running, const PoolCounts& idle, int size_after, Reason);
    void keep(const Promise& offer);
    void withdraw(const Promise& offer, Reason);

    // The earliest reservation from `from` on for all steps of a job that has an evolution profile.
    std::optional<Reservation> fit(std::uint32_t pending, Time from);
    // Starts such a job if all of its steps fit from now on.
    bool start_with_steps(std::uint32_t pending, Reason);
    // A running job's later steps, and its own nodes: each part comes free at `from`, and would at
    // `to` if the job had no steps.
    struct StepsLeft {
        std::uint32_t running = 0;
        std::vector<Layer> gains;
        Occupations own;
    };
    // Of a job that has these nodes besides, or fewer.
    StepsLeft steps_left(std::uint32_t running, const PoolCounts& coming) const;
    // Takes what the steps of all of these jobs need, each at its time.  Returns the jobs that
    // cannot have that, and takes nothing if there are any.
    std::vector<std::uint32_t> plan_steps_on_time(const std::vector<StepsLeft>&);
    // The job waits before its next growth until all steps from there on fit, and has its nodes for
    // so much longer.  False, and nothing is taken, if they never do.
    bool plan_steps_late(const StepsLeft&);
    // Each step for itself, as soon as there are nodes; one that never fits is left out.
    void plan_steps_in_turn(StepsLeft);
    // In the first of these ways that there is.
    void plan_later_steps(std::uint32_t running, const PoolCounts& coming);
    // What the job has when it waits for its next growth comes free at no time.
    void keep_nodes(const StepsLeft&);
    // Whether a running job that got what it lacks of its present step could end.
    bool can_go_on(std::uint32_t running);
    // Grants a step its nodes and plans those that follow; false, and nothing happens, if the job
    // could not end with them.
    bool grant_step(const GrowthRequest&, std::uint32_t running, const PoolCounts& idle);
    // What a running job lacks of its present step, if there are idle nodes for as long as it keeps
    // each of them; else none.
    PoolCounts idle_for_step(std::uint32_t running);
    // Of a pending job that is to start now on other nodes than those that are free.  False, and
    // nothing is taken, if it must be in time and cannot.
    bool plan_steps_after_start(std::uint32_t pending, bool in_time);
    void lift_later_steps(JobId);  // nothing if it has none

    void reserve(Reservation&&);
    // What of these nodes is free all that time.
    PoolCounts free_of(const PoolCounts& nodes, Time from, Time to);
    // On what of its nodes is free then, if any is, since the estimates of who has planned it may
    // be others.
    void reserve_what_is_free(Reservation&&);
    // Takes back what another scheduler has planned for jobs behind that place.
    std::vector<Reservation> lift_planned_behind(std::uint32_t pending);
    // Takes the job's reservation back, one if it has copies; nothing if it has none.
    std::optional<Reservation> lift_reservation(std::uint32_t pending);
    // Reservations that were made here of deferred jobs bind nobody any more, but are announced.
    void release_deferred();
    void announce_reservations();  // as actions, once they are final
    // Says of the starts, or the growths, so far what they could have besides.
    void note_spare(ActionKind);

    // Moves withdrawals to the front: their nodes are given to others.
    const Plan& finish();
    const Plan& plan() const { return plan_; }  // so far

  private:
    // What the job could have until `end`, none of it at a higher price than its nodes.
    PoolCounts spare(const PoolCounts& nodes, EligibilityId, Time end) const;
    void start_action(std::uint32_t pending, const PoolCounts& idle, int size, Reason);
    bool may_keep(const Occupation& own);
    void come_free(const Occupations& own);
    void come_free_without_steps(const Occupations& own);
    Occupations own_while_waiting(const StepsLeft&, Duration delay) const;
    void add_later_steps(const StepsLeft&, Occupations gains, Occupations own);
    bool plan_steps(const StepsLeft&);

    void shrink(const Shrinkage&, JobId beneficiary, Time beneficiary_end, Reason);
    Action& add(ActionKind, Reason, JobId, const PoolCounts& nodes);

    Plan plan_;
    std::vector<Reservation> released_;  // that are to be announced
    bool withdraws_ = false;
    bool enlarges_ = false;  // starts, by what was spare
};

}  // namespace elastic::core

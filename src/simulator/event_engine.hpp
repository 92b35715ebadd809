// SPDX-License-Identifier: MIT
// The event loop behind simulate(): its state, which engine.cpp (events and passes),
// engine_elastic.cpp (elastic jobs that run), engine_steps.cpp (jobs that have an evolution
// profile), engine_preemption.cpp (jobs that end others), engine_limits.cpp (limits of QOS) and
// engine_calendar.cpp (reservations and outages) and engine_sharing.cpp (jobs that take parts of
// nodes) share.  For nobody else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "core/availability/cluster.hpp"
#include "core/model/evolution.hpp"
#include "core/model/experience.hpp"
#include "core/model/plan.hpp"
#include "core/model/rng.hpp"
#include "core/model/speedup.hpp"
#include "core/pass/planner.hpp"
#include "simulator/engine.hpp"
#include "simulator/partly_used_nodes.hpp"

namespace elastic::simulator {

// In the order in which events of one instant are applied.
enum class EventKind : std::uint8_t { end, request, step, wake_up };

struct Event {
    Time at;
    std::uint32_t job;
    std::uint32_t version : 30;
    std::uint32_t kind : 2;

    // For std::push_heap, whose front is the greatest.
    friend bool operator<(const Event& a, const Event& b) {
        if (a.at != b.at) return a.at > b.at;
        if (a.kind != b.kind) return a.kind > b.kind;
        return a.job > b.job;
    }
};
static_assert(sizeof(Event) == 16);

// What an elastic job needs while it runs.
struct Progress {
    const Elasticity* how = nullptr;
    core::WorkLedger truth, belief;
    Time booked = 0;  // node-seconds and segments are complete until then
    // Of the resizes so far, still to be paid from `booked` on.
    Duration negotiation = 0, redistribution = 0;
    std::uint32_t version = 0;
    std::uint32_t next_request = 0;
    double held = 0;  // node-seconds, booked
    core::WorkSeen seen;
};

// Where a job that has an evolution profile stands in it.
struct Stepping {
    core::Evolution evolution;
    OpId op = 0;  // by which it asks for the nodes of the step that waits; 0: none waits
};

// A growth that a job has asked for before this pass.
struct Asked {
    OpId op = 0;
    std::uint32_t job = 0;
    int nodes = 0;
    bool answered = false;
};

inline constexpr std::uint32_t kNoSlot = UINT32_MAX;
inline constexpr std::uint32_t kNoLimit = UINT32_MAX;

// What running jobs have of a limit, and who waits for it, in the queue's order.
struct LimitUse {
    Limit used;
    std::vector<std::uint32_t> held;
};

// How many nodes of a pool are to be down, and how many are.
struct PoolDown {
    int wanted = 0, taken = 0;
};

class Engine {
  public:
    Engine(const Workload& workload, const SimulationOptions& options);
    Outcome run();

  private:
    // Events.
    void push(Time at, EventKind kind, std::uint32_t job, std::uint32_t version);
    void pop();
    bool is_stale(const Event&) const;
    bool next_instant();
    bool apply_events();
    void arrive(std::uint32_t job);
    void end(std::uint32_t job);
    void request(std::uint32_t job);
    void step(std::uint32_t job);
    bool is_wake_up_due() const;
    bool follow_supply();
    void pay(Time until);

    // Passes.
    bool could_act() const;
    void pass();
    bool plan_until_settled();
    bool plan_and_execute();
    void execute(const core::Action&);
    void refuse(const core::Action&);
    void promise(const core::Action&);
    void start(const core::Action&);
    Asked& asked(OpId);
    void grant(Asked&);
    void deny(Asked&, core::Reason);
    void deny_unanswered();

    // Jobs with an evolution profile.
    bool has_profile(std::uint32_t job) const;
    bool is_for_step(const core::Action&) const;
    void tell_steps();
    void grant_step(const core::Action&);
    void schedule_step(std::uint32_t job);

    // Heterogeneous jobs.
    void find_components();
    std::uint32_t first_component(std::uint32_t job) const;
    bool is_component(std::uint32_t job) const { return !whole_.empty() && whole_[job] >= 0; }

    // Jobs that end others.
    bool preempts() const { return !runs_.empty(); }
    // Whether the queue is in another order than that of arrivals.
    bool has_order() const { return preempts() || !workload_.ranks.empty(); }
    bool comes_before(std::uint32_t job, std::uint32_t other) const;
    auto by_queue() const {
        return [this](std::uint32_t job, std::uint32_t other) { return comes_before(job, other); };
    }
    void join_queue(std::uint32_t job);
    void join_queue(const std::vector<std::uint32_t>& jobs);
    void tell_preemptors();
    std::vector<JobId> victims_of(int level) const;
    void preempt(const core::Action&);
    void preempt(std::uint32_t job);
    void preempt_whole(std::uint32_t component);
    bool is_running(std::uint32_t job) const;
    void drop_requests(std::uint32_t job);
    void leave_step(std::uint32_t job);
    double give_up(std::uint32_t job);

    // Jobs that wait for a limit.
    void count_job(std::uint32_t job, int nodes, int sign);
    void count_limits(std::uint32_t job, int nodes);
    std::uint32_t limit_on_start(std::uint32_t job) const;
    std::uint32_t limit_on_start(std::uint32_t job, std::uint32_t place);
    bool admit(std::uint32_t job);
    void hold(std::uint32_t job, std::uint32_t limit);
    void note_reserved(const core::Plan&);
    std::size_t first_with_room(const std::vector<std::uint32_t>& jobs);
    void let_in(std::uint32_t job);
    std::span<const core::Action> within_limits(const core::Plan&);
    void hold_limited();
    int room_to_grow(std::uint32_t job) const;
    void bound_growth();
    core::PoolCounts nodes_of_start(const core::Action&) const;
    int size_of_start(const core::Action&) const;
    core::PoolCounts nodes_of_growth(const core::Action&) const;

    // Reservations and outages.
    void leave_nodes(std::uint32_t job);
    Time next_completed() const;
    bool follow_completing();
    void begin_calendar();
    Time next_in_calendar() const;
    bool follow_calendar();
    void follow_outages();
    void take_down();
    const Reservation* reservation_of(std::uint32_t job) const;
    bool waits_for_reservation(std::uint32_t job);
    core::Eligibility pools_until(std::uint32_t job, Time end) const;
    core::EligibilityId eligibility(core::Eligibility pools);
    void keep_from_reserved();

    // Jobs that take parts of nodes.
    bool shares_nodes(std::uint32_t job) const;
    bool take_parts(const core::Action& start);
    void lift_deferrals();
    void leave_parts(std::uint32_t job);

    // Running elastic jobs.
    Progress& progress(std::uint32_t job) { return progress_[slot_[job]]; }
    std::uint32_t new_slot();
    Duration start_elastic(std::uint32_t job, int size);
    void resize(Observer::Resize, const core::PoolCounts& nodes);
    void shrink_by_itself(std::uint32_t job, int nodes);
    void give_back(std::uint32_t job, int to);
    void schedule(std::uint32_t job);
    void schedule_request(std::uint32_t job);
    void schedule_wake_up(std::uint32_t job);
    void book(std::uint32_t job);
    void add_segment(std::uint32_t job, Time from, Time to, Segment::Kind);
    Duration gap(const core::Sizing&) const;

    // What is learned of jobs that have ended.
    core::PendingJob pending_of(std::uint32_t job) const;
    core::Experience::Program program_of(std::uint32_t job) const;
    void learn(std::uint32_t job);

    const Workload& workload_;
    const SimulationOptions& options_;
    core::Cluster cluster_;
    core::Planner planner_{core::Planner::Detail::needed};
    core::Rng rng_;
    Outcome outcome_;

    Time now_ = 0;
    std::vector<Event> events_;  // a heap
    std::vector<std::uint32_t> arrivals_;
    std::size_t next_arrival_ = 0;
    std::int64_t pending_ = 0, running_ = 0, ended_ = 0;
    std::int64_t wake_ups_left_ = 0;

    bool resizes_ = false;             // the policy resizes, and there is something to resize
    bool plans_again_ = false;         // a plan may leave something to be done in the same instant
    std::vector<std::uint32_t> slot_;  // by job; empty without elastic jobs
    std::vector<Progress> progress_;   // by slot
    std::vector<std::uint32_t> free_slots_;
    std::vector<Asked> asked_;                    // few
    std::map<std::uint32_t, Stepping> stepping_;  // by job: those that run
    std::size_t steps_waiting_ = 0;
    OpId next_op_ = 1;
    core::SupplyClock supply_;
    bool learns_ = false;  // the policy does, and there is something to believe
    core::Experience experience_;
    // By job, if any is heterogeneous: of which of these it is a component; -1: of none.
    std::vector<std::int32_t> whole_;
    std::vector<LimitUse> limits_;  // by Workload::limits
    PartlyUsedNodes partly_used_;
    // Jobs with reservations by the last plan, and their places in the queue, ascending.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> reserved_;
    bool has_less_room_ = false;  // in some limit than when the queue was looked at last
    // Since the last plan was made it has turned out that it could be another one.
    bool unsettled_ = false;
    std::vector<JobId> deferred_;  // had no room on partly used nodes since somebody ended last
    std::vector<Time> calendar_;   // when reservations and outages matter, ascending
    std::size_t next_date_ = 0;
    Duration longest_ = 0;             // estimate
    std::vector<std::uint32_t> near_;  // reservations that jobs may run into now
    bool had_near_ = false;            // some were in the last pass
    std::map<core::Eligibility, core::EligibilityId> eligible_ids_;
    std::deque<std::pair<Time, core::PoolCounts>> completing_;  // nodes, by when they come free
    std::vector<PoolDown> down_;                                // by pool
    std::vector<std::vector<std::uint32_t>> reserved_jobs_;     // that wait for each to begin
    // By job, if some may end others: the least version that an event of its present run has.
    std::vector<std::uint32_t> runs_;
};

}  // namespace elastic::simulator

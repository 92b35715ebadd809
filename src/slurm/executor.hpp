// SPDX-License-Identifier: GPL-2.0-or-later
// Carries out plans and ripe agreements on Slurm's records.
//
// Always holds: what is done under one hold of the lock leaves Slurm consistent;
// a hand-over (victims shrink, beneficiary starts or grows) is one hold, so
// nobody can take the nodes in between.
#pragma once

#include "core/plan.hpp"
#include "slurm/observer.hpp"
#include "slurm/start.hpp"

namespace elastic::slurm {

class Executor {
  public:
    Executor(Context& context, Negotiation& negotiation, Observer& observer)
        : context_(context), negotiation_(negotiation), observer_(observer) {}

    // Locks, observes, and makes the view and its snapshot anew.
    void read(Time now);
    // The same with the order of the queue as it was read last.
    void read_again(Time now);

    // Locks, and does what the plan says.  Because time has passed since the
    // snapshot, each action is checked again and left out if it has become
    // wrong.  True if Slurm refused something and the rest is worth a new plan.
    bool carry_out(const core::Plan&, Time now);

    // Locks if any agreement might move forward without its application, and
    // moves it: accepted expansions, released nodes, offers nobody needs.
    void settle(Time now);

  private:
    void add_promises();
    bool do_action(const core::Action&, Time now);
    bool do_start(const core::Action&, Time now);
    Started try_to_start(job_record_t*, const core::Action&) const;
    bool remember_refusal(const job_record_t*, const core::Action&, StartOutcome);
    bool do_shrink(const core::Action&, Time now);
    bool is_barred(core::JobId beneficiary, Time now);
    bool is_start_barred(job_record_t*);
    void do_expand(const core::Action&, Time now);
    void do_reserve(const core::Action&, Time now);
    void do_deny(const core::Action&, Time now);
    void do_withdraw(const core::Action&, Time now);
    void explain_waiting();

    bool view_is_stale() const;
    void settle_all(Time now);
    bool settle_some(const ControllerLock&, Time now);
    bool move_forward(core::Agreement&, Time now);
    bool move_shrink(core::Agreement&, Time now);
    bool still_waits(core::JobId beneficiary) const;
    bool may_leave(const core::Agreement& shrink) const;
    bool all_released(core::JobId beneficiary) const;
    bool must_wait_for_nodes(const job_record_t*, const core::Agreement&, int found) const;
    void hand_over(core::JobId beneficiary, Time now);
    void apply_shrink(core::Agreement&, Time now);
    bool apply_grow(core::Agreement&, Time now);
    void after_start(job_record_t*, Time now);
    void extend_limit(job_record_t*, JobEntry&, const char* why);
    void after_resize(job_record_t*, JobEntry&, core::Agreement&, int from,
                      const std::string& changed, Time now);
    void offer_growth(JobEntry&, const core::Action&, Time now);

    struct Growth {
        NodeSet joining;
        std::string limit;  // that keeps the job from more
    };
    // Those of the idle nodes that join the job now.
    Growth choose_joining(job_record_t*, const JobEntry&, const core::Agreement&,
                          NodeSet idle) const;
    Growth within_limits(job_record_t*, const JobEntry&, const NodeSet& idle, int least,
                         int most) const;
    NodeSet nodes_for(job_record_t*, const Attempt&) const;

    Context& context_;
    Negotiation& negotiation_;
    Observer& observer_;
    Queue queue_;
};

}  // namespace elastic::slurm

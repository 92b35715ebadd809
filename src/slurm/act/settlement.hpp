// SPDX-License-Identifier: GPL-2.0-or-later
// Carries out ripe agreements on Slurm's records.
//
// Always holds: what is done under one hold of the lock leaves Slurm consistent;
// a hand-over (victims shrink, beneficiary starts or grows) is one hold, so
// nobody can take the nodes in between.
#pragma once

#include "slurm/read/observer.hpp"

namespace elastic::slurm {

class Settlement {
  public:
    Settlement(Context& context, Negotiation& negotiation, Observer& observer)
        : context_(context), negotiation_(negotiation), observer_(observer) {}

    // Locks if any agreement might move forward without its application, and
    // moves it: accepted expansions, released nodes, offers nobody needs.
    void settle(Time now);
    // The same after a plan, which may have ended or taken back anything.
    void settle_all(Time now);

    // Lets the job have the idle nodes that its granted or accepted agreement names.  True if the
    // agreement has changed.  Needs ControllerLock.
    bool apply_grow(core::Agreement&, Time now);

    // Books a job that was just started.  Needs ControllerLock.
    void started(job_record_t*, Time now);

  private:
    bool settle_some(const ControllerLock&, Time now);
    bool move_forward(core::Agreement&, Time now);
    bool move_shrink(core::Agreement&, Time now);
    bool still_waits(JobId beneficiary) const;
    bool may_leave(const core::Agreement& shrink) const;
    bool all_released(JobId beneficiary) const;
    bool must_wait_for_nodes(const job_record_t*, const core::Agreement&, int found) const;
    void hand_over(JobId beneficiary, Time now);
    void start_beneficiary(JobId, int size, Time now);
    NodeSet nodes_for(job_record_t*, const Attempt&) const;
    void apply_shrink(core::Agreement&, Time now);
    void extend_limit(job_record_t*, JobEntry&, const char* why);
    void after_resize(job_record_t*, JobEntry&, core::Agreement&, int from,
                      const std::string& changed, Time now);

    Context& context_;
    Negotiation& negotiation_;
    Observer& observer_;
};

}  // namespace elastic::slurm

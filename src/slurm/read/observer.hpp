// SPDX-License-Identifier: GPL-2.0-or-later
// Follows what happens to jobs without our doing: submissions, ends, requeues,
// failed nodes, and what another controller did before us.
#pragma once

#include "slurm/negotiation.hpp"

namespace elastic::slurm {

class Observer {
  public:
    Observer(Context& context, Negotiation& negotiation)
        : context_(context), negotiation_(negotiation) {}

    // Compares Slurm's job records with what is known, writes what has changed
    // into the journal and ends agreements whose job has ended.  Needs
    // ControllerLock (it repairs batch steps).
    //
    // To be called in every hold of the lock before anything is started or
    // resized: a node that becomes free and is given away at once would otherwise
    // have two users in the journal.
    void observe(Time now);

    // Books that the job holds the nodes its record names (a start or resize of ours).
    void started(const job_record_t*, Time now);
    void resized(const job_record_t*, JobEntry&);

  private:
    struct Known {
        const job_record_t* record = nullptr;
        JobId id = 0;
        JobEntry* entry = nullptr;
    };

    bool nothing_changed();
    JobEntry& entry_of(const job_record_t*);
    static bool still_waits(const job_record_t*, const JobEntry&);
    void forget_others(Time now);
    void observe(job_record_t*, JobEntry&, Time now);
    journal::Start book_start(const job_record_t*, JobEntry&, Time now);
    journal::Start book_resume(const job_record_t*, JobEntry&, Time now);
    static void restore_ledger(JobEntry&, Time now);
    static void restart_ledger(const job_record_t*, JobEntry&, Time now);
    void submitted(const job_record_t*, JobEntry&, Time now);
    void ended(JobEntry&, const std::string& state, Time now);
    void requeued(job_record_t*, JobEntry&, Time now);
    void restore_limit(job_record_t*, JobEntry&);
    void suspended(JobEntry&, Time now);
    static void note_not_running(JobEntry&);
    void note_resize(const job_record_t*, JobEntry&, Time now);
    void note_resize(JobEntry&, ResizeKind, int from, const std::string& changed, Time now);
    core::Agreement* cause_of(const JobEntry&, ResizeKind, const std::string& changed);

    Context& context_;
    Negotiation& negotiation_;
    // In the order of Slurm's list: those of the last round and of this one up to here.  Entries
    // are erased only when a round has not met their jobs, so all that are named exist.
    std::vector<Known> known_, met_;
    std::size_t next_ = 0;     // of known_
    time_t seen_until_ = 0;    // changes before this second were seen
    std::uint64_t round_ = 0;  // entries that it has not touched are of jobs that are gone
    std::vector<journal::Event> arrivals_;  // of this round: who holds more nodes than before
};

}  // namespace elastic::slurm

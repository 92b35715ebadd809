// SPDX-License-Identifier: GPL-2.0-or-later
// Follows what happens to jobs without our doing: submissions, ends, requeues, failed nodes, and
// what another controller did before us.
#pragma once

#include <vector>

#include "controller/negotiation/negotiation.hpp"
#include "slurm/records.hpp"

namespace elastic::slurm {

class Observer {
    using Job = controller::Job;

  public:
    Observer(const core::Config& config, controller::State& state, controller::Outbox& outbox,
             controller::Negotiation& negotiation)
        : config_(config), state_(state), outbox_(outbox), negotiation_(negotiation) {}

    // Compares Slurm's job records with what is known, writes what has changed into the journal and
    // ends agreements whose job has ended.  Needs ControllerLock (it repairs batch steps).
    void observe(Time now);

    // The same if any job that is known to hold nodes has others than before.  Needs
    // ControllerLock; looks at those jobs only, so it takes no longer if the queue is long.
    //
    // To be called in every hold of the lock before anything is started or resized: a node that
    // becomes free and is given away at once would otherwise have two users in the journal.
    void observe_holders(Time now);

    // Books that the job holds the nodes its record names (a start or resize of ours).
    void started(const job_record_t*, Time now);
    void resized(const job_record_t*, Job&);
    // Into the journal, behind what it says of the nodes themselves: those that the job is the
    // first of its type to use.
    void tell_initialisation(Job& known, Time now) {
        tell_initialisation(known, now, outbox_.events);
    }
    // Notes what somebody else has set the job's limit to; before a resize counts its work anew.
    static void follow_limit(const job_record_t*, Job&, Time now);

  private:
    struct Met {
        const job_record_t* record = nullptr;
        JobId id = 0;
        Job* known = nullptr;
    };

    bool nothing_changed();
    Job& known_of(const job_record_t*);
    static bool still_waits(const job_record_t*, const Job&);
    void forget_others(Time now);
    void ended_unseen(controller::Job&, Time now);
    void observe(job_record_t*, Job&, Time now);
    journal::Start book_start(const job_record_t*, Job&, Time now);
    journal::Start book_resume(const job_record_t*, Job&, Time now);
    bool learns() const;
    double believed(const Job&) const;
    void learn(const job_record_t*, const Job&);
    static void begin_time(const job_record_t*, Job&, Time now);
    void submitted(const job_record_t*, Job&, Time now);
    void ended(Job&, const std::string& state, Time now);
    void requeued(job_record_t*, Job&, Time now);
    static void forget_last_run(job_record_t*, Job&);
    static void restore_limit(job_record_t*, Job&);
    void tell_initialisation(Job&, Time now, std::vector<journal::Event>& to);
    void suspended(Job&, Time now);
    static void note_not_running(Job&);
    void note_resize(const job_record_t*, Job&, Time now);
    void note_resize(Job&, ResizeKind, int from, const std::string& changed, Time now);
    controller::Agreement* cause_of(const Job&, ResizeKind, const std::string& changed);

    const core::Config& config_;
    controller::State& state_;
    controller::Outbox& outbox_;
    controller::Negotiation& negotiation_;
    // In the order of Slurm's list: those of the last round and of this one up to here.  Jobs are
    // erased from the table only when a round has not met them, so all that are named exist.
    std::vector<Met> last_met_, met_;
    std::vector<const Job*> holders_;  // of nodes, as of the last round and what was started since
    std::size_t next_ = 0;             // of last_met_
    time_t seen_until_ = 0;            // changes before this second were seen
    std::uint64_t round_ = 0;          // jobs that it has not met are gone
    std::vector<journal::Event> arrivals_;  // of this round: who holds more nodes than before
    std::string fresh_;                     // of the nodes of the job that was booked last
};

}  // namespace elastic::slurm

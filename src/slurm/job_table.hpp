// SPDX-License-Identifier: GPL-2.0-or-later
// What the controller remembers of each job beyond Slurm's own record.
//
// Always holds: an entry exists only while the job is pending, running or
// suspended in Slurm; Slurm's record is the truth about its nodes.
#pragma once

#include <string>
#include <unordered_map>

#include "common/token_bucket.hpp"
#include "controller/incoming.hpp"
#include "core/model/annotation.hpp"
#include "core/model/speedup.hpp"
#include "slurm/compat/compat.hpp"

namespace elastic::slurm {

struct JobEntry {
    JobId id = 0;
    uid_t owner = 0;
    std::string name;
    Time limit_end = 0;  // when its time limit ends it; 0 while pending
    // Its time limit before it was extended, and as it was left; minutes, 0 in a run without that.
    std::uint32_t limit_before = 0, limit_extended = 0;
    bool elastic = false;
    core::Annotation annotation;  // rigid jobs: min = pref = max
    std::string comment;          // the admin_comment that annotation was read from

    // as last written to the journal
    bool submitted = false;
    bool running = false;
    bool suspended = false;  // then it is not running
    int restarts = 0;        // how often it was requeued before
    int nodes = 0;
    std::string node_list;

    std::string batch_host;      // the node it can never give up
    std::uint64_t observed = 0;  // by which of the observer's rounds

    // taking part
    controller::ConnectionId connection = 0;  // 0: not connected now
    Time last_seen = 0;                       // when it was; 0 never
    Time not_before = 0;                      // no offers before: it declined or let one expire

    // For what its user asked for and ended, declined or was denied: each round of it costs lines
    // of the journal, which must not grow at a user's will.
    TokenBucket vain{20, 1};

    // for policies, [lina] section 4
    Time last_resize = 0;
    int gain = 0;
    int expansions = 0;
    int resizes = 0;
    std::string last_reason;  // of the last resize or refusal, for people

    core::WorkLedger ledger;
    time_t began = 0;       // when its time began, as Slurm said when the ledger was begun
    Time restored_end = 0;  // what the ledger of the controller before said; 0 nothing
    Time progress_end = 0;  // what the application says, 0 nothing
};

class JobTable {
  public:
    JobEntry* find(JobId);
    const JobEntry* find(JobId) const;
    // The entry of that job, made from its record if it is new; the annotation
    // follows the record's admin_comment.
    JobEntry& sync(const job_record_t*);
    static void sync(const job_record_t*, JobEntry&);
    void erase(JobId id) { entries_.erase(id); }

    // In no order; an entry stays where it is until it is erased.
    using Entries = std::unordered_map<JobId, JobEntry>;
    Entries& all() { return entries_; }
    const Entries& all() const { return entries_; }

  private:
    Entries entries_;
};

// The login name, or the number where there is none.
std::string user_name(uid_t);

// Seconds that the job may run by its limit; a year for an unlimited one.
Duration time_limit_of(const job_record_t*);

}  // namespace elastic::slurm

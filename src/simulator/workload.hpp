// SPDX-License-Identifier: MIT
// Workloads: what a log says, and the jobs that are made of it.
//
//   log file -> Log -> Workload -> engine
//
// A Log holds rigid jobs as they were submitted; a Workload has sizes in nodes
// and says which jobs are elastic, how, and what they cost.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/time.hpp"
#include "core/model/annotation.hpp"

namespace elastic::simulator {

// One usable line of a log: its size and its run time are positive.
struct LogJob {
    std::int64_t id = 0;          // the log's number, for output only; -1 while it has none
    Time submit = 0;              // seconds from the log's zero
    Duration run = 0;             // seconds
    Duration estimate = 0;        // seconds; the requested time, else the run time
    std::int64_t processors = 0;  // 0 if only nodes are known
    std::int64_t nodes = 0;       // 0 if only processors are known
    Duration wait = -1;           // seconds, as it was; less than 0 if the log does not say
    bool limited = false;         // whether the log has a time limit; else `estimate` is `run`
    int type = -1;                // index into Log::types; -1: not known, or not asked for
};

struct Log {
    std::string name;          // of the file, for messages
    std::vector<LogJob> jobs;  // in the order of the file; no id stands twice
    std::int64_t last_id = 0;  // the highest in the file, be its job skipped or not
    // Of each line without a submit time, a size or a positive run time, how many jobs stand before
    // it.
    std::vector<std::size_t> skipped;
    std::int64_t malformed = 0;   // lines left out because the reader was told to be lenient
    std::int64_t processors = 0;  // of the machine, by the header (MaxProcs); 0 if it does not say
    std::int64_t nodes = 0;       // by the header (MaxNodes); 0 if it does not say
    std::string unclear_size;  // the line of the header that says either in a way nobody can read
    // By id: jobs that the log itself calls elastic, and the annotation as at submission.
    struct Annotation {
        std::string text;
        std::int64_t line = 0;
    };
    std::map<std::int64_t, Annotation> annotations;
    std::set<std::int64_t> rigid;  // by id: those of which the log says that they cannot be elastic
    std::vector<std::string> types;  // of jobs, for people, by the rule that the reader was given
    bool lenient = false;            // as the reader was told: what is wrong is left out
    std::vector<std::string> notes;  // for whoever reads it: what is not taken as it stands
};

// [lina] section 5.1: what an evolving job asks for in the middle of its run.
struct EvolvingEvent {
    double work_left = 0;  // share of the job's work that is left when it asks, 0 to 1
    int nodes = 0;         // more (> 0) or fewer (< 0)
};

// How a job can change its size; rigid jobs have none.
struct Elasticity {
    core::Annotation annotation;  // what the scheduler knows
    // What is so, where it differs from what the scheduler knows ([mebf] figure 16).
    core::SpeedupModel true_speedup;
    Duration negotiation = 0;           // seconds that each agreement costs ([lina] section 5.2)
    std::vector<EvolvingEvent> events;  // by descending work_left
};

struct Job {
    std::int64_t id = 0;  // the log's
    Time submit = 0;
    Duration run = 0;       // at `nodes` nodes; already cut at the estimate if so wished
    Duration estimate = 0;  // at `nodes` nodes
    int nodes = 0;          // preferred
    int elasticity = -1;    // index into Workload::elasticities; -1: rigid
};

struct Workload {
    int nodes = 0;          // of the machine
    std::vector<Job> jobs;  // in the order of the log; none larger than the machine
    std::vector<Elasticity> elasticities;
    // What they waited in truth, seconds; less than 0 where the log does not say.  Empty if it
    // never does, or if submit times are changed.
    std::vector<Duration> logged_waits;
    std::int64_t skipped = 0;        // as in the log
    std::int64_t malformed = 0;      // as in the log
    std::int64_t rejected = 0;       // larger than the machine
    std::vector<std::string> notes;  // the log's, and what is not simulated
};

}  // namespace elastic::simulator

// SPDX-License-Identifier: MIT
// What a log says: rigid jobs as they were submitted.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/time.hpp"

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

// By what right a job ran, and on what, as far as the log says; numbers of names in LogNames, -1
// where it does not say.
struct JobFacts {
    int partition = -1, qos = -1, user = -1, account = -1, reservation = -1;
    int node_list = -1;
    double priority = -1;  // when it was last asked for, mostly at the start
    double memory = 0;     // MiB, of all its nodes; 0: not known
    double gpus = 0;       // of all its nodes
};

// What JobFacts counts, by number.
struct LogNames {
    std::vector<std::string> partitions, qos, users, accounts, reservations;
    std::vector<std::string> node_lists;  // as Slurm writes them, "n[1-4,7]"
};

struct Log {
    std::string name;             // of the file, for messages
    std::vector<LogJob> jobs;     // in the order of the file; no id stands twice
    std::vector<JobFacts> facts;  // of each of `jobs`; empty if the format has none
    LogNames names;
    Time zero = 0;             // of `submit`, as the log's times are; 0 if these have no date
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
    // Heterogeneous jobs: the places in `jobs` of their components, at least two, ascending.
    std::vector<std::vector<std::size_t>> heterogeneous;
    std::set<std::int64_t> rigid;  // by id: those of which the log says that they cannot be elastic
    std::vector<std::string> types;  // of jobs, for people, by the rule that the reader was given
    bool lenient = false;            // as the reader was told: what is wrong is left out
    std::vector<std::string> notes;  // for whoever reads it: what is not taken as it stands

    JobFacts facts_of(std::size_t job) const { return facts.empty() ? JobFacts() : facts[job]; }
};

}  // namespace elastic::simulator

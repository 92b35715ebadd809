// SPDX-License-Identifier: MIT
// What the three reproductions share: their options, their log, their way out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.hpp"
#include "simulator/workload.hpp"
#include "studies/report/report.hpp"
#include "studies/run_pool.hpp"

namespace elastic::studies {

struct StudyOptions {
    std::string trace;       // --trace
    std::string out;         // --out: a folder
    std::int64_t jobs = 0;   // --jobs: of the log; 0: as many as in the paper
    int seeds = 0;           // --seeds: runs that are averaged; 0: as many as in the paper
    int tests = 0;           // --tests: generated test cases; 0: as many as in the paper
    std::uint64_t seed = 1;  // --seed: of the generated ones
    std::int64_t nodes = 0, procs_per_node = 0;  // of the machine; 0: by the log
    int threads = 0;                             // --threads; 0: all processors
    bool tells = false;                          // progress and times, on standard error
};

struct StudyResult {
    std::vector<Finding> findings;
    std::string page;             // the file
    std::vector<Table> tables{};  // to be printed, if there are any
    std::string remark{};         // what is told and not written: it differs from run to run
};

// Logs that the papers use, and which this project knows by the names and sizes that the Parallel
// Workloads Archive gives them.
enum class KnownTrace { none, atlas, kit };

struct Trace {
    simulator::Log log;
    KnownTrace known = KnownTrace::none;
    std::string label;  // "LLNL", "KIT", or the file's name without its ending
};

// An error names --trace and says where such logs can be had.
Result<Trace> read_trace(const StudyOptions&, std::string_view study);

// Of the first jobs of the log, those whose estimate is the run time, mostly for want of another.
std::int64_t exact_estimates(const simulator::Log&, std::int64_t jobs);

PoolOptions pool(const StudyOptions&, std::string progress);

}  // namespace elastic::studies

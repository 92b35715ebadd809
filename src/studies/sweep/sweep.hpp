// SPDX-License-Identifier: MIT
// `selastic-sim sweep`: a grid of runs on all cores that can be interrupted.
#pragma once

#include <string>
#include <vector>

#include "common/result.hpp"
#include "simulator/site/site.hpp"
#include "studies/report/table.hpp"
#include "studies/run_pool.hpp"

namespace elastic::studies {

struct SweepOptions {
    std::string study;  // the file
    std::string out;    // a folder; made if it is not there
    PoolOptions pool;
    simulator::SiteFiles site{};  // what is known of the machine besides, of every log
};

struct SweepResult {
    std::size_t runs = 0, resumed = 0;  // of `runs`, those that an earlier call had done
    // Over the seeds; with a baseline the worst of them, too: its mean turnaround by the
    // baseline's.
    Table means;
    // What cannot be run, e.g. as no job of the log fits: its values with their lines, and why.
    std::vector<std::string> left_out;
    std::vector<std::string> doubts;  // about the logs, see log_check.hpp
};

// Writes OUT/results.csv, a line for each run: its parameters, then its results; and OUT/means.csv
// and .txt.  While it runs, lines are appended as runs end; after a crash or an interrupt the same
// call does what is missing.  When all is done the file is in the order of the study.  Lines of
// runs that are not in the study (any more) are kept behind it.
//
// Errors name the study's line, or the file: results.csv of a study with other keys, one that
// another sweep is writing to, one that is damaged.
Result<SweepResult> run_sweep(const SweepOptions&);

}  // namespace elastic::studies

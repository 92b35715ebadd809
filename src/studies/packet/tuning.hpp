// SPDX-License-Identifier: MIT
// `selastic-sim tune packet`: the scale ratio of the Packet algorithm for a site's own workload, by
// simulating it, as [packet] section 8 advises.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "common/names.hpp"
#include "common/result.hpp"
#include "simulator/logs/job_type.hpp"
#include "simulator/make_workload.hpp"
#include "simulator/packets.hpp"
#include "simulator/site/site.hpp"
#include "studies/report/table.hpp"
#include "studies/run_pool.hpp"

namespace elastic::studies {

// What a ratio is recommended by.
enum class TuneGoal {
    turnaround,  // jobs end soonest on average
    queue_time,  // the paper's: from it on average and median queue time are on their plateau. That
                 // deceives: a group on few nodes waits little and runs long
};
constexpr auto names(TuneGoal) {
    return std::to_array<std::string_view>({"turnaround", "queue-time"});
}
using elastic::to_string;

struct TuneOptions {
    std::string trace;  // a log, as for `run`
    std::string out;    // a folder; "": nothing is written
    bool lenient = false;
    simulator::TypeRule types{simulator::TypeField::user, simulator::TypeField::executable};
    simulator::SiteFiles site{};  // what is known of the machine besides
    simulator::WorkloadOptions workload{.overrun = simulator::Overrun::extend};
    Duration initialisation = 0;  // of each type, seconds; 0: by the paper's six shares
    TuneGoal goal = TuneGoal::turnaround;
    core::LongestWait longest_wait = core::LongestWait::ever;
    PoolOptions pool;
};

// For one initialisation time.
struct Tuned {
    double share =
        0;  // S: of the initialisations in all, had each job its own, by run times as logged
    Duration initialisation = 0;
    std::vector<simulator::PacketSummary> grouped;  // by scale ratio
    std::vector<simulator::PacketSummary> alone;    // each job a group of its own
    double by_queue_time = 0, by_turnaround = 0;    // scale ratios
    double recommended = 0;                         // that of the goal
};

struct TuneResult {
    int nodes = 0;
    std::int64_t jobs = 0,
                 untyped = 0;  // simulated; left out, since the log does not say their type
    std::int64_t types = 0;
    double load = 0;  // the jobs' work by what the machine could do until the last submission
    std::vector<Tuned> tuned;
    std::vector<std::string> notes;  // the log's
    std::string page;                // the file; "" without a folder
};

// Work is run time times nodes, since jobs are taken as moldable with linear speed-up.  An error
// names the option, or the log and its line.
Result<TuneResult> tune_packet(const TuneOptions&);

// A line for each initialisation time: the ratios, and what comes of the recommended one.
Table to_table(const TuneResult&);

}  // namespace elastic::studies

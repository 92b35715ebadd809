// SPDX-License-Identifier: MIT
// Logs of clean sites exceed their machine, too, for seconds: clocks differ, and a job's end is
// noted late.  (SDSC SP2's by 0.3 % of its node-seconds, KTH's by 0.001 %.)  Where nodes are shared
// it is many times that.
#include "simulator/log_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace elastic::simulator {
namespace {

constexpr double kMostExcess = 0.01;  // of all node-seconds
constexpr double kFewJobs = 0.01;     // of all jobs

std::string sharing(const Log& log, const Occupancy& found, std::int64_t nodes,
                    bool by_processors) {
    const std::string what = fmt::format(
        "{}: by its own start and end times up to {} nodes are in use of {}, {:.0f} % of all "
        "node-seconds are beyond: ",
        log.name, found.peak, nodes, 100 * found.excess);
    if (by_processors)
        return what +
               "--nodes or --procs-per-node is too small, or jobs shared processors; results "
               "say little";
    return what +
           "its jobs share nodes, which takes NodeList, AllocCPUS and perhaps --slurm-conf to "
           "simulate; they wait too long here without, or count processors instead: "
           "--procs-per-node 1 --nodes PROCESSORS";
}

std::string limits(const Log& log, std::size_t without) {
    return fmt::format(
        "{}: {} of {} jobs have no time limit: their run times are taken for it, so the scheduler "
        "knows when they end, which it would not, and waits come out too short",
        log.name, without, log.jobs.size());
}

// Calls visit(nodes in use, for how long), in the order of time.
template <class Visit>
void each_use(const Log& log, std::int64_t procs_per_node, Visit visit) {
    std::vector<std::pair<Time, std::int64_t>> changes;
    changes.reserve(2 * log.jobs.size());
    for (const LogJob& job : log.jobs) {
        if (job.wait < 0) continue;
        const std::int64_t size = size_in_nodes(job, procs_per_node);
        const Time start = job.submit + job.wait;
        changes.emplace_back(start, size);
        changes.emplace_back(start + job.run, -size);
    }
    std::ranges::sort(changes);  // ends before starts
    std::int64_t used = 0;
    for (std::size_t i = 0; i + 1 < changes.size(); ++i) {
        used += changes[i].second;
        const Duration passed = changes[i + 1].first - changes[i].first;
        if (passed > 0) visit(used, passed);
    }
}

}  // namespace

Occupancy occupancy(const Log& log, std::int64_t nodes, std::int64_t procs_per_node) {
    Occupancy found;
    double all = 0, beyond = 0;
    each_use(log, procs_per_node, [&](std::int64_t used, Duration passed) {
        found.peak = std::max(found.peak, used);
        all += static_cast<double>(used) * passed;
        beyond += static_cast<double>(std::max<std::int64_t>(used - nodes, 0)) * passed;
    });
    found.excess = all > 0 ? beyond / all : 0;
    return found;
}

std::int64_t nodes_in_use(const Log& log, std::int64_t procs_per_node) {
    std::map<std::int64_t, Duration> use;  // how long how many nodes were in use
    each_use(log, procs_per_node, [&](std::int64_t used, Duration passed) { use[used] += passed; });
    double left = 0;  // node-seconds that may still be beyond
    for (const auto& [used, passed] : use) left += kMostExcess * static_cast<double>(used) * passed;
    double time = 0;  // with more than `nodes` in use
    std::int64_t nodes = use.empty() ? 0 : use.rbegin()->first;
    for (auto level = use.rbegin(); level != use.rend(); ++level) {
        const double more = static_cast<double>(nodes - level->first) * time;
        if (more > left) return nodes - static_cast<std::int64_t>(left / time);
        left -= more;
        nodes = level->first;
        time += level->second;
    }
    return nodes;
}

std::vector<std::string> doubts(const Log& log, const WorkloadOptions& options) {
    std::vector<std::string> list;
    const Result<std::int64_t> nodes = machine_size(log, options);
    if (nodes) {
        const Occupancy found = occupancy(log, *nodes, options.procs_per_node);
        const bool by_processors =
            options.procs_per_node == 1 ||
            (options.procs_per_node == 0 &&
             std::ranges::none_of(log.jobs, [](const LogJob& job) { return job.nodes > 0; }));
        const bool is_known = options.site && !options.site->shares.empty();
        if (found.excess > kMostExcess && !is_known)
            list.push_back(sharing(log, found, *nodes, by_processors));
    }
    const auto without =
        static_cast<std::size_t>(std::ranges::count(log.jobs, false, &LogJob::limited));
    if (options.estimates == Estimates::logged &&
        static_cast<double>(without) > kFewJobs * static_cast<double>(log.jobs.size()))
        list.push_back(limits(log, without));
    return list;
}

}  // namespace elastic::simulator

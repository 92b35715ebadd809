// SPDX-License-Identifier: MIT
// A log that says nothing of its machine is given as many nodes as it has in use at one time.
#include "studies/advice/site.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "simulator/log_check.hpp"
#include "simulator/logs/reader.hpp"
#include "simulator/logs/text_source.hpp"

namespace elastic::studies {
namespace {

using namespace simulator;

constexpr double kMostRejected = 0.01;  // of all jobs: else the machine's size is wrong

// The nodes in use at one time, or those of the largest job.
std::int64_t most_in_use(const Log& log, std::int64_t procs_per_node) {
    std::int64_t most = nodes_in_use(log, procs_per_node);
    for (const LogJob& job : log.jobs) most = std::max(most, size_in_nodes(job, procs_per_node));
    return most;
}

// Sets the nodes; says where they come from.
Result<std::string> find_nodes(const Log& log, WorkloadOptions& workload) {
    if (workload.site) return std::string("the site's nodes and partitions");
    if (workload.nodes > 0) return std::string("--nodes");
    if (log.processors > 0 || log.nodes > 0 || !log.unclear_size.empty()) {
        const auto by_header = machine_size(log, workload);
        if (!by_header) return by_header.error();
        workload.nodes = *by_header;
        return std::string("the log's header");
    }
    workload.nodes = most_in_use(log, workload.procs_per_node);
    if (workload.nodes > kMaxNodes)
        return error("{}: {} nodes are in use at one time; give --nodes or --procs-per-node",
                     log.name, workload.nodes);
    return std::string("as many as the log has in use at one time; give --nodes if there are more");
}

Result<void> check_jobs(const Log& log, const WorkloadOptions& options, const Workload& workload) {
    const std::int64_t run = std::ssize(workload.jobs), all = run + workload.rejected;
    if (static_cast<double>(workload.rejected) > kMostRejected * static_cast<double>(all)) {
        std::int64_t largest = 0;
        for (const LogJob& job : log.jobs)
            largest = std::max(largest, size_in_nodes(job, options.procs_per_node));
        return error(
            "{}: {} of {} jobs are larger than the machine of {} nodes (the largest has "
            "{}); give --nodes or --procs-per-node",
            log.name, workload.rejected, all, workload.nodes, largest);
    }
    if (std::cmp_less(run, kFewestJobs))
        return error("{}: {} job(s) to run, and a comparison of policies needs at least {}",
                     log.name, run, kFewestJobs);
    return {};
}

}  // namespace

Result<Site> read_site(const AdviceOptions& options) {
    const auto text = read_text(options.log);
    if (!text) return text.error();
    const std::string name = options.log == "-" ? "standard input" : options.log;
    Result<Log> log = parse_log_with_programs(text->view(), name, options.lenient);
    if (!log) return log.error();
    Site site{*std::move(log), {}, options.workload};
    if (!site.log.annotations.empty())
        return error("{}: itself says which jobs are elastic, and advice draws them; use run",
                     site.log.name);
    auto machine = site_of(site.log, options.files, site.options);
    if (!machine) return machine.error();
    if (*machine) {
        site.machine = std::make_unique<const simulator::Site>(**std::move(machine));
        site.options.site = site.machine.get();
    }
    auto from = find_nodes(site.log, site.options);
    if (!from) return from.error();
    site.nodes_from = *std::move(from);
    auto workload = make_workload(site.log, site.options);
    if (!workload) return workload.error();
    if (auto ok = check_jobs(site.log, site.options, *workload); !ok) return ok.error();
    site.workload = *std::move(workload);
    site.groupings = group_jobs(text->view(), name, options.lenient, site.workload);
    return site;
}

const Grouping* users(const Site& site) {
    const auto found = std::ranges::find(site.groupings, TypeField::user, &Grouping::field);
    return found == site.groupings.end() ? nullptr : &*found;
}

std::vector<std::string> warnings(const Site& site) {
    std::vector<std::string> list = site.workload.notes;
    std::ranges::move(doubts(site.log, site.options), std::back_inserter(list));
    if (users(site) == nullptr)
        list.push_back(fmt::format("{}: names no users, so who wins and loses is told by size only",
                                   site.log.name));
    return list;
}

}  // namespace elastic::studies

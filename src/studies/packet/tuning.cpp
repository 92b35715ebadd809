// SPDX-License-Identifier: MIT
// The log's jobs under the Packet algorithm at the paper's 37 scale ratios, grouped and, to see
// what grouping is worth, each alone.  A task is one ratio of one initialisation time.
//
// Without a given initialisation time there are the paper's six shares of it, by the jobs' run
// times in the log, as in its study.
#include "studies/packet/tuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>
#include <utility>

#include "simulator/logs/reader.hpp"
#include "studies/packet/results.hpp"
#include "studies/report/plot.hpp"
#include "studies/report/report.hpp"

namespace elastic::studies {
namespace {

using namespace simulator;
using packet::scale_ratios;

// Of the shortest mean turnaround.
constexpr double kPlateau = 0.05;

// ---- the workload

struct Jobs {
    PacketWorkload workload;  // types without an initialisation time
    double run = 0;           // of all jobs, as logged, seconds
    std::int64_t untyped = 0;
};

// Which fields the log does have, for a message.
std::string known_fields(const TuneOptions& options) {
    std::string known;
    for (std::size_t i = 0; i < kTypeFields; ++i) {
        const auto field = static_cast<TypeField>(i);
        const auto log = read_log(options.trace, options.lenient, {field});
        if (!log || log->types.empty()) continue;
        known += fmt::format("{}{}", known.empty() ? "" : ", ", to_string(field));
    }
    return known.empty() ? "none of all fields" : known;
}

Error no_types(const Log& log, const TuneOptions& options) {
    const std::string known =
        options.trace == "-" ? std::string() : fmt::format("; it has {}", known_fields(options));
    return error("--types {}: {} does not say it of any job that can be simulated{}",
                 to_string(options.types), log.name, known);
}

// Of the site the groups know how many nodes it has, and its jobs how many of them they had.
Result<Workload> jobs_on_site(const Log& log, const TuneOptions& options,
                              std::vector<std::string>& notes) {
    const auto site = site_of(log, options.site, options.workload);
    if (!site) return site.error();
    WorkloadOptions workload = options.workload;
    if (*site) {
        workload.site = &**site;
        notes.push_back(
            fmt::format("{}: the {} nodes of all partitions together are those of the groups",
                        log.name, (*site)->nodes));
    }
    return make_workload(log, workload);
}

Result<Jobs> typed_jobs(const Log& log, const TuneOptions& options,
                        std::vector<std::string>& notes) {
    const Result<Workload> workload = jobs_on_site(log, options, notes);
    if (!workload) return workload.error();
    std::unordered_map<std::int64_t, int> types;
    for (const LogJob& job : log.jobs) types.emplace(job.id, job.type);
    Jobs jobs;
    jobs.workload.nodes = workload->nodes;
    for (const std::string& name : log.types) jobs.workload.types.push_back({name});
    for (const Job& job : workload->jobs) {
        const int type = types.at(job.id);
        if (type < 0) {
            ++jobs.untyped;
            continue;
        }
        jobs.workload.jobs.push_back({job.submit, job.run * job.nodes, type});
        jobs.run += job.run;
    }
    if (jobs.workload.jobs.empty()) return no_types(log, options);
    std::ranges::stable_sort(jobs.workload.jobs, {}, &PacketJob::submit);
    const Time first = jobs.workload.jobs.front().submit;
    for (PacketJob& job : jobs.workload.jobs) job.submit -= first;
    return jobs;
}

double load_of(const PacketWorkload& workload) {
    double work = 0;
    for (const PacketJob& job : workload.jobs) work += job.work;
    const Time last = workload.jobs.back().submit;
    return last > 0 ? work / (workload.nodes * last) : 0;
}

std::size_t types_of(const PacketWorkload& workload) {
    std::set<int> types;
    for (const PacketJob& job : workload.jobs) types.insert(job.type);
    return types.size();
}

std::vector<Duration> initialisations(const Jobs& jobs, const TuneOptions& options) {
    if (options.initialisation > 0) return {options.initialisation};
    std::vector<Duration> times;
    for (const double share : packet::kShares)
        times.push_back(initialisation_for(share, jobs.run, jobs.workload.jobs.size()));
    return times;
}

PacketWorkload with_initialisation(PacketWorkload workload, Duration initialisation) {
    for (PacketType& type : workload.types) type.initialisation = initialisation;
    return workload;
}

// ---- the ratios

std::vector<double> values(const std::vector<PacketSummary>& summaries, packet::Metric metric) {
    std::vector<double> result;
    for (const PacketSummary& one : summaries) result.push_back(one.*metric);
    return result;
}

// The least that comes within a hundredth of the best.
double shortest_turnaround(const std::vector<PacketSummary>& grouped) {
    const auto best = std::ranges::min(values(grouped, &PacketSummary::mean_turnaround));
    const auto found = std::ranges::find_if(
        grouped, [&](const PacketSummary& one) { return one.mean_turnaround <= 1.01 * best; });
    return scale_ratios()[static_cast<std::size_t>(found - grouped.begin())];
}

// The least ratio from which on the metric is no more than `width` from its value at the last one.
double flat_from(const std::vector<double>& metric, double width) {
    std::size_t from = metric.size() - 1;
    while (from > 0 && std::abs(metric[from - 1] - metric.back()) <= width) --from;
    return scale_ratios()[from];
}

// On a site's log queue times at small ratios can be of any length, so the width of a plateau is
// measured by what jobs take at best.
void recommend(Tuned& tuned, TuneGoal goal) {
    tuned.by_turnaround = shortest_turnaround(tuned.grouped);
    const double width =
        kPlateau * tuned.grouped[packet::index_of(tuned.by_turnaround)].mean_turnaround;
    tuned.by_queue_time =
        std::max(flat_from(values(tuned.grouped, packet::kMeanQueueTime), width),
                 flat_from(values(tuned.grouped, packet::kMedianQueueTime), width));
    tuned.recommended = goal == TuneGoal::queue_time ? tuned.by_queue_time : tuned.by_turnaround;
}

double share_of(Duration initialisation, const Jobs& jobs) {
    const double all = initialisation * static_cast<double>(jobs.workload.jobs.size());
    return all / (all + jobs.run);
}

std::vector<Tuned> simulate_all(const Jobs& jobs, const TuneOptions& options) {
    std::vector<Tuned> all;
    std::vector<PacketWorkload> workloads;
    for (const Duration time : initialisations(jobs, options)) {
        workloads.push_back(with_initialisation(jobs.workload, time));
        all.push_back({share_of(time, jobs), time,
                       std::vector<PacketSummary>(scale_ratios().size()),
                       std::vector<PacketSummary>(scale_ratios().size())});
    }
    const std::size_t ratios = scale_ratios().size();
    run_all(all.size() * ratios * 2, options.pool, [&](std::size_t i) {
        const std::size_t which = i / 2 / ratios, k = i / 2 % ratios;
        PacketOptions how;
        how.scale_ratio = scale_ratios()[k];
        how.longest_wait = options.longest_wait;
        how.alone = i % 2 == 1;
        (how.alone ? all[which].alone : all[which].grouped)[k] =
            summarise(workloads[which], simulate_packets(workloads[which], how));
    });
    for (Tuned& tuned : all) recommend(tuned, options.goal);
    return all;
}

// ---- the page

std::string title_of(const Tuned& tuned) {
    return fmt::format("initialisation {:.0f} s, k = {}", tuned.initialisation,
                       exact(tuned.recommended));
}

Figure figure(const TuneResult& result, std::string title, std::string y_label) {
    Figure figure = packet::figure_over_ratios(std::move(title), std::move(y_label));
    for (const Tuned& tuned : result.tuned) figure.panels.push_back({title_of(tuned), {}});
    return figure;
}

Figure of_queue_times(const TuneResult& result) {
    Figure f = figure(result, "Queue time", "s");
    for (std::size_t i = 0; i < result.tuned.size(); ++i)
        f.panels[i].series = {
            {"average", values(result.tuned[i].grouped, packet::kMeanQueueTime)},
            {"median", values(result.tuned[i].grouped, packet::kMedianQueueTime)}};
    return f;
}

Figure of_turnaround(const TuneResult& result) {
    Figure f = figure(result, "Average turnaround", "s");
    f.log_y = true;
    for (std::size_t i = 0; i < result.tuned.size(); ++i)
        f.panels[i].series = {
            {"groups", values(result.tuned[i].grouped, &PacketSummary::mean_turnaround)},
            {"each job alone", values(result.tuned[i].alone, &PacketSummary::mean_turnaround)}};
    return f;
}

Figure of_utilisation(const TuneResult& result) {
    Figure f = figure(result, "Utilisation", "%");
    const auto percent = [](std::vector<double> shares) {
        for (double& share : shares) share *= 100;
        return shares;
    };
    for (std::size_t i = 0; i < result.tuned.size(); ++i)
        f.panels[i].series = {
            {"full", percent(values(result.tuned[i].grouped, packet::kFullUtilisation))},
            {"useful", percent(values(result.tuned[i].grouped, packet::kUsefulUtilisation))}};
    return f;
}

Table all_runs(const TuneResult& result) {
    Table table({"initialisation", "share", "scale_ratio", "jobs", "mean_queue_time",
                 "median_queue_time", "mean_turnaround", "queue_length", "full_utilisation",
                 "useful_utilisation", "groups", "nodes_of_a_group"});
    const auto add = [&](const Tuned& tuned, std::size_t k, const char* jobs,
                         const PacketSummary& one) {
        table.add({fixed(tuned.initialisation, 1), fixed(tuned.share, 4), exact(scale_ratios()[k]),
                   jobs, fixed(one.mean_queue_time, 1), fixed(one.median_queue_time, 1),
                   fixed(one.mean_turnaround, 1), fixed(one.queue_length, 2),
                   fixed(one.full_utilisation, 4), fixed(one.useful_utilisation, 4),
                   std::to_string(one.groups), fixed(one.group_nodes, 2)});
    };
    for (const Tuned& tuned : result.tuned)
        for (std::size_t k = 0; k < scale_ratios().size(); ++k) {
            add(tuned, k, "grouped", tuned.grouped[k]);
            add(tuned, k, "alone", tuned.alone[k]);
        }
    return table;
}

std::vector<std::string> explanations(const TuneResult& result, const TuneOptions& options) {
    std::vector<std::string> list{
        fmt::format("{} jobs of {} types (by {}) on {} nodes; their work is {:.0f} % of what these "
                    "can do until the last submission.",
                    result.jobs, result.types, to_string(options.types), result.nodes,
                    100 * result.load),
        "Jobs are taken as moldable with linear speed-up: a job that ran an hour on ten nodes "
        "takes "
        "ten hours on one. Where a site's jobs cannot do that, none of this holds.",
        "by_turnaround is the least ratio with which jobs end, on average, within a hundredth of "
        "the "
        "soonest.",
        fmt::format(
            "by_queue_time is the least ratio from which average and median queue time "
            "differ from those at {} by no more than {:.0f} % of the shortest turnaround: "
            "for them it need not be raised further, which is what [packet] section 8 asks "
            "for. But the queue time ends when a job's group begins, and with a large ratio "
            "groups on few nodes begin soon and run long.",
            exact(scale_ratios().back()), 100 * kPlateau),
        "alone_turnaround is that of the best ratio with one initialisation for each job."};
    if (result.untyped > 0)
        list.push_back(
            fmt::format("{} jobs are left out: the log does not say their type.", result.untyped));
    return list;
}

Result<void> write_page(const TuneResult& result, const TuneOptions& options) {
    Report report(options.out, "A scale ratio for " + options.trace);
    report.heading(fmt::format("Recommended, by {}", to_string(options.goal)));
    report.table("recommended", "By initialisation time, seconds", to_table(result));
    report.list(explanations(result, options));
    report.heading("Why");
    report.figure("queue_time", of_queue_times(result));
    report.figure("turnaround", of_turnaround(result));
    report.figure("utilisation", of_utilisation(result));
    report.heading("All runs");
    report.table("runs", "Times in seconds", all_runs(result));
    return report.finish();
}

}  // namespace

Table to_table(const TuneResult& result) {
    Table table({"initialisation", "share", "recommended", "by_queue_time", "by_turnaround",
                 "mean_queue_time", "median_queue_time", "mean_turnaround", "full_utilisation",
                 "useful_utilisation", "best_turnaround", "alone_turnaround"});
    const auto best = [](const std::vector<PacketSummary>& summaries) {
        return std::ranges::min(values(summaries, &PacketSummary::mean_turnaround));
    };
    for (const Tuned& tuned : result.tuned) {
        const PacketSummary& one = tuned.grouped[packet::index_of(tuned.recommended)];
        table.add({fixed(tuned.initialisation, 1), fixed(tuned.share, 4), exact(tuned.recommended),
                   exact(tuned.by_queue_time), exact(tuned.by_turnaround),
                   fixed(one.mean_queue_time, 0), fixed(one.median_queue_time, 0),
                   fixed(one.mean_turnaround, 0), fixed(one.full_utilisation, 3),
                   fixed(one.useful_utilisation, 3), fixed(best(tuned.grouped), 0),
                   fixed(best(tuned.alone), 0)});
    }
    return table;
}

Result<TuneResult> tune_packet(const TuneOptions& options) {
    if (!options.out.empty())
        if (const Result<void> can = check_can_draw(); !can) return can.error();
    const Result<Log> log = read_log(options.trace, options.lenient, options.types);
    if (!log) return error("--trace: {}", log.error().message);
    TuneResult result;
    result.notes = log->notes;
    const Result<Jobs> jobs = typed_jobs(*log, options, result.notes);
    if (!jobs) return jobs.error();
    result.nodes = jobs->workload.nodes;
    result.jobs = std::ssize(jobs->workload.jobs);
    result.untyped = jobs->untyped;
    result.types = static_cast<std::int64_t>(types_of(jobs->workload));
    result.load = load_of(jobs->workload);
    result.tuned = simulate_all(*jobs, options);
    if (options.out.empty()) return result;
    if (const Result<void> written = write_page(result, options); !written) return written.error();
    result.page = options.out + "/index.html";
    return result;
}

}  // namespace elastic::studies

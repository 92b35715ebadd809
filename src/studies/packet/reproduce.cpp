// SPDX-License-Identifier: MIT
// [packet] sections 6 to 8: six workloads, six shares of initialisation, 37 scale ratios, which are
// the paper's 1332 experiments, for each seed and again for each reading of what it leaves open.
//
// Nothing is fitted: the paper's numbers stand beside ours, and what had to be assumed on the page.
#include "studies/packet/reproduce.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "studies/packet/results.hpp"

namespace elastic::studies {
namespace packet {
namespace {

using simulator::PacketSummary;

constexpr int kSeeds = 10;  // the paper ran each of its workloads once

// ---- readings

struct Reader {
    std::string name;
    Assumptions assumed;
    int seeds = 0;
};

// As run, and what else is told apart, which costs as much again each.
Reader own_reader(const StudyOptions& options) {
    Reader own{"as run", {}, options.seeds > 0 ? options.seeds : kSeeds};
    if (options.jobs > 0) own.assumed.jobs = options.jobs;
    return own;
}

std::vector<Reader> other_readers(const Reader& own) {
    std::vector<Reader> readers;
    const auto add = [&](std::string_view name) -> Assumptions& {
        readers.push_back({std::string(name), own.assumed, own.seeds});
        return readers.back().assumed;
    };
    add("T_max of those that wait").longest_wait = core::LongestWait::now;
    add(kShareByOneNode).share_by_one_node = true;
    add("arrivals by the model").even_arrivals = false;
    add("4 job types").types = 4;
    add("16 job types").types = 16;
    // Ten times as much of everything, so that what is unfinished at the end is a tenth of it.
    Assumptions& longer = add(kTenTimesAsLong);
    longer.jobs *= 10;
    longer.days *= 10;
    readers.back().seeds = (own.seeds + 3) / 4;
    return readers;
}

Result<Results> run_all_flows(const Reader& reader, const StudyOptions& options) {
    return run(all_flows(), reader.assumed, reader.seeds,
               pool(options, fmt::format("reproduce packet, {}, workloads", reader.name)));
}

Result<std::vector<Reading>> run_others(const Reader& own, const StudyOptions& options) {
    std::vector<Reading> readings;
    for (const Reader& reader : other_readers(own)) {
        Result<Results> results = run_all_flows(reader, options);
        if (!results) return results.error();
        readings.push_back({reader.name, *std::move(results)});
    }
    return readings;
}

std::vector<Finding> all_findings(const Results& results) {
    std::vector<Finding> list = findings(results);
    for (Finding& more : findings_of_all(results)) list.push_back(std::move(more));
    return list;
}

// ---- tables

Table beside_the_papers(const PrintedTable& printed, const Results& results,
                        const std::vector<Reading>& others) {
    std::vector<std::string> columns{"share", "scale_ratio", "paper", "ours", "ours_error"};
    for (const Reading& reading : others) columns.push_back(reading.name);
    Table table(columns);
    for (std::size_t row = 0; row < printed.shares.size(); ++row)
        for (std::size_t k = 0; k < printed.printed[row].size(); ++k) {
            const double ratio = scale_ratios()[k];
            const auto at = [&](const Results& from) -> const Curve& {
                return from.at({true, printed.load}, printed.shares[row]);
            };
            const std::vector<double> ours = at(results).values(ratio, printed.metric);
            const Difference mean = difference(ours, std::vector<double>(ours.size(), 0.0));
            std::vector<std::string> cells{fixed(printed.shares[row], 2), exact(ratio),
                                           fixed(printed.printed[row][k], 0), fixed(mean.mean, 0),
                                           std::isfinite(mean.error) ? fixed(mean.error, 0) : ""};
            for (const Reading& reading : others)
                cells.push_back(fixed(at(reading.results).mean(ratio, printed.metric), 0));
            table.add(cells);
        }
    return table;
}

void put_tables(Report& report, const Results& results, const std::vector<Reading>& others) {
    const auto put = [&](const char* name, const PrintedTable& printed) {
        report.table(name, printed.title + ", seconds",
                     beside_the_papers(printed, results, others));
    };
    const std::vector<PrintedTable>& tables = printed_tables();
    put("table1_average", tables[0]);
    put("table1_median", tables[1]);
    put("table2", tables[2]);
    put("table3", tables[3]);
}

Table all_runs(const Results& results) {
    Table table({"homogeneous", "load", "share", "scale_ratio", "full_utilisation",
                 "useful_utilisation", "mean_queue_time", "median_queue_time", "queue_length",
                 "groups", "nodes_of_a_group"});
    for (const Curve& curve : results.curves)
        for (const double ratio : scale_ratios()) {
            double groups = 0;
            const auto& points = curve.points[index_of(ratio)];
            for (const PacketSummary& one : points)
                groups += static_cast<double>(one.groups) / static_cast<double>(points.size());
            const auto mean = [&](Metric metric, int decimals) {
                return fixed(curve.mean(ratio, metric), decimals);
            };
            table.add({curve.flow.homogeneous ? "yes" : "no", fixed(curve.flow.load, 2),
                       fixed(curve.share, 2), exact(ratio), mean(kFullUtilisation, 4),
                       mean(kUsefulUtilisation, 4), mean(kMeanQueueTime, 1),
                       mean(kMedianQueueTime, 1), mean(kQueueLength, 2), fixed(groups, 1),
                       mean(&PacketSummary::group_nodes, 2)});
        }
    return table;
}

// ---- figures

Figure figure(std::string title, std::string y_label) {
    Figure figure = figure_over_ratios(std::move(title), std::move(y_label));
    figure.panels.emplace_back();
    return figure;
}

std::string percent(double share) {
    return fmt::format("{:.0f} %", 100 * share);
}

constexpr const char* kQueueTimeLabel = "queue time, s";

Figure of_mean_and_median(const Results& results, double share) {
    const Curve& curve = results.at({true, 0.85}, share);
    Figure f = figure("Queue time, Workload0.85, " + percent(share), kQueueTimeLabel);
    f.panels[0].series = {{"average", curve.means(kMeanQueueTime)},
                          {"median", curve.means(kMedianQueueTime)}};
    return f;
}

Figure of_length(const Results& results) {
    Figure f = figure("Average queue length, Workload0.85, 5 %", "jobs");
    f.panels[0].series = {{"queue length", results.at({true, 0.85}, 0.05).means(kQueueLength)}};
    return f;
}

std::vector<double> scaled(std::vector<double> values, double factor) {
    for (double& value : values) value *= factor;
    return values;
}

Figure by_share(const Results& results, double load, Metric metric, std::string what,
                const char* y_label, double factor) {
    Figure f = figure(fmt::format("{}, Workload{:.2f}", what, load), y_label);
    for (const double share : kShares)
        f.panels[0].series.push_back(
            {percent(share), scaled(results.at({true, load}, share).means(metric), factor)});
    return f;
}

Figure by_load(const Results& results, Metric metric, std::string what, const char* y_label,
               double factor) {
    Figure f = figure(std::move(what) + ", 5 %", y_label);
    f.panels[0].title = "homogeneous, 100 nodes";
    f.panels.push_back({"heterogeneous, 500 nodes", {}});
    for (const double load : kLoads)
        for (const bool homogeneous : {true, false})
            f.panels[homogeneous ? 0 : 1].series.push_back(
                {fmt::format("load {:.2f}", load),
                 scaled(results.at({homogeneous, load}, 0.05).means(metric), factor)});
    return f;
}

void draw(Report& report, const Results& results) {
    constexpr const char* kUseLabel = "%";
    report.figure("figure05", of_mean_and_median(results, 0.05));
    report.figure("figure06", of_length(results));
    report.figure("figure07", of_mean_and_median(results, 0.50));
    report.figure("figure08", by_share(results, 0.85, kMeanQueueTime, "Average queue time",
                                       kQueueTimeLabel, 1));
    report.figure("figure09", by_share(results, 0.90, kMeanQueueTime, "Average queue time",
                                       kQueueTimeLabel, 1));
    report.figure("figure10",
                  by_load(results, kMeanQueueTime, "Average queue time", kQueueTimeLabel, 1));
    report.figure("figure11",
                  by_share(results, 0.85, kFullUtilisation, "Full utilisation", kUseLabel, 100));
    report.figure("figure12",
                  by_load(results, kFullUtilisation, "Full utilisation", kUseLabel, 100));
    report.figure("figure13", by_share(results, 0.85, kUsefulUtilisation, "Useful utilisation",
                                       kUseLabel, 100));
    report.figure("figure14",
                  by_load(results, kUsefulUtilisation, "Useful utilisation", kUseLabel, 100));
}

// ---- the page

std::vector<std::string> assumptions(const Reader& own) {
    return {
        fmt::format(
            "Workloads: {} of each kind (the paper's one), seeds 1 to {}. The model of "
            "Lublin and Feitelson with its published parameters draws {} jobs; its gaps are "
            "stretched so that they arrive in four days, its run times so that they are the "
            "load. The three loads of a seed are the same jobs.",
            own.seeds, own.seeds, own.assumed.jobs),
        "Homogeneous: the paper says that a modified generator made these workloads more "
        "homogeneous, not how. Here run times are those of the model's long jobs alone "
        "(coefficient of variance 0.4), and jobs arrive without daily cycle and bursts "
        "(coefficient of variance of the gaps 0.6). With the model's own arrivals, which the "
        "column "
        "\"arrivals by the model\" has, half of the jobs wait at every scale ratio, while the "
        "paper's median is 0 from 8 on.",
        "Execution time: jobs are moldable with linear speed-up; e_i is run time times size.",
        "Share: the initialisation time follows from the run times at the sizes that the model "
        "draws (\"e_i is i-th job runtime\"). By times on one node, as section 5 defines e_i, 50 % "
        "would wait longest at large scale ratios, where the paper has it wait shortest (\"S by "
        "times on one node\").",
        fmt::format(
            "Job types: {}, each job's drawn, as in the paper's earlier work, whose figures "
            "1 and 2 it repeats; it does not say how many there are in these.",
            own.assumed.types),
        "T_max, \"max queue time in queue\": the longest wait of any job that was in the queue. Of "
        "those that wait now it would be T_cur itself (\"T_max of those that wait\").",
        "Nodes of a group: rounded down, at least one.",
        "Queue time ends when the job's group begins to initialise: only so can the paper's "
        "median be 0. All metrics are taken up to the last submission.",
        "A verdict is judged by paired differences over the seeds; what is below twice their "
        "standard error is undecided. A plateau is reached where a metric differs from its value "
        "at "
        "1000 by no more than a twentieth of what it changes over all ratios.",
        "\"Ten times as long\" has ten times as many jobs over forty days, and fewer seeds: what "
        "is "
        "unfinished at the last submission, and so not measured, is a tenth of it.",
        "Figures 1 and 2 are of another simulator and other workloads, and are not judged.",
    };
}

}  // namespace
}  // namespace packet

Result<StudyResult> reproduce_packet(const StudyOptions& options) {
    using namespace packet;
    if (const Result<void> can = check_can_draw(); !can) return can.error();
    const Reader own = own_reader(options);
    const Result<Results> results = run_all_flows(own, options);
    if (!results) return results.error();
    const Result<std::vector<Reading>> others = run_others(own, options);
    if (!others) return others.error();
    std::vector<Finding> list = all_findings(*results);
    std::vector<Variant> variants;
    for (const Reading& reading : *others)
        variants.push_back({reading.name, all_findings(reading.results)});
    add_reasons(list, *results, *others);
    explain(list, variants);

    Report report(options.out, "[packet]: the scale ratio of job groups");
    report.heading("What the paper says");
    report.findings(list);
    report.table("verdicts", "Verdicts by reading", side_by_side(own.name, list, variants));
    report.heading("What had to be assumed");
    report.list(assumptions(own));
    report.heading("Tables");
    put_tables(report, *results, *others);
    report.heading("Figures");
    draw(report, *results);
    report.heading("All experiments");
    report.table("experiments", "Means over the seeds", all_runs(*results));
    if (const Result<void> written = report.finish(); !written) return written.error();
    return StudyResult{list, options.out + "/index.html"};
}

}  // namespace elastic::studies

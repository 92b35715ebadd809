// SPDX-License-Identifier: MIT
// [gupta] section VI-E (prices, section VII-B, are in gupta_prices.cpp): five jobs on 16 nodes,
// dynamic equipartitioning with three gaps between rescales, against moldable and rigid jobs.
//
// What the paper prints: sizes, arrivals, the policy, table IV.  What had to be assumed stands in
// assumptions(), once, for the page.  Where a number of table IV is used as input it is named
// there.
#include "studies/gupta/reproduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string>
#include <vector>

#include "core/model/policy.hpp"
#include "core/model/speedup.hpp"
#include "journal/gantt.hpp"
#include "journal/journal.hpp"
#include "simulator/engine.hpp"
#include "simulator/journal_observer.hpp"
#include "simulator/metrics.hpp"
#include "simulator/random.hpp"
#include "studies/gupta/prices.hpp"
#include "studies/report/spider.hpp"

namespace elastic::studies {
namespace {

using namespace simulator;

constexpr int kNodes = 16, kMin = 4, kMax = 16;
constexpr std::array<Time, 5> kArrivals{0, 60, 180, 420, 420};
// Table II, Stencil2D: what a rescale takes, seconds.
constexpr Duration kShrinkCost = 2.904, kExpandCost = 7.283;
constexpr int kRigidRuns = 3;

// A row of table IV; times in seconds.
struct Row {
    double total = 0, response = 0, completion = 0, utilization = 0;
};

struct Scheduling {
    std::string name;
    Duration gap = 0;  // T_gap
    bool rigid = false;
    Row paper;
};

// No two scheduling actions on one job are ever this far apart.
constexpr Duration kNeverRescaled = 1e9;

const std::array kTable4{
    Scheduling{"Malleable40", 40, false, {2751, 201, 1767, 0.97}},
    Scheduling{"Malleable100", 100, false, {2672, 142, 1699, 0.98}},
    Scheduling{"Malleable500", 500, false, {2844, 287, 1454, 0.97}},
    Scheduling{"Moldable", kNeverRescaled, false, {3792, 289, 1685, 0.62}},
    Scheduling{"Rigid", 0, true, {3816, 928, 1817, 0.70}},
};

// How a job's run time depends on its nodes: the serial share of Amdahl's law, and the run time on
// all 16 nodes.
struct Model {
    const char* name;
    double serial = 0;
    Duration whole = 0;

    Duration run(int nodes) const {
        const core::SpeedupModel speedup{core::SpeedupModel::Kind::rho, serial, 0};
        return core::rescale(whole, kMax, nodes, speedup, kMax);
    }
};

// Node-seconds of one job by a row: what the machine was busy with, by the number of jobs.
double work_per_job(const Row& row) {
    return row.total * row.utilization * kNodes / static_cast<double>(kArrivals.size());
}

// The rigid row's, the only one in which no rescale is part of the busy time and sizes are spread
// over the whole range.
double job_work() {
    return work_per_job(kTable4.back().paper);
}

// Job 1 has all 16 nodes, and the four others start when it ends, so the moldable row's mean
// response says when that is.
Duration whole_by_moldable_row() {
    Time others = 0;
    for (const Time arrival : kArrivals) others += arrival;
    const auto jobs = static_cast<double>(kArrivals.size());
    return (kTable4[3].paper.response * jobs + others) / (jobs - 1);
}

// What that premise makes of the rest of the moldable row: who runs how long, and on how many
// nodes. Its total time is the last job's end and its mean completion gives the sum of all ends;
// its utilisation gives the node-seconds, of which job 1 has its share; and four jobs that start
// together have 16 nodes between them.
struct MoldableRow {
    Time start = 0;            // of the four
    Duration last = 0;         // the run of the last that ends
    Duration others = 0;       // that of each of the three others, mean
    double nodes_of_last = 0;  // sizes with which the node-seconds come out
    double nodes_of_others = 0;
};

MoldableRow what_the_premise_makes() {
    const Row& printed = kTable4[3].paper;
    const auto jobs = static_cast<double>(kArrivals.size());
    Time arrivals = 0;
    for (const Time arrival : kArrivals) arrivals += arrival;
    MoldableRow row;
    row.start = whole_by_moldable_row();
    row.last = printed.total - row.start;
    const Time ends = printed.completion * jobs + arrivals;
    row.others = (ends - row.start - printed.total) / (jobs - 2) - row.start;
    const double work = printed.total * printed.utilization * kNodes - row.start * kNodes;
    row.nodes_of_last = (work - kNodes * row.others) / (row.last - row.others);
    row.nodes_of_others = (kNodes - row.nodes_of_last) / (jobs - 2);
    return row;
}

// The share with which the malleable rows' node-seconds come out as well.
constexpr double kSerialShare = 0.02;

Model with_serial_share() {
    return {"serial share 0.02", kSerialShare, whole_by_moldable_row()};
}
Model linear() {
    return {"linear", 0, job_work() / kMax};
}

Job job_of(const Model& model, std::size_t index, int nodes) {
    Job job;
    job.id = static_cast<std::int64_t>(index + 1);
    job.submit = kArrivals[index];
    job.nodes = nodes;
    job.run = job.estimate = model.run(nodes);
    return job;
}

Workload malleable_workload(const Model& model) {
    Workload workload;
    workload.nodes = kNodes;
    for (std::size_t i = 0; i < kArrivals.size(); ++i) {
        Job& job = workload.jobs.emplace_back(job_of(model, i, kMax));
        job.elasticity = static_cast<int>(i);
        Elasticity& how = workload.elasticities.emplace_back();
        how.annotation.malleable = true;
        how.annotation.min = kMin;
        how.annotation.pref = how.annotation.max = kMax;
        how.annotation.speedup.a = how.true_speedup.a = model.serial;
        how.annotation.cost.sync = (kShrinkCost + kExpandCost) / 2;
    }
    return workload;
}

Workload rigid_workload(const Model& model, std::uint64_t seed) {
    Workload workload;
    workload.nodes = kNodes;
    Random random(seed);
    for (std::size_t i = 0; i < kArrivals.size(); ++i)
        workload.jobs.push_back(job_of(model, i, static_cast<int>(random.integer(kMin, kMax))));
    return workload;
}

struct Run {
    Row row;
    Counters counters;
    std::string gantt;
    int first_shrink_to = 0;  // nodes; 0: nothing shrank
    journal::SizeChange last_of_job5;
};

int first_shrink(const journal::Timeline& timeline) {
    for (const journal::JobHistory& job : timeline.jobs)
        for (const journal::SizeChange& change : job.changes)
            if (change.to < change.from) return change.to;
    return 0;
}

journal::SizeChange last_change(const journal::Timeline& timeline, const std::string& job_label) {
    for (const journal::JobHistory& job : timeline.jobs)
        if (job.label == job_label && !job.changes.empty()) return job.changes.back();
    return {};
}

Run run(const Workload& workload, const core::Policy& policy, const std::string& title) {
    std::vector<journal::Line> lines;
    JournalObserver observer(workload, title, [&](const journal::Event& event) {
        lines.push_back({lines.size() + 1, event});
    });
    SimulationOptions options;
    options.policy = policy;
    options.observer = &observer;
    const Outcome outcome = simulate(workload, options);
    observer.finish();
    const Summary summary = summarise(workload, outcome);
    const journal::Timeline timeline = journal::timeline(lines);
    return {{summary.makespan, summary.wait.mean, summary.turnaround.mean, summary.utilisation},
            summary.counters,
            journal::draw_svg(timeline, title),
            first_shrink(timeline),
            last_change(timeline, "5")};
}

core::Policy policy_of(const Scheduling& scheduling) {
    if (scheduling.rigid) return *core::preset("fcfs");
    core::Policy policy = *core::preset("equipartition");
    policy.resize_gap = scheduling.gap;
    return policy;
}

// "" for the images of the model that is the study's own.
std::string suffix(const Model& model) {
    return model.serial == 0 ? "_linear" : "";
}

Run run_rigid(const Model& model, const Scheduling& scheduling, Report& report) {
    Run mean;
    for (int seed = 1; seed <= kRigidRuns; ++seed) {
        const Run one = run(rigid_workload(model, static_cast<std::uint64_t>(seed)),
                            policy_of(scheduling), fmt::format("Rigid, run {}", seed));
        report.image(fmt::format("figure6b_rigid{}{}", seed, suffix(model)), one.gantt,
                     fmt::format("Nodes over time, rigid jobs, {}", model.name));
        mean.row.total += one.row.total / kRigidRuns;
        mean.row.response += one.row.response / kRigidRuns;
        mean.row.completion += one.row.completion / kRigidRuns;
        mean.row.utilization += one.row.utilization / kRigidRuns;
    }
    return mean;
}

Run run_malleable(const Model& model, const Scheduling& scheduling, Report& report) {
    Run one = run(malleable_workload(model), policy_of(scheduling), scheduling.name);
    report.image("figure6a_" + scheduling.name + suffix(model), one.gantt,
                 fmt::format("Nodes over time, {}, {}", scheduling.name, model.name));
    return one;
}

Table table4(const std::vector<Run>& runs, const std::vector<Run>& linear_runs) {
    Table table({"scheduling", "total_time", "mean_response", "mean_completion", "utilization",
                 "linear_total_time", "linear_mean_response", "linear_mean_completion",
                 "linear_utilization", "paper_total_time", "paper_mean_response",
                 "paper_mean_completion", "paper_utilization"});
    for (std::size_t i = 0; i < runs.size(); ++i) {
        std::vector<std::string> cells{kTable4[i].name};
        const auto add = [&](const Row& row, int decimals) {
            for (const auto metric : {&Row::total, &Row::response, &Row::completion})
                cells.push_back(fixed(row.*metric, 0));
            cells.push_back(fixed(row.utilization, decimals));
        };
        add(runs[i].row, 3);
        add(linear_runs[i].row, 3);
        add(kTable4[i].paper, 2);
        table.add(cells);
    }
    return table;
}

// As figure 7: each metric in parts of its largest value, utilisation inverted; smaller is better.
SpiderChart spider(const std::string& title, const std::vector<Row>& rows) {
    SpiderChart chart{
        title, {"total time", "mean completion", "1 / utilisation", "mean response"}, {}};
    const auto values = [](const Row& row) {
        return std::array{row.total, row.completion, 1 / row.utilization, row.response};
    };
    std::array<double, 4> most{};
    for (const Row& row : rows)
        for (std::size_t i = 0; i < most.size(); ++i) most[i] = std::max(most[i], values(row)[i]);
    for (std::size_t r = 0; r < rows.size(); ++r) {
        SpiderChart::Shape& shape = chart.shapes.emplace_back();
        shape.name = kTable4[r].name;
        for (std::size_t i = 0; i < most.size(); ++i)
            shape.values.push_back(values(rows[r])[i] / most[i]);
    }
    return chart;
}

void put_figure7(Report& report, const std::vector<Run>& runs) {
    std::vector<Row> ours, paper;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        ours.push_back(runs[i].row);
        paper.push_back(kTable4[i].paper);
    }
    report.image("figure7", draw_svg(spider("As figure 7", ours)), "As figure 7");
    report.image("figure7_paper", draw_svg(spider("Figure 7, of the paper's table IV", paper)),
                 "Figure 7, of the paper's table IV");
}

Table rescales(const std::vector<Run>& runs) {
    Table table({"scheduling", "shrinks", "expansions", "redistribution_node_seconds"});
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const Counters& c = runs[i].counters;
        table.add({kTable4[i].name, std::to_string(c.shrinks), std::to_string(c.expansions),
                   fixed(c.redistribution, 0)});
    }
    return table;
}

Table derived_work() {
    Table table({"scheduling", "paper_node_seconds_per_job"});
    for (const Scheduling& row : kTable4) table.add({row.name, fixed(work_per_job(row.paper), 0)});
    return table;
}

std::vector<std::string> assumptions() {
    return {
        "There is one run of each: a difference of no more than 1 % is undecided.",
        fmt::format("Work with linear speed-up: a row's total time x utilisation x 16 nodes / 5 "
                    "jobs. Taken is the rigid row's, {:.0f} node-seconds: no rescale is part of "
                    "it, and its sizes "
                    "are spread over the whole range. The same for all jobs, since all ran the "
                    "same application for the same number of iterations.",
                    job_work()),
        fmt::format(
            "Speed-up: Amdahl's law with a serial share of {}, and {:.0f} s on 16 nodes. Under "
            "moldable scheduling job 1 has all nodes and the four others start when it ends, "
            "so the row's mean response says when: not after {:.0f} s, as linear speed-up "
            "has it. With this share the malleable rows' node-seconds come out, too, within 4 %. "
            "The "
            "columns linear_ are the same with linear speed-up.",
            kSerialShare, whole_by_moldable_row(), linear().whole),
        fmt::format(
            "What hangs on that premise: the {:.0f} s, so all that the columns without linear_ "
            "have, and the serial share, which was chosen with it. It does not fit the rest of "
            "its own row: see the statement on that row, and \"moldable_row\". Linear speed-up "
            "is from the rigid row and does not hang on it; \"Verdicts by speed-up\" has both, "
            "and what they agree on does not depend on it.",
            whole_by_moldable_row()),
        fmt::format("Cost of a rescale: {:.1f} s, the mean of table II's shrink ({} s) and expand "
                    "({} s) of Stencil2D between 128 and 256 processes: the model of costs knows "
                    "one value for both directions, and as many of one as of the other happen.",
                    (kShrinkCost + kExpandCost) / 2, kShrinkCost, kExpandCost),
        "Mean response is the time from submission to start, mean completion that from "
        "submission to end: the paper does not define them, and its rows allow nothing else "
        "(response is far below what any job runs).",
        "Time to launch a job: none. The paper's figure 6 shows some, without a scale that can "
        "be read from the text.",
        "The scheduler acts at every event (arrival, end, a gap that has passed); the paper's "
        "acted in rounds whose length it does not give.",
        "Sizes of the rigid jobs: the paper's random numbers are not printed. Three runs with "
        "seeds 1 to 3.",
    };
}

constexpr std::array kMetrics{&Row::total, &Row::response, &Row::completion, &Row::utilization};

// There is one run of each, so no error; what the scheduler of the paper did otherwise moves more
// than this.
constexpr double kLeastDifference = 0.01;

Answer is_better(double Row::*metric, double a, double b) {
    if (std::abs(a - b) <= kLeastDifference * std::max(a, b)) return Answer::undecided;
    return answer(metric == &Row::utilization ? a > b : a < b);
}

using Runs = std::vector<Run>;  // in the order of kTable4

const Row& row(const Runs& runs, std::size_t i) {
    return runs[i].row;
}
const Row& moldable(const Runs& runs) {
    return row(runs, 3);
}
const Row& rigid(const Runs& runs) {
    return row(runs, 4);
}

// Of the three malleable runs, the one that is best in a metric.
std::size_t best(const Runs& runs, double Row::*metric) {
    std::size_t found = 0;
    for (std::size_t i = 1; i < 3; ++i) {
        const double one = row(runs, i).*metric, other = row(runs, found).*metric;
        if (metric == &Row::utilization ? one > other : one < other) found = i;
    }
    return found;
}

Finding better_than_rigid(const Runs& runs) {
    Tally tally;
    for (std::size_t i = 0; i < 3; ++i)
        for (const auto metric : kMetrics)
            tally.count(is_better(metric, row(runs, i).*metric, rigid(runs).*metric));
    return {"table IV", "malleable jobs are better than rigid ones in all four metrics",
            in_all(tally), "better in " + to_string(tally)};
}

Finding better_than_moldable(const Runs& runs) {
    const Row& other = moldable(runs);
    Tally tally;
    for (std::size_t i = 0; i < 3; ++i)
        for (const auto metric : {&Row::total, &Row::utilization})
            tally.count(is_better(metric, row(runs, i).*metric, other.*metric));
    return {"table IV",
            "malleable jobs end earlier in all, and use the machine better, than moldable",
            in_all(tally),
            fmt::format("better in {}; moldable takes {:.0f} s at {:.0f} %, the paper's 3792 s at "
                        "62 %",
                        to_string(tally), other.total, 100 * other.utilization)};
}

// What the best malleable run gains over the rigid one.
double gain(const Runs& runs, double Row::*metric) {
    const double ours = row(runs, best(runs, metric)).*metric, theirs = rigid(runs).*metric;
    return metric == &Row::utilization ? 1 - theirs / ours : 1 - ours / theirs;
}

Finding order_of_gains(const Runs& runs) {
    const std::array gains{gain(runs, &Row::response), gain(runs, &Row::utilization),
                           gain(runs, &Row::total), gain(runs, &Row::completion)};
    Tally order;
    for (std::size_t i = 0; i + 1 < gains.size(); ++i) order.count(gains[i] >= gains[i + 1]);
    return {"section VI-E",
            "malleability benefits the mean response time most, then utilisation, total "
            "time, and mean completion time least",
            in_all(order),
            fmt::format("gains over rigid: response {:.0f} %, utilisation {:.0f} %, total "
                        "{:.0f} %, completion {:.0f} %",
                        100 * gains[0], 100 * gains[1], 100 * gains[2], 100 * gains[3])};
}

Finding rescales_by_gap(const Runs& runs) {
    const auto rescales = [&](std::size_t i) {
        return runs[i].counters.shrinks + runs[i].counters.expansions;
    };
    Tally fewer;
    fewer.count(rescales(0) > rescales(1));
    fewer.count(rescales(1) > rescales(2));
    return {"section VI-E", "the smaller the gap, the more rescales", in_all(fewer),
            fmt::format("{}, {} and {} rescales with gaps of 40, 100 and 500 s", rescales(0),
                        rescales(1), rescales(2))};
}

// The best one in response is not that in completion, and each is better than the other there.
Finding best_gaps(const Runs& runs) {
    const auto response = best(runs, &Row::response), completion = best(runs, &Row::completion);
    const auto is_better_in = [&](double Row::*metric, std::size_t a, std::size_t b) {
        return is_better(metric, row(runs, a).*metric, row(runs, b).*metric);
    };
    const Answer differ = response == completion
                              ? Answer::no
                              : both(is_better_in(&Row::response, response, completion),
                                     is_better_in(&Row::completion, completion, response));
    return {"section VI-E", "the best gap depends on the metric (mean response, mean completion)",
            verdict(differ),
            fmt::format("best for response {}, total {}, completion {}, utilisation {}",
                        kTable4[response].name, kTable4[best(runs, &Row::total)].name,
                        kTable4[completion].name, kTable4[best(runs, &Row::utilization)].name)};
}

Finding small_gap_is_worse(const Runs& runs) {
    const double m40 = row(runs, 0).response, m100 = row(runs, 1).response;
    return {"table IV", "a gap of 40 s is worse in mean response than one of 100 s",
            verdict(is_better(&Row::response, m100, m40)),
            fmt::format("{:.0f} s and {:.0f} s", m40, m100)};
}

Finding first_shrink(const Runs& runs) {
    const int to = runs[0].first_shrink_to;
    return {"figure 6a",
            "when job 2 arrives, job 1 shrinks from 16 to 8 nodes and job 2 starts on 8",
            verdict(to == kNodes / 2),
            fmt::format("with a gap of 40 s job 1 shrinks to {} nodes at first", to)};
}

// When job 4 ends, with a gap of 40 s.
Finding last_expansion(const Runs& runs) {
    constexpr Time kPaper = 1700;
    constexpr double kTolerance = 0.1;
    const journal::SizeChange& last = runs[0].last_of_job5;
    return {
        "figure 6a", "when job 4 ends, job 5 is expanded from 4 to 16 nodes, at 1700 s",
        all_of({verdict(last.from == kMin && last.to == kMax),
                verdict(std::abs(last.at - kPaper) <= kTolerance * kPaper)}),
        fmt::format("its last change is from {} to {} nodes at {:.0f} s; counted as at that time: "
                    "within 10 %",
                    last.from, last.to, last.at)};
}

Finding rigid_is_worst(const Runs& runs) {
    Tally tally;
    for (const auto metric : kMetrics)
        for (std::size_t i = 0; i + 1 < runs.size(); ++i)
            tally.count(is_better(metric, row(runs, i).*metric, rigid(runs).*metric));
    return {"figure 7", "rigid is the worst in all dimensions", in_all(tally),
            "worse than another in " + to_string(tally)};
}

// Whether the row that the model is taken from agrees with itself.
Finding moldable_row_fits() {
    const MoldableRow row = what_the_premise_makes();
    const bool slower_on_more = row.nodes_of_last > row.nodes_of_others && row.last > row.others;
    return {
        "table IV",
        "the moldable row: four jobs start when job 1 ends, by its mean response, and keep "
        "their sizes",
        verdict(!slower_on_more && row.nodes_of_others >= kMin),
        fmt::format("then they start at {:.0f} s; one runs for {:.0f} s and three for {:.0f} s "
                    "in the mean, and the utilisation comes out only if these have {:.1f} "
                    "nodes each, fewer than their least {}, and the slow one {:.1f}. With 4 to "
                    "16 nodes each and 16 in all, all four have 4 and are alike: the row "
                    "contradicts itself or jobs started otherwise",
                    row.start, row.last, row.others, row.nodes_of_others, kMin, row.nodes_of_last),
        "It is about the paper's numbers alone"};
}

Table moldable_row() {
    const MoldableRow row = what_the_premise_makes();
    Table table({"what", "value"});
    table.add({"start of jobs 2 to 5, s", fixed(row.start, 0)});
    table.add({"run of the last to end, s", fixed(row.last, 0)});
    table.add({"run of each of the three others, mean, s", fixed(row.others, 0)});
    table.add({"nodes of the last", fixed(row.nodes_of_last, 1)});
    table.add({"nodes of each of the three others", fixed(row.nodes_of_others, 1)});
    return table;
}

std::vector<Finding> findings(const Runs& runs) {
    return {better_than_rigid(runs), better_than_moldable(runs),
            order_of_gains(runs),    rescales_by_gap(runs),
            best_gaps(runs),         small_gap_is_worse(runs),
            first_shrink(runs),      last_expansion(runs),
            rigid_is_worst(runs),    moldable_row_fits()};
}

// Those that the moldable row's premise decides.
std::string differing(const std::vector<Finding>& list, const std::vector<Finding>& with_linear) {
    int count = 0;
    std::string text;
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (list[i].verdict == with_linear[i].verdict) continue;
        ++count;
        text += fmt::format("; {}: {}, with linear speed-up {}", list[i].statement,
                            to_string(list[i].verdict), to_string(with_linear[i].verdict));
    }
    return fmt::format("On the moldable row's premise hang {} of {} verdicts{}.", count,
                       list.size(), text);
}

}  // namespace

Result<StudyResult> reproduce_gupta(const StudyOptions& options) {
    Report report(options.out, "Case study of [gupta] section VI-E, and prices (VII-B)");
    const auto run_all = [&](const Model& model) {
        std::vector<Run> runs;
        for (const Scheduling& scheduling : kTable4)
            runs.push_back(scheduling.rigid ? run_rigid(model, scheduling, report)
                                            : run_malleable(model, scheduling, report));
        return runs;
    };
    report.heading("Figure 6: nodes over time");
    const std::vector<Run> runs = run_all(with_serial_share()), linear_runs = run_all(linear());
    report.heading("Figure 7: all metrics");
    put_figure7(report, runs);
    report.heading("Table IV");
    report.table("table4",
                 "Times in seconds; linear_ columns with linear speed-up, paper_ the paper's",
                 table4(runs, linear_runs));
    report.table("rescales", "Rescales", rescales(runs));
    report.heading("Figures 9 and 10: spot prices");
    std::vector<Finding> on_prices;
    reproduce_prices(report, options.seed, on_prices);
    report.heading("What the paper says");
    std::vector<Finding> list = findings(runs);
    const std::vector<Variant> variants{{"linear speed-up", findings(linear_runs)}};
    const Table verdicts = side_by_side(with_serial_share().name, list, variants);
    const std::string hanging = differing(list, variants.front().findings);
    explain(list, variants);
    std::ranges::move(on_prices, std::back_inserter(list));
    report.findings(list);
    report.table("verdicts", "Verdicts by speed-up", verdicts);
    report.text(hanging);
    report.heading("What had to be assumed");
    report.table("derived_work", "Work by each row of table IV", derived_work());
    report.table("moldable_row",
                 "The moldable row, if four jobs start together when job 1 ends (the paper's "
                 "numbers alone)",
                 moldable_row());
    report.list(assumptions());
    report.list(price_assumptions());
    if (const Result<void> written = report.finish(); !written) return written.error();
    return StudyResult{list, options.out + "/index.html"};
}

}  // namespace elastic::studies

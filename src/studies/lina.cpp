// SPDX-License-Identifier: MIT
// [lina] section 5: three shrink guards and six victim orders on workloads of
// which 10 to 100 per cent are elastic, ten seeds each, against the same
// workloads when rigid.
//
//   workload x percentage x seed  ->  one case, its workload shared by 18 policies
//
// Section 5.1 gives the workloads; what it leaves open is decided in lina_model().
// Its processors are this simulator's nodes (one processor a node).
#include "studies/lina.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/policy.hpp"
#include "simulator/generators.hpp"
#include "simulator/make_workload.hpp"
#include "studies/experiment.hpp"
#include "studies/lina_results.hpp"

namespace elastic::studies {
namespace {

using namespace simulator;
using lina::Cell;
using lina::kGuardNames;
using lina::kGuards;
using lina::kMetricNames;
using lina::kMetrics;
using lina::kOrderNames;
using lina::kOrders;
using lina::Metric;
using lina::Results;
using lina::WorkloadResults;

constexpr std::int64_t kJobs = 10000;
constexpr int kSeeds = 10;
constexpr double kUnlimited = 1e9;  // times any size: the whole machine

constexpr std::array<const char*, kGuards> kGuardPresets{"lina-application", "lina-system",
                                                         "lina-default"};
constexpr std::array<const char*, kOrders> kOrderChoices{
    "random", "gain", "shrinkable", "expansions", "adaptation-cost", "remaining-time"};

struct StudyWorkload {
    std::string name;
    const Log* log = nullptr;
    WorkloadOptions options;
    bool full_flexibility = false, synthetic = false, shrunk = false;
    int first_figure = 0;  // the paper's number of its first figure
};

std::vector<core::Policy> policies() {
    std::vector<core::Policy> list;
    for (const char* guard : kGuardPresets)
        for (const char* order : kOrderChoices)
            list.push_back(*core::preset(fmt::format("{}/{}", guard, order)));
    return list;
}

// Table 2, last column: how much shorter times between arrivals are in the shrunk version.
double shrinkage(KnownTrace trace) {
    return trace == KnownTrace::kit ? 0.35 : 0.05;
}

StudyWorkload with_full_flexibility(StudyWorkload workload, int figure) {
    workload.name += "_full";
    workload.full_flexibility = true;
    workload.options.min_factor = 0;
    workload.options.max_factor = kUnlimited;
    workload.first_figure = figure;
    return workload;
}

std::vector<StudyWorkload> workloads(const StudyOptions& o, const Trace& trace,
                                     const Log& synthetic) {
    StudyWorkload plain;
    plain.name = trace.label;
    plain.log = &trace.log;
    plain.options.jobs = o.jobs;
    plain.options.nodes = o.nodes;
    plain.options.procs_per_node = std::max<std::int64_t>(o.procs_per_node, 1);
    plain.first_figure = trace.known == KnownTrace::kit ? 1 : 7;

    StudyWorkload shrunk = plain;
    shrunk.name += "_shrunk";
    shrunk.shrunk = true;
    shrunk.options.scale_arrival = 1 - shrinkage(trace.known);
    shrunk.first_figure += 3;

    StudyWorkload downey;
    downey.name = "Synthetic";
    downey.log = &synthetic;
    downey.synthetic = true;
    downey.first_figure = 13;
    return {plain, shrunk, downey, with_full_flexibility(plain, 18),
            with_full_flexibility(shrunk, 19)};
}

Cell cell_of(const Measures& measures) {
    const Summary& s = measures.summary;
    return {{s.turnaround.mean, s.utilisation, measures.slowdown_by_actual_run},
            s.useful_utilisation,
            s.slowdown.mean};
}

void add(Cell& sum, const Cell& one, double weight) {
    for (std::size_t m = 0; m < kMetrics; ++m) sum.value[m] += weight * one.value[m];
    sum.useful_utilisation += weight * one.useful_utilisation;
    sum.static_slowdown += weight * one.static_slowdown;
}

// Figures 16 and 17 show elastic jobs over time.  In numbers: of a hundred equal
// parts of the time of arrivals, the share in which elastic jobs (30 per cent of
// all) bring at least a tenth of the work that comes in such a part on average.
Result<double> coverage(const StudyWorkload& workload) {
    constexpr std::size_t kParts = 100;
    WorkloadOptions options = workload.options;
    options.elastic = 30;
    const Result<Workload> made = make_workload(*workload.log, options);
    if (!made) return made.error();
    const auto [first, last] = std::ranges::minmax(made->jobs, {}, &Job::submit);
    const Duration span = std::max(last.submit - first.submit, 1.0);
    std::array<double, kParts> work{};
    double all = 0;
    for (const Job& job : made->jobs) {
        if (job.elasticity < 0) continue;
        const auto part = static_cast<std::size_t>((job.submit - first.submit) / span * kParts);
        work[std::min(part, kParts - 1)] += job.run * job.nodes;
        all += job.run * job.nodes;
    }
    const auto covered =
        std::ranges::count_if(work, [&](double part) { return part > 0.1 * all / kParts; });
    return static_cast<double>(covered) / kParts;
}

std::vector<Case> cases_of(const StudyWorkload& workload, const std::vector<double>& percents,
                           int seeds) {
    std::vector<Case> cases{{workload.log, workload.options, {*core::preset("easy")}}};
    const std::vector<core::Policy> all = policies();
    for (const double percent : percents)
        for (int seed = 1; seed <= seeds; ++seed) {
            Case& one = cases.emplace_back(Case{workload.log, workload.options, all});
            one.workload.elastic = percent;
            one.workload.seed = static_cast<std::uint64_t>(seed);
        }
    return cases;
}

Result<WorkloadResults> run(const StudyWorkload& workload, const StudyOptions& o,
                            const std::vector<double>& percents, Table& runs) {
    WorkloadResults results{
        workload.name, workload.full_flexibility, workload.synthetic, workload.shrunk, 0, {}, {}};
    const Result<double> covered = coverage(workload);
    if (!covered) return covered.error();
    results.covered = *covered;
    const std::vector<Case> cases = cases_of(workload, percents, o.seeds);
    const auto measured = run_cases(cases, pool(o, "lina, " + workload.name));
    if (!measured) return measured.error();
    results.rigid = cell_of(measured->front().front());
    results.cells.resize(percents.size());
    const auto note = [&](const Case& one, const char* guard, const char* order, const Cell& c) {
        runs.add({workload.name, exact(one.workload.elastic), std::to_string(one.workload.seed),
                  guard, order, exact(c.value[lina::turnaround]), exact(c.value[lina::utilisation]),
                  exact(c.value[lina::slowdown]), exact(c.useful_utilisation),
                  exact(c.static_slowdown)});
    };
    note(cases.front(), "", "rigid", results.rigid);
    for (std::size_t i = 1; i < cases.size(); ++i)
        for (std::size_t g = 0; g < kGuards; ++g)
            for (std::size_t v = 0; v < kOrders; ++v) {
                const Cell cell = cell_of((*measured)[i][g * kOrders + v]);
                note(cases[i], kGuardNames[g], kOrderNames[v], cell);
                const auto percent = (i - 1) / static_cast<std::size_t>(o.seeds);
                add(results.cells[percent][g][v], cell, 1.0 / o.seeds);
            }
    return results;
}

// A panel for each victim order, a line for each guard, as the paper has it.
Figure figure_of(const Results& results, const WorkloadResults& workload, Metric metric,
                 int number) {
    constexpr std::array<const char*, kMetrics> kTitles{"Average turnaround time",
                                                        "System utilisation", "Average slowdown"};
    constexpr std::array<const char*, kMetrics> kUnits{"seconds", "per cent", "slowdown"};
    const double factor = metric == lina::utilisation ? 100 : 1;
    Figure figure;
    figure.title = fmt::format("{}{}, {}", number > 0 ? fmt::format("As figure {}: ", number) : "",
                               kTitles[metric], workload.name);
    figure.x_label = "elastic jobs, per cent";
    figure.y_label = kUnits[metric];
    figure.x = results.percents;
    for (std::size_t v = 0; v < kOrders; ++v) {
        Panel& panel = figure.panels.emplace_back();
        panel.title = kOrderNames[v];
        panel.series.push_back(
            {"rigid",
             std::vector<double>(results.percents.size(), factor * workload.rigid.value[metric]),
             true});
        for (std::size_t g = 0; g < kGuards; ++g) {
            Series& series = panel.series.emplace_back();
            series.name = kGuardNames[g];
            for (const auto& row : workload.cells)
                series.y.push_back(factor * row[g][v].value[metric]);
        }
    }
    return figure;
}

void draw(Report& report, const Results& results, const std::vector<StudyWorkload>& all) {
    report.heading("Figures");
    for (std::size_t w = 0; w < all.size(); ++w) {
        const WorkloadResults& workload = results.workloads[w];
        const auto put = [&](Metric metric, int number) {
            report.figure(
                fmt::format("figure{:02}_{}_{}", number, workload.name, kMetricNames[metric]),
                figure_of(results, workload, metric, number));
        };
        if (workload.full_flexibility) {
            put(lina::utilisation, all[w].first_figure);
            continue;
        }
        for (const Metric metric : {lina::turnaround, lina::utilisation, lina::slowdown})
            put(metric, all[w].first_figure + static_cast<int>(metric));
    }
}

std::vector<std::string> notes(const StudyOptions& o, const Trace& trace) {
    std::vector<std::string> list{
        fmt::format("Log: {}, its first {} jobs, one processor a node; {} seeds are averaged.",
                    trace.log.name, o.jobs, o.seeds),
        fmt::format("Shrunk: times between arrivals {:.0f} % shorter ({}).",
                    100 * shrinkage(trace.known),
                    trace.known == KnownTrace::none ? "table 2 gives 5 % for LLNL and 35 % for "
                                                      "KIT; for other logs 5 % is taken"
                                                    : "table 2"),
        "Full flexibility: every elastic job may have from one node to the whole machine.",
        "Slowdown: turnaround by the time from start to end, which is what section 4.1 defines "
        "arrival, start and completion for. runs.csv also has turnaround by the run time in the "
        "log, which does not forgive a policy that runs jobs longer.",
        "Utilisation counts what resizes cost as use, as section 4.1 does; useful utilisation in "
        "runs.csv does not.",
        "Left open by the paper and decided here: b (as alpha), how many processors an evolving "
        "job asks for (1 to half of its size), x of algorithm 6 (90 %), estimates (the log's "
        "requested "
        "times; the run time where there is none), the seed of the synthetic workload beyond "
        "table 1's 17.",
    };
    if (trace.known == KnownTrace::none)
        list.push_back(
            "This log is not one of the paper's: its figures are numbered as those of "
            "LLNL for comparison only, and paper_ columns are empty.");
    return list;
}

StudyOptions with_defaults(StudyOptions o) {
    if (o.jobs == 0) o.jobs = kJobs;
    if (o.seeds == 0) o.seeds = kSeeds;
    return o;
}

Result<Log> synthetic_log(std::int64_t jobs) {
    DowneyOptions downey;  // table 1
    downey.common.jobs = jobs;
    return generate_downey(downey);
}

}  // namespace

Result<StudyResult> reproduce_lina(const StudyOptions& options) {
    const StudyOptions o = with_defaults(options);
    const Result<Trace> trace = read_trace(o, "lina");
    if (!trace) return trace.error();
    const Result<Log> synthetic = synthetic_log(o.jobs);
    if (!synthetic) return synthetic.error();
    if (const Result<void> can = check_can_draw(); !can) return can.error();
    Report report(o.out, "[lina]: scheduling of elastic message passing applications");

    const std::vector<StudyWorkload> all = workloads(o, *trace, *synthetic);
    Results results;
    for (int percent = 10; percent <= 100; percent += 10) results.percents.push_back(percent);
    Table runs({"workload", "elastic", "seed", "guard", "victim_order", "turnaround", "utilisation",
                "slowdown", "useful_utilisation", "static_slowdown"});
    for (const StudyWorkload& workload : all) {
        Result<WorkloadResults> done = run(workload, o, results.percents, runs);
        if (!done) return done.error();
        results.workloads.push_back(*std::move(done));
    }

    report.heading("Key findings");
    std::vector<Finding> findings = lina::key_findings(results);
    const std::vector<Finding> more = lina::figure_findings(results);
    findings.insert(findings.end(), more.begin(), more.end());
    report.findings(findings);
    report.heading("How it was run");
    report.list(notes(o, *trace));
    report.heading("Table 3");
    report.table("table3",
                 "Best and worst candidate selection technique, and the largest "
                 "difference over the percentages of elastic jobs",
                 lina::table3(results));
    draw(report, results, all);
    report.heading("All runs");
    report.table("runs", "Every run", runs);
    if (const Result<void> written = report.finish(); !written) return written.error();
    return StudyResult{findings, o.out + "/index.html"};
}

}  // namespace elastic::studies

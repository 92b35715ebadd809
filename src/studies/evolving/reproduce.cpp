// SPDX-License-Identifier: MIT
// [evolving] section 5: six ways to schedule the same applications, all of which wait at time 0, on
// 1000 test cases; its tables 1 and 2, and what it concludes from them.
//
// What had to be assumed stands in assumptions(), once, for the page.  Scheduling times are told
// and not written: all that is written is the same on any machine.
#include "studies/evolving/reproduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "core/availability/list_schedule.hpp"
#include "journal/gantt.hpp"
#include "simulator/generators.hpp"

namespace elastic::studies {
namespace {

using core::EvolutionProfile;
using core::ScheduledEvolution;

constexpr int kTests = 1000;

// ---- what is compared -------------------------------------------------------

enum Way { kRigid, kNoX, k2X, k2Xc, kInfX, kInfXc, kWays };

struct Algorithm {
    const char* name;
    core::Expansion expansion;
    double paper_milliseconds;  // average scheduling time
};

constexpr std::array<Algorithm, kWays> kAlgorithms{{{"rigid", {1, false}, 6.2},
                                                    {"noX", {1, false}, 24.7},
                                                    {"2X", {2, false}, 24.4},
                                                    {"2X+c", {2, true}, 36.7},
                                                    {"infX", {core::kNoLimit, false}, 23.4},
                                                    {"infX+c", {core::kNoLimit, true}, 36}}};

enum Metric {
    kWaste,
    kUtilisation,
    kEffective,
    kMakespan,
    kCompletion,
    kWait,
    kExpanded,
    kAppExpansion,
    kAppWaste,
    kMetrics
};

struct Range3 {
    double min, avg, max;
};

// `unit` is that of the last digit that the paper prints.
struct MetricOfPaper {
    const char* name;
    const char* label;
    double unit;
    std::array<Range3, kWays> rows;
};

// The paper's epsilon, less than half of the last digit, is a quarter of it here.
constexpr double kEpsilon = 0.25;
constexpr Range3 kOnes{1, 1, 1}, kZeros{0, 0, 0};

constexpr std::array<MetricOfPaper, kMetrics> kPaper{{
    {"waste",
     "waste, %",
     1,
     {{{43, 70, 116}, {0, 0, 0}, {0, 2, 11}, {0, kEpsilon, 4}, {0, 7, 22}, {0, 1, 11}}}},
    {"utilisation",
     "utilisation, relative",
     0.01,
     {{kOnes,
       {.46, .58, .69},
       {.47, .60, .71},
       {.46, .59, .70},
       {.49, .63, .78},
       {.46, .59, .71}}}},
    {"effective",
     "effective utilisation, %",
     1,
     {{{30, 40, 51}, {49, 61, 73}, {50, 63, 75}, {53, 63, 75}, {52, 64, 73}, {55, 64, 74}}}},
    {"makespan",
     "makespan, relative",
     0.01,
     {{kOnes,
       {.49, .65, .82},
       {.48, .64, .82},
       {.48, .63, .82},
       {.49, .63, .78},
       {.47, .62, .78}}}},
    {"completion",
     "mean completion time, relative",
     0.01,
     {{kOnes,
       {.42, .61, .84},
       {.45, .61, .84},
       {.44, .60, .84},
       {.43, .62, .81},
       {.44, .60, .81}}}},
    {"wait",
     "mean waiting time, relative",
     0.01,
     {{kOnes,
       {.36, .55, .81},
       {.36, .54, .80},
       {.37, .54, .81},
       {.27, .53, .76},
       {.35, .53, .76}}}},
    {"expanded",
     "expanded applications, %",
     1,
     {{kZeros, kZeros, {0, 22, 56}, {0, 7, 40}, {0, 26, 62}, {0, 13, 47}}}},
    {"app_expansion",
     "expansion of an application, %",
     1,
     {{kZeros, kZeros, {0, 4, 76}, {0, kEpsilon, 60}, {0, 19, 884}, {0, 5, 1354}}}},
    {"app_waste",
     "waste of an application, %",
     1,
     {{{0, 67, 681}, kZeros, {0, 2, 75}, {0, kEpsilon, 41}, {0, 6, 360}, {0, 1, 119}}}},
}};
constexpr int kSystemMetrics = kMakespan + 1;  // table 1; the rest is table 2

// ---- one test case ----------------------------------------------------------

// Of one test case under one algorithm: by metric, a value, or one for each application.
struct Measured {
    std::array<std::vector<double>, kMetrics> values;
    double seconds = 0;  // to schedule it

    double of(Metric metric) const { return mean_of(values[metric]); }
};
using Case = std::array<Measured, kWays>;

double area(const EvolutionProfile& profile) {
    double node_seconds = 0;
    for (const core::EvolutionStep& step : profile) node_seconds += step.nodes * step.duration;
    return node_seconds;
}

double percent(double part, double of) {
    return 100 * part / of;
}

Measured measure(const std::vector<EvolutionProfile>& requested,
                 const std::vector<ScheduledEvolution>& scheduled, Way way, int nodes) {
    double used = 0, allocated = 0, completion = 0, wait = 0;
    int expanded = 0;
    Time makespan = 0;
    Measured m;
    for (std::size_t i = 0; i < requested.size(); ++i) {
        const double need = area(requested[i]), has = area(scheduled[i].steps);
        const Duration whole = core::length(requested[i]);
        const Duration longer = core::length(scheduled[i].steps) - whole;
        used += need;
        allocated += has;
        completion += scheduled[i].end();
        wait += scheduled[i].start;
        expanded += longer > 0;
        makespan = std::max(makespan, scheduled[i].end());
        m.values[kAppExpansion].push_back(way == kRigid ? 0 : percent(longer, whole));
        m.values[kAppWaste].push_back(percent(has - need, need));
    }
    const auto apps = static_cast<double>(requested.size());
    m.values[kWaste] = {percent(allocated - used, used)};
    m.values[kUtilisation] = {allocated};
    m.values[kEffective] = {percent(used, nodes * makespan)};
    m.values[kMakespan] = {makespan};
    m.values[kCompletion] = {completion / apps};
    m.values[kWait] = {wait / apps};
    m.values[kExpanded] = {percent(expanded, apps)};
    return m;
}

std::vector<ScheduledEvolution> schedule(const std::vector<EvolutionProfile>& requested, Way way,
                                         int nodes) {
    if (way != kRigid) return core::list_schedule(requested, nodes, kAlgorithms[way].expansion);
    std::vector<EvolutionProfile> jobs;
    for (const EvolutionProfile& profile : requested) jobs.push_back(core::rigid(profile));
    return core::list_schedule(jobs, nodes, kAlgorithms[way].expansion);
}

Case run_case(const simulator::EvolvingOptions& options) {
    const std::vector<EvolutionProfile> requested = simulator::evolving_applications(options);
    const int nodes = static_cast<int>(options.nodes);
    Case result;
    for (int way = 0; way < kWays; ++way) {
        const auto before = std::chrono::steady_clock::now();
        const auto scheduled = schedule(requested, static_cast<Way>(way), nodes);
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - before;
        result[way] = measure(requested, scheduled, static_cast<Way>(way), nodes);
        result[way].seconds = took.count();
    }
    for (const Metric metric : {kUtilisation, kMakespan, kCompletion, kWait}) {
        const double rigid = result[kRigid].of(metric);
        for (Measured& m : result) m.values[metric][0] /= rigid;
    }
    return result;
}

// ---- tables -----------------------------------------------------------------

using Cases = std::vector<Case>;

std::vector<double> by_case(const Cases& cases, Way way, Metric metric) {
    std::vector<double> values;
    for (const Case& one : cases) values.push_back(one[way].of(metric));
    return values;
}

Range3 range_of(const Cases& cases, Way way, Metric metric) {
    std::vector<double> all;
    for (const Case& one : cases) {
        const auto& values = one[way].values[metric];
        all.insert(all.end(), values.begin(), values.end());
    }
    const auto [min, max] = std::ranges::minmax(all);
    return {min, mean_of(all), max};
}

Table table(const Cases& cases, int first, int last) {
    Table table(
        {"algorithm", "metric", "min", "avg", "max", "paper_min", "paper_avg", "paper_max"});
    for (int way = 0; way < kWays; ++way)
        for (int metric = first; metric < last; ++metric) {
            const MetricOfPaper& paper = kPaper[metric];
            const Range3 ours = range_of(cases, static_cast<Way>(way), static_cast<Metric>(metric));
            const Range3& theirs = paper.rows[way];
            const int decimals = paper.unit < 1 ? 2 : 0;
            const auto cell = [&](double value) { return fixed(value, decimals + 1); };
            const auto printed = [&](double value) {
                return value == kEpsilon ? "epsilon" : fixed(value, decimals);
            };
            table.add({kAlgorithms[way].name, paper.label, cell(ours.min), cell(ours.avg),
                       cell(ours.max), printed(theirs.min), printed(theirs.avg),
                       printed(theirs.max)});
        }
    return table;
}

// ---- what the paper says ----------------------------------------------------

// Whether one algorithm has less of something than another, by the test cases.
Answer less(const Cases& cases, Metric metric, Way a, Way b) {
    return is_positive(difference(by_case(cases, b, metric), by_case(cases, a, metric)));
}

double mean(const Cases& cases, Metric metric, Way way) {
    return range_of(cases, way, metric).avg;
}

Finding agreement(const Cases& cases, int number, int first, int last) {
    Tally tally;
    std::string outside;
    for (int metric = first; metric < last; ++metric)
        for (int way = 0; way < kWays; ++way) {
            const double unit = kPaper[metric].unit, theirs = kPaper[metric].rows[way].avg;
            const double ours = mean(cases, static_cast<Metric>(metric), static_cast<Way>(way));
            const bool near = std::abs(std::round(ours / unit) - std::round(theirs / unit)) <= 2;
            tally.count(near);
            if (!near)
                outside += fmt::format("; {} of {}: {} and {}", kPaper[metric].label,
                                       kAlgorithms[way].name, fixed(ours, 2), fixed(theirs, 2));
        }
    return {fmt::format("table {}", number), "the averages", every_value(tally),
            fmt::format("within two units of the last digit: {}{}", to_string(tally), outside)};
}

Finding better_than_rigid(const Cases& cases) {
    Tally tally;
    for (const Way way : {kNoX, k2X, k2Xc, kInfX, kInfXc}) {
        tally.count(less(cases, kEffective, kRigid, way));
        tally.count(less(cases, kMakespan, way, kRigid));
        tally.count(less(cases, kWaste, way, kRigid));
    }
    return {"section 5.2",
            "all algorithms improve effective utilisation, makespan and waste over rigid",
            in_all(tally), "better in " + to_string(tally)};
}

Finding use_less(const Cases& cases) {
    Tally tally;
    for (const Way way : {kNoX, k2X, k2Xc, kInfX, kInfXc})
        tally.count(less(cases, kUtilisation, way, kRigid));
    return {"section 5.2", "compared to rigid, all algorithms reduce resource utilisation",
            in_all(tally), "less in " + to_string(tally)};
}

// The spread of the averages over the five, in parts of the largest.
double spread(const Cases& cases, Metric metric) {
    std::vector<double> means;
    for (const Way way : {kNoX, k2X, k2Xc, kInfX, kInfXc})
        means.push_back(mean(cases, metric, way));
    const auto [min, max] = std::ranges::minmax(means);
    return max > 0 ? (max - min) / max : 0;
}

Finding makespan_differs_less(const Cases& cases) {
    const double makespan = spread(cases, kMakespan), waste = spread(cases, kWaste);
    return {"section 5.2", "makespan differs less between the algorithms than waste",
            verdict(makespan < waste),
            fmt::format("the averages differ by {:.0f} % and {:.0f} % of the largest",
                        100 * makespan, 100 * waste)};
}

Finding users_gain(const Cases& cases) {
    int worse = 0;
    Tally tally;
    for (const Way way : {kNoX, k2X, k2Xc, kInfX, kInfXc}) {
        tally.count(less(cases, kAppWaste, way, kRigid));
        tally.count(less(cases, kCompletion, way, kRigid));
        for (const Case& one : cases)
            worse += one[way].of(kCompletion) >= 1 ||
                     one[way].of(kAppWaste) >= one[kRigid].of(kAppWaste);
    }
    return {"section 5.2",
            "compared to rigid, all always improve waste of applications and mean completion time",
            worse == 0 ? in_all(tally) : Verdict::partly,
            fmt::format("better in {}; worse in {} of {} single cases", to_string(tally), worse,
                        5 * cases.size())};
}

Finding stretching_waits_less(const Cases& cases) {
    Tally waits, completes;
    for (const Way way : {kInfX, kInfXc}) {
        waits.count(less(cases, kWait, way, kNoX));
        completes.count(less(cases, kCompletion, way, kNoX));
    }
    return {"section 5.2",
            "infX and infX+c reduce the waiting time, but not necessarily the completion time",
            all_of({in_all(waits), verdict(completes.holds < completes.of)}),
            fmt::format("than noX: waiting time is less in {}, completion time in {}",
                        to_string(waits), to_string(completes))};
}

Finding waste_is_unequal(const Cases& cases) {
    constexpr double kFew = 0.5;
    Tally tally;
    std::string shares;
    for (const Way way : {k2X, k2Xc, kInfX, kInfXc}) {
        const double share = mean(cases, kExpanded, way) / 100;
        tally.count(share < kFew);
        shares += fmt::format("{}{} {:.0f} %", shares.empty() ? "" : ", ", kAlgorithms[way].name,
                              100 * share);
    }
    return {"section 5.2", "few applications are expanded, and those a lot", in_all(tally),
            fmt::format("expanded are: {}; up to {:.0f} % longer (infX)", shares,
                        range_of(cases, kInfX, kAppExpansion).max)};
}

Finding benefit_of_2Xc(const Cases& cases) {
    constexpr double kSmall = 0.05;
    const double gain = mean(cases, kCompletion, kNoX) - mean(cases, kCompletion, k2Xc);
    return {"section 5.2", "the benefits of 2X+c over noX are small, so noX is the best choice",
            verdict(gain < kSmall),
            fmt::format("mean completion time {:.3f} with noX, {:.3f} with 2X+c",
                        mean(cases, kCompletion, kNoX), mean(cases, kCompletion, k2Xc))};
}

Finding compacting_saves(const Cases& cases) {
    Tally tally;
    tally.count(less(cases, kWaste, k2Xc, k2X));
    tally.count(less(cases, kWaste, kInfXc, kInfX));
    return {"section 4.2", "compacting reduces waste", in_all(tally), "in " + to_string(tally)};
}

std::vector<Finding> findings(const Cases& cases) {
    return {agreement(cases, 1, 0, kSystemMetrics),
            agreement(cases, 2, kSystemMetrics, kMetrics),
            better_than_rigid(cases),
            use_less(cases),
            makespan_differs_less(cases),
            compacting_saves(cases),
            users_gain(cases),
            stretching_waits_less(cases),
            waste_is_unequal(cases),
            benefit_of_2Xc(cases)};
}

std::vector<std::string> assumptions(const simulator::EvolvingOptions& options) {
    return {
        fmt::format("Nodes: {}. The paper does not say how many; with 100 its numbers come out.",
                    options.nodes),
        "Draws are uniform over whole numbers, both ends included: applications, steps, seconds, "
        "nodes.",
        "Waste is in per cent of what is computed with, since the paper's rigid row exceeds 100; "
        "that of an application likewise.",
        "Utilisation is node-seconds, relative to rigid's in the same test case; minimum, average "
        "and maximum are over test cases, the last two metrics' over all applications of all.",
        "Rigid: one step of the most nodes and the whole duration, each placed where it fits "
        "first.",
    };
}

// ---- schedules as images ----------------------------------------------------

// Gives the steps of a schedule nodes by their numbers.
class Chart {
  public:
    Chart(const std::vector<ScheduledEvolution>& scheduled, int nodes) {
        for (int node = 1; node <= nodes; ++node) {
            timeline_.rows.push_back({fmt::format("n{:03}", node), {}});
            free_.insert(node - 1);
        }
        timeline_.nodes = nodes;
        for (std::size_t job = 0; job < scheduled.size(); ++job) add(job, scheduled[job]);
        std::ranges::stable_sort(changes_, {}, [](const Change& change) {
            return std::pair(change.at, change.to > change.from);  // who gives comes first
        });
        held_.resize(scheduled.size());
        for (const Change& change : changes_) apply(change);
    }
    const journal::Timeline& timeline() const { return timeline_; }

  private:
    struct Change {
        Time at = 0;
        std::size_t job = 0;
        int from = 0, to = 0;
        bool last = false;
    };

    void add(std::size_t job, const ScheduledEvolution& scheduled) {
        journal::JobHistory& history = timeline_.jobs.emplace_back();
        history.label = std::to_string(job + 1);
        history.job_class = "evolving";
        history.state = "COMPLETED";
        history.start = scheduled.start;
        history.end = scheduled.end();
        timeline_.to = std::max(timeline_.to, history.end);
        Time at = scheduled.start;
        int size = 0;
        for (const core::EvolutionStep& step : scheduled.steps) {
            changes_.push_back({at, job, size, step.nodes, false});
            history.sizes.push_back(step.nodes);
            if (size > 0) history.changes.push_back({at, size, step.nodes, "step"});
            size = step.nodes;
            at += step.duration;
        }
        changes_.push_back({at, job, size, 0, true});
    }

    void apply(const Change& change) {
        auto& held = held_[change.job];
        while (static_cast<int>(held.size()) < change.to) {
            const int node = *free_.begin();
            free_.erase(free_.begin());
            held.push_back(node);
            timeline_.rows[node].spans.push_back(
                {static_cast<int>(change.job), change.at, change.at, change.from > 0, false});
        }
        while (static_cast<int>(held.size()) > change.to) {
            journal::Span& span = timeline_.rows[held.back()].spans.back();
            span.to = change.at;
            span.left = !change.last;
            free_.insert(held.back());
            held.pop_back();
        }
    }

    journal::Timeline timeline_;
    std::vector<Change> changes_;
    std::set<int> free_;
    std::vector<std::vector<int>> held_;  // by job
};

void put_schedules(Report& report, const simulator::EvolvingOptions& options) {
    const auto requested = simulator::evolving_applications(options);
    const int nodes = static_cast<int>(options.nodes);
    for (int way = 0; way < kWays; ++way) {
        const Chart chart(schedule(requested, static_cast<Way>(way), nodes), nodes);
        const std::string title = fmt::format("The first test case, {}", kAlgorithms[way].name);
        std::string name = fmt::format("schedule_{}", kAlgorithms[way].name);
        std::ranges::replace(name, '+', '_');
        report.image(name, journal::draw_svg(chart.timeline(), title), title);
    }
}

std::string scheduling_times(const Cases& cases) {
    std::string text = "scheduling time of a test case, ms (paper):";
    for (int way = 0; way < kWays; ++way) {
        double sum = 0;
        for (const Case& one : cases) sum += one[way].seconds;
        const double ours = 1000 * sum / static_cast<double>(cases.size());
        text += fmt::format(" {} {:.3f} ({}, {:.0f} times)", kAlgorithms[way].name, ours,
                            kAlgorithms[way].paper_milliseconds,
                            kAlgorithms[way].paper_milliseconds / ours);
    }
    return text;
}

}  // namespace

Result<StudyResult> reproduce_evolving(const StudyOptions& options) {
    simulator::EvolvingOptions test;
    if (options.nodes > 0) test.nodes = options.nodes;
    if (options.seed > 0) test.seed = options.seed;
    const int tests = options.tests > 0 ? options.tests : kTests;
    Cases cases(static_cast<std::size_t>(tests));
    run_all(cases.size(), pool(options, "test cases"), [&](std::size_t i) {
        simulator::EvolvingOptions one = test;
        one.test = static_cast<std::int64_t>(i + 1);
        cases[i] = run_case(one);
    });
    Report report(options.out, "Evaluation of [evolving] section 5");
    const Table table1 = table(cases, 0, kSystemMetrics);
    const Table table2 = table(cases, kSystemMetrics, kMetrics);
    report.heading("Table 1: system-centric metrics");
    report.table("table1", "", table1);
    report.heading("Table 2: user-centric metrics");
    report.table("table2", "", table2);
    report.heading("What the paper says");
    const std::vector<Finding> list = findings(cases);
    report.findings(list);
    report.heading("Schedules");
    put_schedules(report, test);
    report.heading("What had to be assumed");
    report.list(assumptions(test));
    if (const Result<void> written = report.finish(); !written) return written.error();
    return StudyResult{
        list, options.out + "/index.html", {table1, table2}, scheduling_times(cases)};
}

}  // namespace elastic::studies

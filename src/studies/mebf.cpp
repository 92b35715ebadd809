// SPDX-License-Identifier: MIT
// [mebf] section 4: malleable EASY backfilling against EASY backfilling (EBF), at
// two loads, three levels of scalability, two of overhead.
//
// A Scenario is a workload of the paper's table 4; all scenarios are run first,
// figures, tables and findings (mebf_findings.cpp) then look up what they need.
#include "studies/mebf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/model/policy.hpp"
#include "simulator/engine.hpp"
#include "simulator/make_workload.hpp"
#include "simulator/observer.hpp"
#include "studies/experiment.hpp"
#include "studies/mebf_results.hpp"

namespace elastic::studies {
namespace mebf {
namespace {

using namespace simulator;

constexpr std::int64_t kSmall = 1000;   // "1K", if the log has jobs for
constexpr std::int64_t kLarge = 5;      // times that: "5K"
constexpr int kSeeds = 5;               // the paper does not say how many it ran
constexpr double kIntensive = 0.75;     // arrival times reduced by 25 %
constexpr double kRhoError = 0.1;       // section 4.3, figure 16
constexpr double kMin = 0.5, kMax = 5;  // table 2, times the preferred size

constexpr std::array<const char*, kPolicies> kPresets{
    "easy",       "mebf-handoff",     "mebf-spare",      "mebf-intensive",
    "mebf-basic", "mebf-shrink-plus", "mebf-expand-plus"};
// Section 4.2.
constexpr std::array<Range, 3> kRho{{{0.2, 0.3}, {0.1, 0.2}, {0, 0.1}}};

// ---- runs

std::set<Scenario> scenarios() {
    std::set<Scenario> list;
    for (const Scalability level : kScalabilities) {
        for (const bool large : {false, true})
            for (const bool is_intensive : {false, true})
                for (const bool half : {false, true})
                    list.insert({large, is_intensive, level, half});
        for (const double malleable : {40, 60, 80})
            list.insert({.scalability = level, .malleable = malleable});
        list.insert({.scalability = level, .model_error = true});
    }
    return list;
}

// The machine: whole nodes, as far as this project knows the log.
void set_machine(WorkloadOptions& options, const StudyOptions& o, KnownTrace trace) {
    options.nodes = o.nodes;
    options.procs_per_node = o.procs_per_node;
    if (o.procs_per_node > 0) return;
    if (trace == KnownTrace::atlas) options.procs_per_node = 8;
    if (trace != KnownTrace::kit) return;
    options.procs_per_node = 48;  // section 4.1: the platform that the paper runs KIT on
    if (o.nodes == 0) options.nodes = 500;
}

WorkloadOptions workload_of(const Scenario& s, const StudyOptions& o, KnownTrace trace, int seed) {
    WorkloadOptions options;
    set_machine(options, o, trace);
    options.jobs = s.large ? kLarge * o.jobs : o.jobs;
    options.scale_arrival = s.is_intensive ? kIntensive : 1;
    options.elastic = s.malleable;
    options.evolving_share = 0;
    options.min_factor = kMin;
    options.max_factor = kMax;
    options.model = mebf_model(kRho[s.scalability], s.half_overhead ? 0.5 : 1);
    options.model.rho_error = s.model_error ? kRhoError : 0;
    options.seed = static_cast<std::uint64_t>(seed);
    return options;
}

void add(Values& sum, const Measures& one, double weight) {
    const Summary& s = one.summary;
    sum.turnaround += weight * s.turnaround.mean;
    sum.slowdown += weight * one.slowdown_of_means;
    sum.utilisation += weight * s.utilisation;
    sum.shrinks += weight * static_cast<double>(s.counters.shrinks);
    sum.expansions += weight * static_cast<double>(s.counters.expansions);
    sum.backfills += weight * static_cast<double>(s.counters.backfilled);
}

Result<Results> run(const Trace& trace, const StudyOptions& o) {
    std::vector<core::Policy> policies;
    for (const char* name : kPresets) policies.push_back(*core::preset(name));
    const std::set<Scenario> all = scenarios();
    std::vector<Case> cases;
    for (const Scenario& scenario : all)
        for (int seed = 1; seed <= o.seeds; ++seed)
            cases.push_back({&trace.log, workload_of(scenario, o, trace.known, seed), policies});
    const auto measured = run_cases(cases, pool(o, "mebf"));
    if (!measured) return measured.error();
    Results results;
    auto one = measured->begin();
    for (const Scenario& scenario : all)
        for (int seed = 1; seed <= o.seeds; ++seed, ++one)
            for (std::size_t p = 0; p < kPolicies; ++p)
                add(results[scenario][p], (*one)[p], 1.0 / o.seeds);
    return results;
}

// ---- figures that need more than sums

// Figure 6: expansions by the size with which the job started.
class ExpansionsBySize : public Observer {
  public:
    explicit ExpansionsBySize(std::size_t jobs) : started_(jobs) {}
    void started(Time, std::size_t job, int nodes) override { started_[job] = nodes; }
    void resized(Time, const Resize& resize) override {
        if (resize.to > resize.from) ++counts_[group(started_[resize.job])];
    }
    void arrived(Time, std::size_t) override {}
    void asked(Time, std::size_t, OpId, int) override {}
    void denied(Time, std::size_t, OpId, int, core::Reason) override {}
    void ended(Time, std::size_t, int) override {}

    static constexpr std::array<const char*, 7> kGroups{"1",    "2",     "3-4", "5-8",
                                                        "9-16", "17-32", "33-"};
    // Per cent of all expansions, by group.
    std::vector<double> shares() const {
        double all = 0;
        for (const int count : counts_) all += count;
        std::vector<double> list;
        for (const int count : counts_) list.push_back(all > 0 ? 100 * count / all : 0);
        return list;
    }

  private:
    static std::size_t group(int nodes) {
        std::size_t index = 0;
        for (int limit = 1; nodes > limit && index + 1 < kGroups.size(); limit *= 2) ++index;
        return index;
    }

    std::vector<int> started_;
    std::array<int, kGroups.size()> counts_{};
};

Result<Figure> figure6(const Trace& trace, const StudyOptions& o) {
    Figure figure{
        .title = "As figure 6: expansions by the size at start, 1K",
        .x_label = "nodes at start",
        .y_label = "per cent of all expansions",
        .kind = Figure::Kind::bars,
        .x = {},
        .categories = {ExpansionsBySize::kGroups.begin(), ExpansionsBySize::kGroups.end()},
        .panels = {{}}};
    const auto workload = make_workload(trace.log, workload_of({}, o, trace.known, 1));
    if (!workload) return workload.error();
    for (const Policy policy : kExpandPolicies) {
        ExpansionsBySize observer(workload->jobs.size());
        SimulationOptions options;
        options.policy = *core::preset(kPresets[policy]);
        options.observer = &observer;
        simulate(*workload, options);
        figure.panels[0].series.push_back({kPolicyNames[policy], observer.shares()});
    }
    return figure;
}

// Node-seconds in use of each of `parts` equal parts of the time, per cent of what there is.
std::vector<double> use_over_time(const Workload& workload, const Outcome& outcome, Time from,
                                  Time to, std::size_t parts) {
    const Duration length = (to - from) / static_cast<double>(parts);
    std::vector<double> use(parts);
    for (const Segment& segment : outcome.segments) {
        const Time end = std::min(segment.to, to);
        for (auto part = static_cast<std::size_t>(std::max(0.0, (segment.from - from) / length));
             part < parts; ++part) {
            const Time begins = from + static_cast<double>(part) * length;
            if (begins >= end) break;
            const Duration shared = std::min(end, begins + length) - std::max(segment.from, begins);
            use[part] += std::max(shared, 0.0) * segment.nodes;
        }
    }
    for (double& part : use) part *= 100 / (length * workload.nodes);
    return use;
}

Result<Figure> figure11(const Trace& trace, const StudyOptions& o) {
    constexpr std::size_t kParts = 100;
    const auto workload =
        make_workload(trace.log, workload_of({.scalability = HS}, o, trace.known, 1));
    if (!workload) return workload.error();
    Figure figure;
    figure.title = "As figure 11: utilisation over time, 1K_intensive_HS_ROF";
    figure.x_label = "hours";
    figure.y_label = "per cent";
    figure.from_zero = true;
    figure.panels.resize(1);
    std::vector<Outcome> outcomes;
    Time last = 0;
    for (const Policy policy : {ebf, handoff, spare, intensive}) {
        SimulationOptions options;
        options.policy = *core::preset(kPresets[policy]);
        options.segments = true;
        outcomes.push_back(simulate(*workload, options));
        for (const JobResult& job : outcomes.back().jobs) last = std::max(last, job.end);
    }
    const Time first = std::ranges::min(workload->jobs, {}, &Job::submit).submit;
    for (std::size_t i = 0; i < kParts; ++i)
        figure.x.push_back((last - first) / 3600 * (static_cast<double>(i) + 0.5) / kParts);
    constexpr std::array kShown{ebf, handoff, spare, intensive};
    for (std::size_t i = 0; i < outcomes.size(); ++i)
        figure.panels[0].series.push_back(
            {kPolicyNames[kShown[i]], use_over_time(*workload, outcomes[i], first, last, kParts),
             kShown[i] == ebf});
    return figure;
}

// ---- figures of the scenarios

// A panel for each list of groups, a bar for each policy.
Figure bars(const Results& results, std::string title, double Values::*metric,
            const std::vector<Policy>& policies,
            const std::vector<std::pair<std::string, std::vector<Group>>>& panels) {
    Figure figure;
    figure.title = std::move(title);
    figure.kind = Figure::Kind::bars;
    figure.y_label = metric == &Values::turnaround ? "seconds"
                     : metric == &Values::slowdown ? "slowdown"
                                                   : "per cent";
    const double factor = metric == &Values::utilisation ? 100 : 1;
    for (const Group& group : panels.front().second) figure.categories.push_back(group.category);
    for (const auto& [name, groups] : panels) {
        Panel& panel = figure.panels.emplace_back();
        panel.title = name;
        for (const Policy policy : policies) {
            Series& series = panel.series.emplace_back();
            series.name = kPolicyNames[policy];
            for (const Group& group : groups)
                series.y.push_back(factor * value(results, group.scenario, policy, metric));
        }
    }
    return figure;
}

void draw(Report& report, const Results& results) {
    const std::vector<Policy> expanding{ebf, handoff, spare, intensive};
    const std::vector<Policy> plus{ebf, basic, shrink_plus, expand_plus};
    const auto put = [&](int number, const std::string& title, double Values::*metric,
                         const std::vector<Policy>& policies, const auto& panels) {
        report.figure(fmt::format("figure{:02}", number),
                      bars(results, fmt::format("As figure {}: {}", number, title), metric,
                           policies, panels));
    };
    using Panels = std::vector<std::pair<std::string, std::vector<Group>>>;
    const auto loads = [](bool large) {
        return std::vector<Group>{
            {"normal", {.large = large, .is_intensive = false, .scalability = LS}},
            {"intensive", {.large = large, .scalability = LS}}};
    };
    const Panels both{{"1K", by_scalability({})}, {"5K", by_scalability({.large = true})}};
    put(7, "turnaround at two loads (LS, ROF)", &Values::turnaround, expanding,
        Panels{{"1K", loads(false)}, {"5K", loads(true)}});
    put(8, "turnaround by scalability (intensive, ROF)", &Values::turnaround, expanding, both);
    put(9, "turnaround by overhead (5K, intensive, HS)", &Values::turnaround, expanding,
        Panels{{"5K",
                {{"ROF", {.large = true, .scalability = HS}},
                 {"ROH", {.large = true, .scalability = HS, .half_overhead = true}}}}});
    put(10, "utilisation by scalability (intensive, ROF)", &Values::utilisation, expanding, both);
    std::vector<Group> shares;
    for (const double share : {40, 60, 80, 100})
        shares.push_back({fmt::format("{:.0f} %", share), {.malleable = share}});
    put(12, "turnaround by share of malleable jobs (1K, intensive, MS, ROF)", &Values::turnaround,
        expanding, Panels{{"1K", shares}});
    put(13, "slowdown with shrink+ and expand+, 1K", &Values::slowdown, plus,
        Panels{{"1K", by_scalability({})}});
    put(14, "slowdown with shrink+ and expand+, 5K", &Values::slowdown, plus,
        Panels{{"5K", by_scalability({.large = true})}});
    put(15, "slowdown with shrink+ and expand+ at two loads (5K, MS)", &Values::slowdown,
        std::vector<Policy>{shrink_plus, expand_plus},
        Panels{{"5K",
                {{"normal", {.large = true, .is_intensive = false}},
                 {"intensive", {.large = true}}}}});
    put(16, "turnaround with an error in the model (1K, intensive, ROF)", &Values::turnaround,
        expanding,
        Panels{{"no error", by_scalability({})}, {"error", by_scalability({.model_error = true})}});
}

Table all_runs(const Results& results) {
    Table table({"workload", "policy", "turnaround", "slowdown", "utilisation", "shrinks",
                 "expansions", "backfills", "improvement_over_ebf_percent"});
    for (const auto& [scenario, values] : results)
        for (std::size_t p = 0; p < kPolicies; ++p) {
            const Values& v = values[p];
            table.add({name_of(scenario), kPolicyNames[p], exact(v.turnaround), exact(v.slowdown),
                       exact(v.utilisation), exact(v.shrinks), exact(v.expansions),
                       exact(v.backfills),
                       fixed(improvement(results, scenario, static_cast<Policy>(p)), 2)});
        }
    return table;
}

std::vector<std::string> notes(const StudyOptions& o, const Trace& trace, int nodes) {
    std::vector<std::string> list{
        fmt::format("Log: {} ({}), on {} nodes; 1K is its first {} jobs, 5K its first {}; {} seeds "
                    "are averaged.",
                    trace.log.name, trace.label, nodes, o.jobs, kLarge * o.jobs, o.seeds),
        "Speed-up: rho is read as the serial share of Amdahl's law; the paper gives only a plot. "
        "Each job's rho is drawn normally within the level's range.",
        "Overhead: alpha, beta and b within 0.005 to 0.05 s (ROF), half of it for ROH. The paper "
        "turns its costs into bytes by a factor that it does not print, so its overheads may be "
        "larger.",
        "Slowdown: mean turnaround time by mean run time in the log, as section 4.3 defines it.",
        "Estimates: the log's requested times. In the paper's simulator jobs end when their work "
        "is done and the scheduler knows it; the log's are too long by a factor, which makes "
        "backfilling and the feasibility test judge worse.",
        "Workload 1K_intensive with no level named: LS for figure 7, MS for figures 6 and 16; "
        "\"SM\" in the text on figure 12 is read as MS.",
        "The error of the model does not touch EBF here: its jobs run as they ran in the log. In "
        "the "
        "paper it does.",
        "MEBF-basic expands as Intensive does: the paper does not say how.",
    };
    if (trace.known != KnownTrace::kit)
        list.push_back(
            "The paper's log is KIT ForHLR II on a platform of 500 nodes; this is "
            "another log, and the paper's numbers stand beside for comparison only.");
    return list;
}

// The larger workloads must have other jobs than the smaller ones.
Result<StudyOptions> with_defaults(StudyOptions o, const Trace& trace) {
    const std::int64_t most = std::ssize(trace.log.jobs) / kLarge;
    if (most == 0 || o.jobs > most)
        return error("--jobs: {} has {} jobs, which is enough for {}: 5K is {} times as many",
                     trace.log.name, trace.log.jobs.size(), most, kLarge);
    if (o.jobs == 0) o.jobs = std::min(kSmall, most);
    if (o.seeds == 0) o.seeds = kSeeds;
    return o;
}

}  // namespace
}  // namespace mebf

Result<StudyResult> reproduce_mebf(const StudyOptions& options) {
    using namespace mebf;
    const Result<Trace> trace = read_trace(options, "mebf");
    if (!trace) return trace.error();
    const Result<StudyOptions> with = with_defaults(options, *trace);
    if (!with) return with.error();
    const StudyOptions& o = *with;
    const auto sample = make_workload(trace->log, workload_of({}, o, trace->known, 1));
    if (!sample) return sample.error();
    if (const Result<void> can = check_can_draw(); !can) return can.error();
    const Result<Results> results = run(*trace, o);
    if (!results) return results.error();
    const Result<Figure> by_size = figure6(*trace, o), over_time = figure11(*trace, o);
    if (!by_size) return by_size.error();
    if (!over_time) return over_time.error();

    Report report(o.out, "[mebf]: malleable EASY backfilling on " + trace->label);
    report.heading("What the paper says");
    const std::vector<Finding> list = findings(*results);
    report.findings(list);
    report.heading("How it was run");
    report.list(notes(o, *trace, sample->nodes));
    report.heading("Tables");
    put_tables(report, *results);
    report.heading("Figures");
    report.figure("figure06", *by_size);
    draw(report, *results);
    report.figure("figure11", *over_time);
    report.heading("All runs");
    report.table("runs", "Every workload and policy, means over the seeds", all_runs(*results));
    if (const Result<void> written = report.finish(); !written) return written.error();
    return StudyResult{list, o.out + "/index.html"};
}

}  // namespace elastic::studies

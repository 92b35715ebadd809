// SPDX-License-Identifier: MIT
// [mebf] section 4: malleable EASY backfilling against EASY backfilling (EBF), at two loads, three
// levels of scalability, two of overhead.
//
// A Scenario is a workload of the paper's table 4; all scenarios are run first, once as the presets
// read the paper and once for each other reading; figures, tables and findings (mebf_findings.cpp)
// then look up what they need.  A verdict that only another reading confirms says so.
#include "studies/mebf/reproduce.hpp"

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
#include "studies/mebf/results.hpp"

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

// ---- readings

// What a run may differ in from the presets' reading and the log's estimates.
struct Reader {
    const char* name;
    core::SpeedupModel::Kind rho = core::SpeedupModel::Kind::rho;
    Estimates estimates = Estimates::logged;
    core::ShrinkAgain again = core::ShrinkAgain::next_round;
    core::ShrinkFor whom = core::ShrinkFor::starter;
    bool spare_all = false;
};

const Reader kOwn{"as run"};
const std::array kOthers{
    Reader{.name = "rho is an exponent", .rho = core::SpeedupModel::Kind::power},
    Reader{.name = "exact run times", .estimates = Estimates::exact},
    Reader{.name = "exponent and exact",
           .rho = core::SpeedupModel::Kind::power,
           .estimates = Estimates::exact},
    Reader{.name = "exponent, and Spare takes all",
           .rho = core::SpeedupModel::Kind::power,
           .spare_all = true},
    Reader{.name = "shrunk once in a life", .again = core::ShrinkAgain::never},
    Reader{.name = "shrunk for anybody", .whom = core::ShrinkFor::anybody},
    Reader{.name = "Spare takes all idle nodes", .spare_all = true},
};

core::Policy policy_of(std::size_t index, const Reader& reader) {
    core::Policy policy = *core::preset(kPresets[index]);
    if (!policy.resizes()) return policy;
    policy.shrink_again = reader.again;
    policy.shrink_for = reader.whom;
    if (index == spare && reader.spare_all) policy.expand_amount = core::ExpandAmount::spare_all;
    return policy;
}

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

WorkloadOptions workload_of(const Scenario& s, const StudyOptions& o, KnownTrace trace, int seed,
                            const Reader& reader = kOwn) {
    WorkloadOptions options;
    set_machine(options, o, trace);
    options.jobs = s.large ? kLarge * o.jobs : o.jobs;
    options.scale_arrival = s.is_intensive ? kIntensive : 1;
    options.elastic = s.malleable;
    options.evolving_share = 0;
    options.min_factor = kMin;
    options.max_factor = kMax;
    options.model = mebf_model(kRho[s.scalability], s.half_overhead ? 0.5 : 1, reader.rho);
    options.estimates = reader.estimates;
    options.model.rho_error = s.model_error ? kRhoError : 0;
    options.seed = static_cast<std::uint64_t>(seed);
    return options;
}

Values values_of(const Measures& one) {
    const Summary& s = one.summary;
    return {s.turnaround.mean,
            one.slowdown_of_means,
            s.utilisation,
            static_cast<double>(s.counters.shrinks),
            static_cast<double>(s.counters.expansions),
            static_cast<double>(s.counters.backfilled)};
}

Result<Results> run(const Trace& trace, const StudyOptions& o, const Reader& reader) {
    std::vector<core::Policy> policies;
    for (std::size_t p = 0; p < kPolicies; ++p) policies.push_back(policy_of(p, reader));
    const std::set<Scenario> all = scenarios();
    std::vector<Case> cases;
    for (const Scenario& scenario : all)
        for (int seed = 1; seed <= o.seeds; ++seed)
            cases.push_back(
                {&trace.log, workload_of(scenario, o, trace.known, seed, reader), policies});
    const auto measured = run_cases(cases, pool(o, fmt::format("mebf, {}", reader.name)));
    if (!measured) return measured.error();
    Results results;
    auto one = measured->begin();
    for (const Scenario& scenario : all)
        for (int seed = 1; seed <= o.seeds; ++seed, ++one)
            for (std::size_t p = 0; p < kPolicies; ++p)
                results[scenario][p].push_back(values_of((*one)[p]));
    return results;
}

Result<std::vector<Reading>> run_others(const Trace& trace, const StudyOptions& o) {
    std::vector<Reading> readings;
    for (const Reader& reader : kOthers) {
        Result<Results> results = run(trace, o, reader);
        if (!results) return results.error();
        readings.push_back({reader.name, *std::move(results)});
    }
    return readings;
}

// ---- figures that need more than sums

// Figure 6: expansions by the size with which the job started.
class ExpansionsBySize : public Observer {
  public:
    explicit ExpansionsBySize(std::size_t jobs) : started_(jobs) {}
    void started_on_parts(Time, std::size_t, const std::vector<SharedNode>&) override {}
    void started(Time, std::size_t job, const core::PoolCounts& nodes) override {
        started_[job] = core::total(nodes);
    }
    void resized(Time, const Resize& resize) override {
        if (resize.to <= resize.from) return;
        ++counts_[group(started_[resize.job])];
        starts_.push_back(started_[resize.job]);
    }
    void arrived(Time, std::size_t) override {}
    void asked(Time, std::size_t, OpId, int, int) override {}
    void denied(Time, std::size_t, OpId, int, core::Reason) override {}
    void stepped(Time, std::size_t, int, int, int) override {}
    void preempted(Time, std::size_t, int) override {}
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

    // The nodes at start, mean over the expansions.
    double mean_start() const { return mean_of(starts_); }

  private:
    static std::size_t group(int nodes) {
        std::size_t index = 0;
        for (int limit = 1; nodes > limit && index + 1 < kGroups.size(); limit *= 2) ++index;
        return index;
    }

    std::vector<int> started_;
    std::vector<double> starts_;
    std::array<int, kGroups.size()> counts_{};
};

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

constexpr std::size_t kParts = 100;
constexpr std::array kShown{ebf, handoff, spare, intensive};

// Figure 6's, one seed.
void observe_expansions(const Workload& workload, Observations& seen) {
    for (const Policy policy : kExpandPolicies) {
        ExpansionsBySize observer(workload.jobs.size());
        SimulationOptions options;
        options.policy = policy_of(policy, kOwn);
        options.observer = &observer;
        simulate(workload, options);
        seen.expanded_start[policy].push_back(observer.mean_start());
        seen.expansion_shares[policy].push_back(observer.shares());
    }
}

// Figure 11's: adds one seed's part of the mean; the end of the last of all.
Time observe_use(const Workload& workload, double weight, Observations& seen) {
    std::vector<Outcome> outcomes;
    Time last = 0;
    for (const Policy policy : kShown) {
        SimulationOptions options;
        options.policy = policy_of(policy, kOwn);
        options.segments = true;
        outcomes.push_back(simulate(workload, options));
        for (const JobResult& job : outcomes.back().jobs) last = std::max(last, job.end);
    }
    const Time first = std::ranges::min(workload.jobs, {}, &Job::submit).submit;
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        const auto use = use_over_time(workload, outcomes[i], first, last, kParts);
        std::vector<double>& sum = seen.use[kShown[i]];
        sum.resize(kParts);
        for (std::size_t part = 0; part < kParts; ++part) sum[part] += weight * use[part];
    }
    return last - first;
}

struct Observed {
    Observations seen;
    Duration length = 0;  // of the runs of figure 11, mean
};

Result<Observed> observe(const Trace& trace, const StudyOptions& o) {
    Observed observed;
    for (int seed = 1; seed <= o.seeds; ++seed) {
        const auto first = make_workload(trace.log, workload_of({}, o, trace.known, seed));
        if (!first) return first.error();
        observe_expansions(*first, observed.seen);
        const Scenario high{.scalability = HS};
        const auto second = make_workload(trace.log, workload_of(high, o, trace.known, seed));
        if (!second) return second.error();
        observed.length += observe_use(*second, 1.0 / o.seeds, observed.seen) / o.seeds;
    }
    return observed;
}

// As figure 3a, for both readings of rho.
Figure figure3() {
    Figure figure{.title = "As figure 3a: run time by nodes, in parts of that on one node",
                  .x_label = "nodes",
                  .y_label = "run time",
                  .x = {},
                  .categories = {},
                  .from_zero = true,
                  .panels = {}};
    for (int nodes = 1; nodes <= 32; ++nodes) figure.x.push_back(nodes);
    const auto add = [&](const char* title, core::SpeedupModel::Kind kind) {
        Panel& panel = figure.panels.emplace_back();
        panel.title = title;
        for (const double rho : {0.0, 0.05, 0.1, 0.2, 0.3}) {
            Series& series = panel.series.emplace_back();
            series.name = fmt::format("rho = {}", rho);
            series.reference = rho == 0;
            const core::SpeedupModel model{kind, rho, 0};
            for (const double nodes : figure.x)
                series.y.push_back(model.relative_time(static_cast<int>(nodes), 1));
        }
    };
    add("serial share (Amdahl)", core::SpeedupModel::Kind::rho);
    add("exponent", core::SpeedupModel::Kind::power);
    return figure;
}

Figure figure6(const Observations& seen) {
    Figure figure{
        .title = "As figure 6: expansions by the size at start, 1K, mean over the seeds",
        .x_label = "nodes at start",
        .y_label = "per cent of all expansions",
        .kind = Figure::Kind::bars,
        .x = {},
        .categories = {ExpansionsBySize::kGroups.begin(), ExpansionsBySize::kGroups.end()},
        .panels = {{}}};
    for (const Policy policy : kExpandPolicies) {
        Series& series = figure.panels[0].series.emplace_back();
        series.name = kPolicyNames[policy];
        for (std::size_t group = 0; group < ExpansionsBySize::kGroups.size(); ++group) {
            std::vector<double> each;
            for (const auto& shares : seen.expansion_shares[policy]) each.push_back(shares[group]);
            series.y.push_back(mean_of(each));
        }
    }
    return figure;
}

Figure figure11(const Observed& observed) {
    Figure figure{.title =
                      "As figure 11: utilisation over time, 1K_intensive_HS_ROF, mean over "
                      "the seeds",
                  .x_label = "hours",
                  .y_label = "per cent",
                  .x = {},
                  .categories = {},
                  .from_zero = true,
                  .panels = {{}}};
    for (std::size_t i = 0; i < kParts; ++i)
        figure.x.push_back(observed.length / 3600 * (static_cast<double>(i) + 0.5) / kParts);
    for (const Policy policy : kShown)
        figure.panels[0].series.push_back(
            {kPolicyNames[policy], observed.seen.use[policy], policy == ebf});
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

void add_runs(Table& table, const std::string& reading, const Results& results) {
    for (const auto& [scenario, policies] : results)
        for (std::size_t p = 0; p < kPolicies; ++p)
            for (std::size_t seed = 0; seed < policies[p].size(); ++seed) {
                const Values& v = policies[p][seed];
                table.add({reading, name_of(scenario), kPolicyNames[p], std::to_string(seed + 1),
                           exact(v.turnaround), exact(v.slowdown), exact(v.utilisation),
                           exact(v.shrinks), exact(v.expansions), exact(v.backfills)});
            }
}

Table all_runs(const Results& results, const std::vector<Reading>& others) {
    Table table({"reading", "workload", "policy", "seed", "turnaround", "slowdown", "utilisation",
                 "shrinks", "expansions", "backfills"});
    add_runs(table, kOwn.name, results);
    for (const Reading& reading : others) add_runs(table, reading.name, reading.results);
    return table;
}

std::vector<std::string> notes(const StudyOptions& o, const Trace& trace, int nodes) {
    std::vector<std::string> list{
        fmt::format("Log: {} ({}), on {} nodes; 1K is its first {} jobs, 5K its first {}; {} seeds "
                    "are averaged.",
                    trace.log.name, trace.label, nodes, o.jobs, kLarge * o.jobs, o.seeds),
        "Speed-up: rho is the serial share of Amdahl's law; the paper gives only a plot, which "
        "fits "
        "run times that fall as n^(rho-1), too (\"rho is an exponent\"). Each job's rho is drawn "
        "normally within the level's range.",
        "Overhead: alpha, beta and b within 0.005 to 0.05 s (ROF), half of it for ROH. The paper "
        "turns its costs into bytes by a factor that it does not print, so its overheads may be "
        "larger.",
        "Slowdown: mean turnaround time by mean run time in the log, as section 4.3 defines it.",
        fmt::format(
            "Estimates: the log's requested times; {} of its first {} jobs have none, or one "
            "that is the run time, and are planned with that. In the paper's simulator jobs "
            "end when their work is done and the scheduler knows it (\"exact run times\").",
            exact_estimates(trace.log, kLarge * o.jobs), kLarge * o.jobs),
        "Algorithm 2 excludes the previously configured jobs: those shrunk in the same round, "
        "here; "
        "those ever shrunk (\"shrunk once in a life\"). Its prose names no beneficiary: here "
        "nobody is "
        "shrunk unless a job can start by it; otherwise whenever any waits (\"shrunk for "
        "anybody\"). "
        "Spare takes half of the idle nodes at most, since it is to keep a spare amount; all of "
        "them "
        "(\"Spare takes all idle nodes\").",
        "A verdict is \"undecided\" where the difference, paired over the seeds, is within twice "
        "its "
        "standard error. One that is not confirmed names the readings that confirm it.",
        "Workload 1K_intensive with no level named: LS for figure 7, MS for figures 6 and 16; "
        "\"SM\" in the text on figure 12 is read as MS.",
        "The error of the model does not touch EBF here: its jobs run as they ran in the log. In "
        "the paper it does.",
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
    const Result<Results> results = run(*trace, o, kOwn);
    if (!results) return results.error();
    const Result<std::vector<Reading>> others = run_others(*trace, o);
    if (!others) return others.error();
    const Result<Observed> observed = observe(*trace, o);
    if (!observed) return observed.error();
    std::vector<Finding> list = findings(*results);
    std::vector<Variant> variants;
    for (const Reading& reading : *others)
        variants.push_back({reading.name, findings(reading.results)});
    explain(list, variants);
    const Table verdicts = side_by_side(kOwn.name, list, variants);
    std::vector<Finding> more = findings(observed->seen);
    explain(more, {});
    list.insert(list.end(), more.begin(), more.end());

    Report report(o.out, "[mebf]: malleable EASY backfilling on " + trace->label);
    report.heading("What the paper says");
    report.findings(list);
    report.table("verdicts", "Verdicts by reading", verdicts);
    report.heading("Where the paper contradicts itself");
    report.list(contradictions());
    report.heading("How it was run");
    report.list(notes(o, *trace, sample->nodes));
    report.heading("Tables");
    put_tables(report, *results, *others);
    report.heading("Figures");
    report.figure("figure03", figure3());
    report.figure("figure06", figure6(observed->seen));
    draw(report, *results);
    report.figure("figure11", figure11(*observed));
    report.heading("All runs");
    report.table("runs", "Every run", all_runs(*results, *others));
    if (const Result<void> written = report.finish(); !written) return written.error();
    return StudyResult{list, o.out + "/index.html"};
}

}  // namespace elastic::studies

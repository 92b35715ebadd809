// SPDX-License-Identifier: MIT
// selastic-sim run: one log, one policy.  Reads, simulates, writes.
//
// What depends on the clock (simulated jobs a second) goes to standard error, so that the same seed
// gives the same bytes everywhere else.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "common/atomic_file.hpp"
#include "common/hostlist.hpp"
#include "common/text.hpp"
#include "journal/gantt.hpp"
#include "journal/journal.hpp"
#include "program.hpp"
#include "selastic-sim/run_options.hpp"
#include "simulator/comparison.hpp"
#include "simulator/engine.hpp"
#include "simulator/journal_observer.hpp"
#include "simulator/log_check.hpp"
#include "simulator/logs/reader.hpp"
#include "simulator/metrics.hpp"
#include "simulator/output.hpp"
#include "simulator/references.hpp"
#include "simulator/site/site.hpp"
#include "simulator/trust/calibration.hpp"
#include "write_output.hpp"

namespace elastic::tools {
namespace {

using namespace simulator;

// Beyond, an image takes minutes and nobody can open it.
constexpr std::size_t kMaxGanttJobs = 5000;

struct Run {
    Workload workload;
    std::optional<SupplySeries> supply;
    NamedPolicy policy;
    std::optional<core::Policy> baseline;
    Outcome outcome;
    std::optional<Compared> compared;      // with --baseline
    std::optional<References> references;  // with --references
    double wall = 0;                       // seconds, of the simulation alone
    std::string journal;                   // if wanted
    std::vector<journal::Line> events;     // if an image is wanted
};

bool wants(const std::string& file) {
    return !file.empty();
}

// What is no regular file may be named as often as one likes: /dev/null.
bool is_same_file(const std::string& a, const std::string& b) {
    namespace fs = std::filesystem;
    std::error_code failure;
    if (fs::is_other(a, failure)) return false;
    return fs::weakly_canonical(a, failure) == fs::weakly_canonical(b, failure);
}

// A result must not replace another one, or what the run is made from.
Result<void> check_files(const RunOptions& o) {
    const std::vector<std::pair<const char*, const std::string*>> inputs{
        {"LOG", &o.log},
        {"--config", &o.policy.config},
        {"--supply", &o.supply},
        {"--slurm-conf", &o.site.slurm_conf},
        {"--qos", &o.site.qos},
        {"--reservations", &o.site.reservations},
        {"--events", &o.site.events}};
    const std::vector<std::pair<const char*, const std::string*>> outputs{
        {"--jobs-out", &o.jobs_out},
        {"--segments-out", &o.segments_out},
        {"--journal", &o.journal},
        {"--gantt", &o.gantt}};
    auto others = inputs;
    for (const auto& [option, file] : outputs) {
        if (!wants(*file) || is_standard_output(*file)) continue;
        for (const auto& [other, same] : others)
            if (wants(*same) && is_same_file(*file, *same))
                return error("{}: {} is the file of {}, too", option, *file, other);
        others.emplace_back(option, file);
    }
    return {};
}

Result<void> check_options(const RunOptions& o) {
    const std::array outputs{&o.jobs_out, &o.segments_out, &o.journal, &o.gantt};
    const auto to_terminal = std::count_if(
        outputs.begin(), outputs.end(), [](const auto* file) { return is_standard_output(*file); });
    if (to_terminal > 1) return error("only one result can go to standard output");
    if (to_terminal == 1 && o.json)
        return error("--json prints the summary on standard output; give the other a file");
    return check_files(o);
}

Result<void> choose_policies(const RunOptions& o, Run& run) {
    Result<NamedPolicy> policy = choose_policy(o.policy);
    if (!policy) return policy.error();
    run.policy = std::move(*policy);
    if (o.baseline.empty()) return {};
    const Result<core::Policy> baseline = core::preset(lower_case(o.baseline));
    if (!baseline) return error("--baseline: {}", baseline.error().message);
    run.baseline = *baseline;
    return {};
}

Result<void> check_size(const RunOptions& o, const Workload& workload) {
    if (o.references && !workload.pools.empty())
        return error(
            "--references: know no partitions; give --nodes for one machine of equal nodes");
    if (wants(o.gantt) && workload.jobs.size() > kMaxGanttJobs)
        return error("--gantt: {} jobs are too many for an image, choose up to {} with --jobs",
                     workload.jobs.size(), kMaxGanttJobs);
    if ((wants(o.gantt) || wants(o.journal)) &&
        static_cast<std::size_t>(workload.nodes) > kMaxHosts)
        return error("--journal, --gantt: {} nodes are too many, at most {}", workload.nodes,
                     kMaxHosts);
    return {};
}

bool learns(const core::Policy& policy) {
    return policy.belief == core::Belief::learned;
}

// With what of the log tells its jobs apart.
Result<Log> read_jobs(const RunOptions& o, const core::Policy& policy) {
    if (o.workload.precedence) return read_log(o.log, o.lenient, {o.workload.precedence->field});
    return learns(policy) ? read_log_with_programs(o.log, o.lenient) : read_log(o.log, o.lenient);
}

// What is learned of all jobs together is said of each.
void note_missing_programs(const Log& log, const core::Policy& policy, Workload& workload) {
    if (!learns(policy) || workload.elasticities.empty() || !log.types.empty()) return;
    workload.notes.push_back(
        fmt::format("{}: names no users and programs (of sacct the columns User and JobName), so "
                    "how jobs scale is "
                    "learned of all of them together",
                    log.name));
}

Result<Workload> read_workload(const RunOptions& o, const core::Policy& policy) {
    if (o.log == "-" && ::isatty(STDIN_FILENO)) note("reading the log from standard input");
    const Result<Log> log = read_jobs(o, policy);
    if (!log) return log.error();
    const Result<std::optional<Site>> site = site_of(*log, o.site, o.workload);
    if (!site) return site.error();
    WorkloadOptions options = o.workload;
    if (*site) options.site = &**site;
    if (o.calibrate) {
        const Result<Calibration> found = calibrate(*log, options);
        if (!found) return error("--calibrate: {}", found.error().message);
        note("{}", to_text(*found));
        options.scale_arrival = found->factor;
    }
    Result<Workload> workload = make_workload(*log, options);
    if (!workload) return workload;
    note_missing_programs(*log, policy, *workload);
    std::ranges::move(doubts(*log, options), std::back_inserter(workload->notes));
    return workload;
}

// A simulation has no names of nodes, so its journal could not say which nodes cost what.
Result<void> read_supply_of(const RunOptions& o, Run& run) {
    if (o.supply.empty() && !o.supply_nodes.empty())
        return error("--supply-nodes has no effect without --supply");
    if (o.supply.empty()) return {};
    if (!run.workload.pools.empty())
        return error("--supply: knows no partitions; give --nodes for one machine of equal nodes");
    if (wants(o.journal) || wants(o.gantt))
        return error("--journal, --gantt: with --supply nodes differ, which these cannot show");
    const Result<std::string> text = read_file(o.supply, core::kMaxSupplyText);
    if (!text) return error("--supply: {}", text.error().message);
    Result<core::Supply> supply = core::parse_supply(*text, o.supply);
    if (!supply) return error("--supply: {}", supply.error().message);
    Result<SupplySeries> series =
        make_series(*std::move(supply), o.supply_nodes, run.workload.nodes);
    if (!series) return series.error();
    run.supply = *std::move(series);
    return {};
}

SimulationOptions simulation_options(const RunOptions& o, const Run& run,
                                     const core::Policy& policy) {
    SimulationOptions options;
    options.policy = policy;
    options.seed = o.workload.seed;
    options.settle = o.settle;
    options.completing = o.completing;
    options.shrinks_first = !o.at_once;
    if (run.supply) options.supply = &*run.supply;
    return options;
}

void simulate_and_measure(const RunOptions& o, Run& run, Observer* observer) {
    SimulationOptions options = simulation_options(o, run, run.policy.policy);
    options.segments = wants(o.segments_out);
    options.observer = observer;
    const auto begin = std::chrono::steady_clock::now();
    run.outcome = simulate(run.workload, options);
    run.wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void simulate(const RunOptions& o, Run& run) {
    if (!wants(o.journal) && !wants(o.gantt)) return simulate_and_measure(o, run, nullptr);
    JournalObserver observer(run.workload, run.policy.name, [&](const journal::Event& event) {
        if (wants(o.journal)) run.journal += journal::to_json(event).dump() += '\n';
        if (wants(o.gantt)) run.events.push_back({run.events.size() + 1, event});
    });
    simulate_and_measure(o, run, &observer);
    observer.finish();
}

// The same jobs under the other policy and, if that is EASY, under what is only its order.
void simulate_baseline(const RunOptions& o, Run& run) {
    if (!run.baseline) return;
    const auto outcome_of = [&](const core::Policy& policy) {
        return simulator::simulate(run.workload, simulation_options(o, run, policy));
    };
    const Outcome baseline = outcome_of(*run.baseline);
    run.compared = {run.policy.name, o.baseline, compare(run.workload, run.outcome, baseline), {}};
    const core::Policy order = *core::preset(kOrderAlone);
    if (*run.baseline == *core::preset("easy") && run.policy.policy != order)
        run.compared->order = compare(run.workload, outcome_of(order), baseline);
}

std::string title(const RunOptions& o, const Run& run) {
    return fmt::format("{} under {}", o.log == "-" ? "standard input" : o.log, run.policy.name);
}

// One result; none if it is not wanted.
template <class Content>
Result<void> write(const char* option, const std::string& file, Content content) {
    if (!wants(file)) return {};
    const Result<void> written = write_output(file, content());
    return written ? written : error("{}: {}", option, written.error().message);
}

Result<void> write_results(const RunOptions& o, const Run& run) {
    for (const Result<void>& written : {
             write("--jobs-out", o.jobs_out, [&] { return jobs_csv(run.workload, run.outcome); }),
             write("--segments-out", o.segments_out,
                   [&] { return segments_csv(run.workload, run.outcome); }),
             write("--journal", o.journal, [&]() -> const std::string& { return run.journal; }),
             write("--gantt", o.gantt,
                   [&] { return journal::draw_svg(journal::timeline(run.events), title(o, run)); }),
         })
        if (!written) return written;
    return {};
}

Json summary_json(const RunOptions& o, const Run& run, const Summary& summary) {
    Json json = simulator::to_json(summary);
    if (run.references) json.set("references", to_json(*run.references));
    if (run.compared) json.set("baseline", to_json(*run.compared, run.workload));
    return json.set("log", o.log)
        .set("policy", run.policy.name)
        .set("seed", static_cast<std::int64_t>(o.workload.seed));
}

void report(const RunOptions& o, const Run& run) {
    const Summary summary = summarise(run.workload, run.outcome);
    const std::array outputs{&o.jobs_out, &o.segments_out, &o.journal, &o.gantt};
    const bool is_taken = std::any_of(outputs.begin(), outputs.end(),
                                      [](const auto* file) { return is_standard_output(*file); });
    std::string text = fmt::format("{}\n\n{}", title(o, run), simulator::to_text(summary));
    if (run.references) text += to_text(*run.references, summary);
    if (run.compared) text += to_text(*run.compared, run.workload);
    if (o.json)
        fmt::print("{}\n", summary_json(o, run, summary).dump());
    else if (is_taken)
        print_error(text);
    else
        fmt::print("{}", text);
    flush();
    const double jobs = static_cast<double>(summary.jobs);
    note("{} jobs simulated in {:.3f} s, {:.0f} jobs a second", summary.jobs, run.wall,
         run.wall > 0 ? jobs / run.wall : 0);
    for (const auto* file : outputs)
        if (wants(*file) && !is_standard_output(*file)) note("wrote {}", *file);
}

}  // namespace

int run(const RunOptions& o) {
    if (const Result<void> fine = check_options(o); !fine) return fail(fine.error());
    Run run;
    if (const Result<void> chosen = choose_policies(o, run); !chosen) return fail(chosen.error());
    Result<Workload> workload = read_workload(o, run.policy.policy);
    if (!workload) return fail(workload.error());
    run.workload = std::move(*workload);
    for (const std::string& text : run.workload.notes) note(text);
    if (const Result<void> fine = check_size(o, run.workload); !fine) return fail(fine.error());
    if (const Result<void> fine = read_supply_of(o, run); !fine) return fail(fine.error());
    simulate(o, run);
    simulate_baseline(o, run);
    if (o.references) run.references = {lower_bound(run.workload), greedy(run.workload)};
    if (const Result<void> written = write_results(o, run); !written) return fail(written.error());
    report(o, run);
    if (run.outcome.lost == 0) return kExitOk;
    return fail(error("{} jobs never ended: please report this with the log", run.outcome.lost));
}

}  // namespace elastic::tools

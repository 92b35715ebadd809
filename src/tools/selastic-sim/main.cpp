// SPDX-License-Identifier: MIT
// selastic-sim(1): its command line.  Each command is a function that returns the
// exit code.
#include <CLI/CLI.hpp>
#include <functional>
#include <limits>
#include <memory>
#include <optional>

#include "arguments.hpp"
#include "common/text.hpp"
#include "core/model/config.hpp"
#include "program.hpp"
#include "selastic-sim/advise_command.hpp"
#include "selastic-sim/generate_command.hpp"
#include "selastic-sim/replay_snapshot_command.hpp"
#include "selastic-sim/reproduce_command.hpp"
#include "selastic-sim/run_command.hpp"
#include "selastic-sim/sweep_command.hpp"
#include "selastic-sim/tune_command.hpp"
#include "simulator/generators.hpp"

namespace elastic::tools {
namespace {

using simulator::Range;

std::optional<Range> parse_range(std::string_view text) {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    const auto low = parse_number(text.substr(0, colon));
    const auto high = parse_number(text.substr(colon + 1));
    if (!low || !high || *low > *high) return std::nullopt;
    return Range{*low, *high};
}

// An option "LO:HI" within [low, high].
CLI::Option* add_range(CLI::App* sub, const char* name, Range limits, const char* text,
                       std::function<void(Range)> set) {
    const auto read = [set = std::move(set)](const std::string& value) {
        set(*parse_range(value));
    };
    return sub->add_option_function<std::string>(name, read, text)
        ->type_name("LO:HI")
        ->check([limits](const std::string& value) -> std::string {
            const auto range = parse_range(value);
            if (range && range->low >= limits.low && range->high <= limits.high) return "";
            return fmt::format("{} is not LO:HI with {} <= LO <= HI <= {}", printable(value),
                               limits.low, limits.high);
        });
}

// An option of bytes, "16G", or of a range of them, "1G:64G".
CLI::Option* add_bytes(CLI::App* sub, const char* name, const char* type, const char* text,
                       std::function<void(Range)> set) {
    const bool is_range = std::string_view(type).find(':') != std::string_view::npos;
    const auto parse = [is_range](std::string_view value) -> std::optional<Range> {
        const auto parts = split(value, ':');
        const auto low = parse_bytes(parts.front()), high = parse_bytes(parts.back());
        const bool known = low && high && parts.size() == (is_range ? 2U : 1U);
        if (!known || *low > *high || *high > simulator::kMaxBytesPerNode) return std::nullopt;
        if (!is_range && *low < core::kMinRate) return std::nullopt;
        return Range{*low, *high};
    };
    const auto read = [parse, set = std::move(set)](const std::string& value) {
        set(*parse(value));
    };
    return sub->add_option_function<std::string>(name, read, text)
        ->type_name(type)
        ->check([=](const std::string& value) -> std::string {
            if (parse(value)) return "";
            return fmt::format("{} is not {} in bytes, as in {}, up to 1P", printable(value), type,
                               is_range ? "1G:64G" : "10G");
        });
}

CLI::Option* add_seed(CLI::App* sub, std::uint64_t& seed, const char* text) {
    return sub->add_option("--seed", seed, fmt::format("{}{}", text, seed))
        ->type_name("S")
        ->check([](const std::string& value) -> std::string {
            const auto number = parse_integer(value);
            if (number && *number >= 0) return "";
            return fmt::format("{} is no whole number from 0 to {}", printable(value),
                               std::numeric_limits<std::int64_t>::max());
        });
}

// An option that names a file or a folder.
CLI::Option* add_path(CLI::App* sub, const char* name, std::string& path, const std::string& text) {
    return sub->add_option(name, path, text)->check([](const std::string& value) -> std::string {
        return value.empty() ? "the name is empty" : "";
    });
}

void add_log_options(CLI::App* sub, RunOptions& o) {
    constexpr const char* kGroup = "Which jobs, on which machine";
    constexpr std::int64_t kMany = 1'000'000'000;
    sub->add_option("LOG", o.log,
                    "Standard Workload Format, or sacct --parsable2 or CSV; plain or compressed;\n"
                    "- for standard input")
        ->required();
    sub->add_flag("--lenient", o.lenient, "Leave malformed lines out instead of stopping")
        ->group(kGroup);
    sub->add_option("--nodes", o.workload.nodes, "The machine's; by default as the log says")
        ->check(whole_number(1, kMaxNodes))
        ->type_name("N")
        ->group(kGroup);
    sub->add_option("--procs-per-node", o.workload.procs_per_node,
                    "Sizes in the log are divided by K and rounded up")
        ->check(whole_number(1, kMaxNodes))
        ->type_name("K")
        ->group(kGroup);
    sub->add_option("--jobs", o.workload.jobs, "Only so many jobs")
        ->check(whole_number(std::int64_t{1}, kMany))
        ->type_name("N")
        ->group(kGroup);
    sub->add_option("--skip", o.workload.skip, "Not the first N jobs")
        ->check(whole_number(std::int64_t{0}, kMany))
        ->type_name("N")
        ->group(kGroup);
    sub->add_option("--scale-arrival", o.workload.scale_arrival,
                    "Multiply submit times by F: less than 1 is more load")
        ->check(number(0.0, 1e6))
        ->type_name("F")
        ->group(kGroup);
    sub->add_option_function<std::string>(
           "--overrun",
           [&o](const std::string& value) {
               o.workload.overrun =
                   value == "cut" ? simulator::Overrun::cut : simulator::Overrun::extend;
           },
           "A job that runs longer than its estimate is cut (default) or goes on (extend)")
        ->check(CLI::IsMember({"cut", "extend"}))
        ->type_name("cut|extend")
        ->group(kGroup);
    sub->add_option_function<std::string>(
           "--estimates",
           [&o](const std::string& value) {
               o.workload.estimates =
                   value == "exact" ? simulator::Estimates::exact : simulator::Estimates::logged;
           },
           "What the scheduler is told of a run time: the requested time (logged) or the run\n"
           "time itself (exact); logged")
        ->check(CLI::IsMember({"logged", "exact"}))
        ->type_name("logged|exact")
        ->group(kGroup);
}

void add_beliefs(CLI::App* sub, simulator::WorkloadOptions& w) {
    constexpr const char* kGroup = "Where the scheduler is wrong";
    sub->add_option_function<std::string>(
           "--truth", [&w](const std::string& text) { w.truth = *simulator::parse_truth(text); },
           "How elastic jobs scale in truth, whatever the scheduler believes: linear, rho=R,\n"
           "power=R, overhead=X, downey=A:SIGMA with A in units of the preferred size")
        ->type_name("MODEL")
        ->check([](const std::string& text) -> std::string {
            const auto model = simulator::parse_truth(text);
            return model ? "" : model.error().message;
        })
        ->group(kGroup);
    add_range(sub, "--limit-error", simulator::kLimitErrors,
              "What it is told of run times is times a factor within LO:HI; 1:1",
              [&w](Range factors) { w.limit_error = factors; })
        ->group(kGroup);
}

void add_elasticity_options(CLI::App* sub, RunOptions& o) {
    constexpr const char* kGroup = "Which of them are elastic, and how";
    constexpr double kMaxFactor = 1e6;
    simulator::WorkloadOptions& w = o.workload;
    sub->add_option("--elastic", w.elastic, "Share of the jobs that are elastic, per cent; 0")
        ->check(number(0.0, 100.0))
        ->type_name("PCT")
        ->group(kGroup);
    sub->add_option("--evolving-share", w.evolving_share,
                    "Share of those that are evolving instead of malleable, 0 to 1; 0.5")
        ->check(number(0.0, 1.0))
        ->type_name("F")
        ->group(kGroup);
    sub->add_option("--min-factor", w.min_factor, "Smallest size, times the logged one; 0.5")
        ->check(number(0.0, kMaxFactor))
        ->type_name("F")
        ->group(kGroup);
    sub->add_option("--max-factor", w.max_factor, "Largest size, times the logged one; 8")
        ->check(number(0.0, kMaxFactor))
        ->type_name("F")
        ->group(kGroup);
    sub->add_option("--pref-factor", w.pref_factor, "Preferred size, times the logged one; 1")
        ->check(number(0.0, kMaxFactor))
        ->type_name("F")
        ->group(kGroup);
    add_range(sub, "--rho", {0, 1},
              "Speed-up and costs by [mebf], rho within LO:HI; without it by [lina]\n"
              "(elastic.conf(5) lists the papers)",
              [&w](Range rho) {
                  w.model = simulator::mebf_model(rho, w.model.cost_factor, w.model.rho_model);
              })
        ->group(kGroup);
    sub->add_option_function<std::string>(
           "--rho-model",
           [&w](const std::string& name) { w.model.rho_model = *simulator::rho_model(name); },
           "What rho is: amdahl, the serial share, or power, T(n) = T(1) n^(rho - 1); amdahl")
        ->check(CLI::IsMember(simulator::rho_model_names()))
        ->group(kGroup);
    sub->add_option("--cost-factor", w.model.cost_factor, "Costs of resizes, times the models'; 1")
        ->check(number(0.0, kMaxFactor))
        ->type_name("F")
        ->group(kGroup);
    add_bytes(sub, "--data", "LO:HI",
              "Data that a resize moves, bytes on each node at the preferred size; 0",
              [&w](Range data) { w.data = data; })
        ->group(kGroup);
    add_bytes(sub, "--link-bandwidth", "RATE",
              "Bytes a second that a node sends or receives, for --data; 1G",
              [&w](Range rate) { w.link_bandwidth = rate.low; })
        ->group(kGroup);
    add_seed(sub, w.seed, "Of all that is drawn; ")->group(kGroup);
}

// Not an error: one may want to compare with the same options and no elastic jobs.
void note_options_without_effect(const CLI::App* sub) {
    if (sub->count("--elastic") > 0) return;
    for (const char* name : {"--evolving-share", "--min-factor", "--max-factor", "--pref-factor",
                             "--rho", "--rho-model", "--cost-factor", "--data", "--link-bandwidth"})
        if (sub->count(name) > 0) note("{} has no effect without --elastic", name);
}

void add_policy_options(CLI::App* sub, PolicyOptions& o) {
    constexpr const char* kGroup = "Under which policy";
    auto* policy =
        sub->add_option("--policy", o.name,
                        fmt::format("One of {}; {}", fmt::join(core::preset_names(), ", "),
                                    core::Config{}.policy_name))
            ->type_name("NAME")
            ->group(kGroup);
    sub->add_option("--config", o.config, "The policy of this elastic.conf")
        ->type_name("FILE")
        ->excludes(policy)
        ->group(kGroup);
    sub->add_option("--set", o.sets,
                    "Change one choice of it, e.g. VictimOrder=gain; may be repeated")
        ->type_name("KEY=VALUE")
        ->allow_extra_args(false)
        ->group(kGroup);
}

void add_baseline(CLI::App* sub, RunOptions& o) {
    sub->add_flag("--references", o.references,
                  "Say what no policy can be below, and what a greedy one without fairness gives")
        ->group("Under which policy");
    sub->add_option("--baseline", o.baseline,
                    "Say who waits over an hour longer than under this preset")
        ->type_name("NAME")
        ->group("Under which policy");
}

void add_result_options(CLI::App* sub, RunOptions& o) {
    constexpr const char* kGroup = "Results (FILE - is standard output)";
    const auto add = [&](const char* name, std::string& file, const char* text) {
        add_path(sub, name, file, text)->type_name("FILE")->group(kGroup);
    };
    add("--jobs-out", o.jobs_out, "A line of CSV for each job");
    add("--segments-out", o.segments_out, "Which job had how many nodes from when to when, CSV");
    add("--journal", o.journal, "All events, for selastic check and selastic gantt");
    add("--gantt", o.gantt, "Nodes over time, an SVG image");
    sub->add_flag("--json", o.json, "The summary as JSON")->group(kGroup);
}

void add_supply(CLI::App* sub, RunOptions& o) {
    constexpr const char* kGroup = "What nodes cost, and how many may be used";
    add_path(sub, "--supply", o.supply,
             "Prices and caps over time, as SupplyFile of elastic.conf(5)")
        ->type_name("FILE")
        ->group(kGroup);
    sub->add_option("--supply-nodes", o.supply_nodes,
                    "How many nodes the sets in it have, the others being all of the machine")
        ->type_name("NAME=N,...")
        ->group(kGroup);
    sub->add_option("--price", o.workload.price,
                    "The most that a node may cost malleable jobs; any price by default")
        ->check(number(0, core::kMaxPrice))
        ->type_name("P")
        ->group(kGroup);
}

void add_run(CLI::App& app, Command& chosen) {
    auto o = std::make_shared<RunOptions>();
    CLI::App* sub = app.add_subcommand("run", "Run a workload log under a policy");
    sub->footer(
        "Example: what would half of the jobs being malleable do to last year's log?\n"
        "  selastic-sim run log.swf.gz --policy easy\n"
        "  selastic-sim run log.swf.gz --elastic 50 --evolving-share 0 --policy lina-default");
    add_log_options(sub, *o);
    add_elasticity_options(sub, *o);
    add_beliefs(sub, o->workload);
    add_policy_options(sub, o->policy);
    sub->add_flag("--settle", o->settle, "Plan once more after each plan that changes something")
        ->group("Under which policy");
    add_baseline(sub, *o);
    add_supply(sub, *o);
    add_result_options(sub, *o);
    sub->callback([o, sub, &chosen] {
        note_options_without_effect(sub);
        chosen = [o] { return run(*o); };
    });
}

void add_generator_options(CLI::App* sub, simulator::GeneratorOptions& o) {
    sub->add_option("--jobs", o.jobs, fmt::format("How many; {}", o.jobs))->type_name("N");
    sub->add_option("--procs", o.processors, fmt::format("Of the machine; {}", o.processors))
        ->type_name("P");
    sub->add_option("--load", o.load, "Work over capacity; 0: as the model's arrivals say")
        ->type_name("F");
    add_seed(sub, o.seed, "");
    sub->add_option("--estimate-factor", o.estimate_factor,
                    "Estimates are up to so many times the run time; 1")
        ->type_name("F");
    sub->add_flag("--round-estimates", o.round_estimates, "Estimates as people write them");
}

void add_downey(CLI::App* models, Command& chosen) {
    auto o = std::make_shared<simulator::DowneyOptions>();
    CLI::App* sub = models->add_subcommand("downey", "Downey's model, as in [lina] table 1");
    add_generator_options(sub, o->common);
    add_range(sub, "--log-run", {0, 20}, "Natural logarithm of the run time in seconds; 5.69:9.91",
              [o](Range range) { o->log_run = range; });
    add_range(sub, "--log-size", {0, 20}, "Natural logarithm of the size in processors; 0.69:8.51",
              [o](Range range) { o->log_size = range; });
    sub->callback([o, &chosen] {
        chosen = [o] { return print_log(simulator::generate_downey(*o), "Downey"); };
    });
}

void add_lublin(CLI::App* models, Command& chosen) {
    auto o = std::make_shared<simulator::LublinOptions>();
    CLI::App* sub = models->add_subcommand("lublin", "Lublin and Feitelson's model of batch jobs");
    add_generator_options(sub, o->common);
    const auto add = [&](const char* name, double& value, const char* text) {
        sub->add_option(name, value, fmt::format("{}; {}", text, value))->type_name("F");
    };
    add("--serial-share", o->serial_share, "Probability of one processor");
    add("--pow2-share", o->power_of_two_share, "Probability of a power of two");
    add("--start-hour", o->start_hour, "Of the day at the log's zero");
    add("--wide-share", o->wide_share, "Probability of a rigid job of 90 to 100 % of the machine");
    sub->callback([o, &chosen] {
        chosen = [o] { return print_log(simulator::generate_lublin(*o), "Lublin-Feitelson"); };
    });
}

void add_evolving(CLI::App* models, Command& chosen) {
    auto o = std::make_shared<simulator::EvolvingOptions>();
    CLI::App* sub = models->add_subcommand(
        "evolving", "A test case of [evolving] section 5.1: jobs with evolution profiles");
    sub->add_option("--nodes", o->nodes, "The machine's; 100")
        ->check(whole_number(1, kMaxNodes))
        ->type_name("N");
    sub->add_option("--test", o->test, "Which of the seed's test cases; 1")
        ->check(whole_number(1, 1'000'000'000))
        ->type_name("N");
    add_seed(sub, o->seed, "Of all that is drawn; ");
    sub->callback([o, &chosen] {
        chosen = [o] { return print_log(simulator::generate_evolving(*o), "evolving"); };
    });
}

void add_generate(CLI::App& app, Command& chosen) {
    CLI::App* sub = app.add_subcommand("generate", "Print a log out of a workload model, as SWF");
    sub->require_subcommand(1);
    add_downey(sub, chosen);
    add_lublin(sub, chosen);
    add_evolving(sub, chosen);
}

constexpr int kMaxThreads = 1024;

void add_sweep(CLI::App& app, Command& chosen) {
    auto o = std::make_shared<studies::SweepOptions>();
    CLI::App* sub = app.add_subcommand("sweep", "Run a grid of workloads and policies");
    sub->footer(
        "STUDY.conf, one key a line, each with a list; the study is their product:\n"
        "  Log=last-year.swf.gz\n"
        "  Elastic=0-100/20\n"
        "  Policy=easy, lina-default/gain, mebf-spare\n"
        "  Seed=1-10\n"
        "Keys are the options of `run` (ScaleArrival for --scale-arrival) and Set.CHOICE for a\n"
        "choice of elastic.conf.  A sweep that was interrupted goes on where it was.");
    sub->add_option("STUDY", o->study, "A file that says what to run")->required();
    add_path(sub, "--out", o->out, "Folder for the results; the study's name and -results")
        ->type_name("DIR");
    sub->add_option("-j,--jobs,--threads", o->pool.threads, "Runs at a time; one a processor")
        ->check(whole_number(1, kMaxThreads))
        ->type_name("N");
    sub->callback([o, &chosen] { chosen = [o] { return sweep(*o); }; });
}

void add_test_cases(CLI::App* sub, studies::StudyOptions& o) {
    sub->add_option("--tests", o.tests, "Test cases; 1000")
        ->check(whole_number(1, 1'000'000))
        ->type_name("N");
    sub->add_option("--nodes", o.nodes, "The machine's; 100")
        ->check(whole_number(1, kMaxNodes))
        ->type_name("N");
    add_seed(sub, o.seed, "Of all that is drawn; ");
    sub->add_option("-j,--threads", o.threads, "Test cases at a time; one a processor")
        ->check(whole_number(1, kMaxThreads))
        ->type_name("N");
}

void add_number_of_runs(CLI::App* sub, studies::StudyOptions& o) {
    sub->add_option("--jobs", o.jobs, "Of a workload, instead of the paper's number")
        ->check(whole_number(1, 1'000'000))
        ->type_name("N");
    sub->add_option("--seeds", o.seeds, "Runs to average")
        ->check(whole_number(1, 1000))
        ->type_name("N");
    sub->add_option("-j,--threads", o.threads, "Runs at a time; one a processor")
        ->check(whole_number(1, kMaxThreads))
        ->type_name("N");
}

void add_study(CLI::App* studies_app, const std::string& name, const char* text, Command& chosen) {
    auto o = std::make_shared<studies::StudyOptions>();
    auto json = std::make_shared<bool>(false);
    CLI::App* sub = studies_app->add_subcommand(name, text);
    sub->add_flag("--json", *json, "The tables and what is found of each statement, as JSON");
    add_path(sub, "--out", o->out, fmt::format("Folder for the results; reproduce-{}", name))
        ->type_name("DIR");
    sub->callback([o, json, name, &chosen] {
        chosen = [o, json, name] { return reproduce(name, *o, *json); };
    });
    if (name == "gupta") return;
    if (name == "evolving") return add_test_cases(sub, *o);
    add_number_of_runs(sub, *o);
    if (name == "packet") return;
    sub->add_option("--trace", o->trace, "The workload log, as for run")->type_name("LOG");
    sub->add_option("--nodes", o->nodes, "The machine's; by default as the log says")
        ->check(whole_number(1, kMaxNodes))
        ->type_name("N");
    sub->add_option("--procs-per-node", o->procs_per_node,
                    "Sizes in the log are divided by K; by default as the paper did")
        ->check(whole_number(1, kMaxNodes))
        ->type_name("K");
}

void add_reproduce(CLI::App& app, Command& chosen) {
    CLI::App* sub = app.add_subcommand("reproduce", "Do a paper's study again, and compare");
    sub->require_subcommand(1);
    add_study(sub, "lina", "Shrink guards and victim orders ([lina] section 5)", chosen);
    add_study(sub, "mebf", "Malleable EASY backfilling ([mebf] section 4)", chosen);
    add_study(sub, "evolving", "Evolution profiles on 1000 test cases ([evolving] section 5)",
              chosen);
    add_study(sub, "gupta", "Equipartition on 16 nodes ([gupta] section VI-E)", chosen);
    add_study(sub, "packet", "The scale ratio of job groups ([packet] sections 6 to 8)", chosen);
}

// Which jobs of a log, on which machine, where no more is said of them.
void add_machine(CLI::App* sub, bool& lenient, simulator::WorkloadOptions& w) {
    sub->add_flag("--lenient", lenient, "Leave malformed lines out instead of stopping");
    sub->add_option("--nodes", w.nodes, "The machine's; by default as the log says")
        ->check(whole_number(1, kMaxNodes))
        ->type_name("N");
    sub->add_option("--procs-per-node", w.procs_per_node,
                    "Sizes in the log are divided by K and rounded up")
        ->check(whole_number(1, kMaxNodes))
        ->type_name("K");
    sub->add_option("--jobs", w.jobs, "Only so many jobs")
        ->check(whole_number(std::int64_t{1}, std::int64_t{1'000'000'000}))
        ->type_name("N");
    sub->add_option("--skip", w.skip, "Not the first N jobs")
        ->check(whole_number(std::int64_t{0}, std::int64_t{1'000'000'000}))
        ->type_name("N");
}

void add_tune_packet(CLI::App* settings, Command& chosen) {
    constexpr double kLongestInitialisation = 86400;
    auto o = std::make_shared<studies::TuneOptions>();
    auto json = std::make_shared<bool>(false);
    CLI::App* sub = settings->add_subcommand(
        "packet", "The scale ratio of job groups with a common initialisation");
    sub->add_option("--trace", o->trace, "The workload log, as for run")
        ->type_name("LOG")
        ->required();
    add_machine(sub, o->lenient, o->workload);
    sub->add_option_function<std::string>(
           "--types",
           [o](const std::string& text) { o->types = *simulator::parse_type_rule(text); },
           "Jobs are of one type that agree in these: of user, group, executable (sacct:\n"
           "JobName), queue (sacct: QOS), partition; user,executable")
        ->type_name("FIELD,...")
        ->check([](const std::string& text) -> std::string {
            const auto rule = simulator::parse_type_rule(text);
            return rule ? "" : rule.error().message;
        });
    sub->add_option("--init", o->initialisation,
                    "What an initialisation takes; by default six times are tried, of which the\n"
                    "jobs' run times and initialisations together have 5 to 50 %")
        ->check(number(1e-3, kLongestInitialisation))
        ->type_name("SECONDS");
    sub->add_option_function<std::string>(
           "--goal",
           [o](const std::string& name) {
               o->goal = name == "turnaround" ? studies::TuneGoal::turnaround
                                              : studies::TuneGoal::queue_time;
           },
           "Recommend by the turnaround, or by the queue-time, as the paper does; turnaround")
        ->check(CLI::IsMember({"turnaround", "queue-time"}))
        ->type_name("turnaround|queue-time");
    add_path(sub, "--out", o->out, "Folder for the results; tune-packet")->type_name("DIR");
    sub->add_flag("--json", *json, "The recommendation as JSON");
    sub->add_option("-j,--threads", o->pool.threads, "Runs at a time; one a processor")
        ->check(whole_number(1, kMaxThreads))
        ->type_name("N");
    sub->callback([o, json, &chosen] { chosen = [o, json] { return tune_packet(*o, *json); }; });
}

void add_tune(CLI::App& app, Command& chosen) {
    CLI::App* sub = app.add_subcommand("tune", "Recommend a setting for a site's own workload");
    sub->require_subcommand(1);
    add_tune_packet(sub, chosen);
}

void add_advise(CLI::App& app, Command& chosen) {
    auto o = std::make_shared<studies::AdviceOptions>();
    auto output = std::make_shared<AdviceOutput>();
    CLI::App* sub = app.add_subcommand("advise", "Recommend a policy by a site's own log");
    sub->footer(
        "Compares all presets with 20, 50 and 100 % of the jobs malleable, at the usual cost of a\n"
        "resize and ten times that, and writes a page that says who wins, who loses and what it\n"
        "hangs on.");
    sub->add_option("LOG", o->log, "As for run")->required();
    add_machine(sub, o->lenient, o->workload);
    sub->add_option("--seeds", o->seeds, "Runs to average; 3")
        ->check(whole_number(2, 1000))
        ->type_name("N");
    add_path(sub, "--html", output->html, "The page, one file; advice.html")->type_name("FILE");
    add_path(sub, "--json", output->json, "The same as JSON; none")->type_name("FILE");
    sub->add_option("-j,--threads", o->pool.threads, "Runs at a time; one a processor")
        ->check(whole_number(1, kMaxThreads))
        ->type_name("N");
    sub->callback([o, output, &chosen] { chosen = [o, output] { return advise(*o, *output); }; });
}

void add_replay_snapshot(CLI::App& app, Command& chosen) {
    auto o = std::make_shared<ReplayOptions>();
    CLI::App* sub =
        app.add_subcommand("replay-snapshot", "Make a plan of the controller again, and compare");
    sub->add_option("SNAPSHOT", o->file, "What `selastic snapshot` printed; - for standard input")
        ->required();
    sub->add_flag("--json", o->json, "The plan, and what is different, as JSON");
    sub->callback([o, &chosen] { chosen = [o] { return replay_snapshot(*o); }; });
}

void add_commands(CLI::App& app, Command& chosen) {
    add_run(app, chosen);
    add_generate(app, chosen);
    add_sweep(app, chosen);
    add_reproduce(app, chosen);
    add_tune(app, chosen);
    add_advise(app, chosen);
    add_replay_snapshot(app, chosen);
}

}  // namespace
}  // namespace elastic::tools

int main(int argc, char** argv) {
    using namespace elastic::tools;
    const Program program{"selastic-sim", "Simulate elastic scheduling on workload logs",
                          add_commands};
    return run_program(program, argc, argv);
}

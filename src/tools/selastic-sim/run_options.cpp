// SPDX-License-Identifier: MIT
// The command line of selastic-sim run: in groups, as --help and the manual have them.
#include "selastic-sim/run_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "command_parser.hpp"
#include "core/model/config.hpp"
#include "program.hpp"
#include "selastic-sim/commands.hpp"
#include "selastic-sim/shared_options.hpp"

namespace elastic::tools {

using simulator::Range;

namespace {

void add_log_options(CommandParser sub, RunOptions& o) {
    constexpr const char* kGroup = "Which jobs, on which machine";
    sub.add_option("LOG", o.log,
                   "Standard Workload Format, or sacct --parsable2 or CSV; plain or compressed;\n"
                   "- for standard input")
        .required();
    add_machine(sub, o.lenient, o.workload, kGroup);
    add_site(sub, o.site, kGroup);
    const Option scale = sub.add_option("--scale-arrival", o.workload.scale_arrival,
                                        "Multiply submit times by F: less than 1 is more load")
                             .number(0.0, 1e6)
                             .type_name("F")
                             .group(kGroup);
    sub.add_flag("--calibrate", o.calibrate,
                 "Find the F with which jobs wait under easy as long as they did in truth")
        .excludes(scale)
        .group(kGroup);
    sub.add_option_function(
           "--overrun",
           [&o](const std::string& value) {
               o.workload.overrun =
                   value == "cut" ? simulator::Overrun::cut : simulator::Overrun::extend;
           },
           "A job that runs longer than its estimate is cut (default) or goes on (extend)")
        .one_of({"cut", "extend"})
        .type_name("cut|extend")
        .group(kGroup);
    sub.add_option_function(
           "--estimates",
           [&o](const std::string& value) {
               o.workload.estimates =
                   value == "exact" ? simulator::Estimates::exact : simulator::Estimates::logged;
           },
           "What the scheduler is told of a run time: the requested time (logged) or the run\n"
           "time itself (exact); logged")
        .one_of({"logged", "exact"})
        .type_name("logged|exact")
        .group(kGroup);
}

void add_beliefs(CommandParser sub, simulator::WorkloadOptions& w) {
    constexpr const char* kGroup = "Where the scheduler is wrong";
    sub.add_option_function(
           "--truth", [&w](const std::string& text) { w.truth = *simulator::parse_truth(text); },
           "How elastic jobs scale in truth, whatever the scheduler believes: linear, rho=R,\n"
           "power=R, overhead=X, downey=A:SIGMA with A in units of the preferred size")
        .type_name("MODEL")
        .check([](const std::string& text) -> std::string {
            const auto model = simulator::parse_truth(text);
            return model ? "" : model.error().message;
        })
        .group(kGroup);
    add_range(sub, "--limit-error", simulator::kLimitErrors,
              "What it is told of run times is times a factor within LO:HI; 1:1",
              [&w](Range factors) { w.limit_error = factors; })
        .group(kGroup);
}

void add_elasticity_options(CommandParser sub, RunOptions& o) {
    constexpr const char* kGroup = "Which of them are elastic, and how";
    constexpr double kMaxFactor = 1e6;
    simulator::WorkloadOptions& w = o.workload;
    sub.add_option("--elastic", w.elastic, "Share of the jobs that are elastic, per cent; 0")
        .number(0.0, 100.0)
        .type_name("PCT")
        .group(kGroup);
    sub.add_option("--evolving-share", w.evolving_share,
                   "Share of those that are evolving instead of malleable, 0 to 1; 0.5")
        .number(0.0, 1.0)
        .type_name("F")
        .group(kGroup);
    sub.add_option("--min-factor", w.min_factor, "Smallest size, times the logged one; 0.5")
        .number(0.0, kMaxFactor)
        .type_name("F")
        .group(kGroup);
    sub.add_option("--max-factor", w.max_factor, "Largest size, times the logged one; 8")
        .number(0.0, kMaxFactor)
        .type_name("F")
        .group(kGroup);
    sub.add_option("--pref-factor", w.pref_factor, "Preferred size, times the logged one; 1")
        .number(0.0, kMaxFactor)
        .type_name("F")
        .group(kGroup);
    add_range(sub, "--rho", {0, 1},
              "Speed-up and costs by [mebf], rho within LO:HI; without it by [lina]\n"
              "(elastic.conf(5) lists the papers)",
              [&w](Range rho) {
                  w.model = simulator::mebf_model(rho, w.model.cost_factor, w.model.rho_model);
              })
        .group(kGroup);
    sub.add_option_function(
           "--rho-model",
           [&w](const std::string& name) { w.model.rho_model = *simulator::rho_model(name); },
           "What rho is: amdahl, the serial share, or power, T(n) = T(1) n^(rho - 1); amdahl")
        .one_of(simulator::rho_model_names())
        .group(kGroup);
    sub.add_option("--cost-factor", w.model.cost_factor, "Costs of resizes, times the models'; 1")
        .number(0.0, kMaxFactor)
        .type_name("F")
        .group(kGroup);
    add_bytes(sub, "--data", "LO:HI",
              "Data that a resize moves, bytes on each node at the preferred size; 0",
              [&w](Range data) { w.data = data; })
        .group(kGroup);
    add_bytes(sub, "--link-bandwidth", "RATE",
              "Bytes a second that a node sends or receives, for --data; 1G",
              [&w](Range rate) { w.link_bandwidth = rate.low; })
        .group(kGroup);
    add_seed(sub, w.seed, "Of all that is drawn; ").group(kGroup);
}

void add_policy_options(CommandParser sub, PolicyOptions& o) {
    constexpr const char* kGroup = "Under which policy";
    const Option policy =
        sub.add_option("--policy", o.name,
                       fmt::format("One of {}; {}", fmt::join(core::preset_names(), ", "),
                                   core::Config{}.policy_name))
            .type_name("NAME")
            .group(kGroup);
    sub.add_option("--config", o.config, "The policy of this elastic.conf")
        .type_name("FILE")
        .excludes(policy)
        .group(kGroup);
    sub.add_option("--set", o.sets,
                   "Change one choice of it, e.g. VictimOrder=gain; may be repeated")
        .type_name("KEY=VALUE")
        .one_value_each()
        .group(kGroup);
}

void add_baseline(CommandParser sub, RunOptions& o) {
    sub.add_flag("--references", o.references,
                 "Say what no policy can be below, and what a greedy one without fairness gives")
        .group("Under which policy");
    sub.add_option("--baseline", o.baseline,
                   "Say who waits over an hour longer than under this preset")
        .type_name("NAME")
        .group("Under which policy");
}

void add_result_options(CommandParser sub, RunOptions& o) {
    constexpr const char* kGroup = "Results (FILE - is standard output)";
    const auto add = [&](const char* name, std::string& file, const char* text) {
        add_path(sub, name, file, text).type_name("FILE").group(kGroup);
    };
    add("--jobs-out", o.jobs_out, "A line of CSV for each job");
    add("--segments-out", o.segments_out, "Which job had how many nodes from when to when, CSV");
    add("--journal", o.journal, "All events, for selastic check and selastic gantt");
    add("--gantt", o.gantt, "Nodes over time, an SVG image");
    sub.add_json(o.json, "The summary as JSON").group(kGroup);
}

void add_supply(CommandParser sub, RunOptions& o) {
    constexpr const char* kGroup = "What nodes cost, and how many may be used";
    add_path(sub, "--supply", o.supply,
             "Prices and caps over time, as SupplyFile of elastic.conf(5)")
        .type_name("FILE")
        .group(kGroup);
    sub.add_option("--supply-nodes", o.supply_nodes,
                   "How many nodes the sets in it have, the others being all of the machine")
        .type_name("NAME=N,...")
        .group(kGroup);
    sub.add_option("--price", o.workload.price,
                   "The most that a node may cost malleable jobs; any price by default")
        .number(0, core::kMaxPrice)
        .type_name("P")
        .group(kGroup);
}

void add_preemption(CommandParser sub, RunOptions& o) {
    constexpr const char* kGroup = "Which jobs may end others";
    const Option preempt =
        sub.add_option_function(
               "--preempt",
               [&o](const std::string& text) {
                   o.workload.precedence = *simulator::parse_precedence(text);
               },
               "Jobs with that value in the log's user, group, executable, queue or partition "
               "come\n"
               "before those of a lower level, 0 by default, and end them to have their nodes;\n"
               "malleable ones shrink instead where that suffices")
            .type_name("FIELD:VALUE=LEVEL,...")
            .check([](const std::string& text) -> std::string {
                const auto precedence = simulator::parse_precedence(text);
                return precedence ? "" : precedence.error().message;
            })
            .group(kGroup);
    sub.add_flag("--preempt-at-once", o.at_once, "Nobody is asked to shrink before")
        .needs(preempt)
        .group(kGroup);
}

// Not an error: one may want to compare with the same options and no elastic jobs.
void note_options_without_effect(CommandParser sub) {
    if (sub.has("--elastic")) return;
    for (const char* name : {"--evolving-share", "--min-factor", "--max-factor", "--pref-factor",
                             "--rho", "--rho-model", "--cost-factor", "--data", "--link-bandwidth"})
        if (sub.has(name)) note("{} has no effect without --elastic", name);
}

}  // namespace

void add_run(CommandParser app) {
    auto o = std::make_shared<RunOptions>();
    CommandParser sub = app.add_command("run", "Run a workload log under a policy");
    sub.footer(
        "Example: what would half of the jobs being malleable do to last year's log?\n"
        "  selastic-sim run log.swf.gz --policy easy\n"
        "  selastic-sim run log.swf.gz --elastic 50 --evolving-share 0 --policy lina-default");
    add_log_options(sub, *o);
    add_elasticity_options(sub, *o);
    add_beliefs(sub, o->workload);
    add_policy_options(sub, o->policy);
    sub.add_flag("--settle", o->settle, "Plan once more after each plan that changes something")
        .group("Under which policy");
    sub.add_option("--completing", o->completing, "Nodes come free so long after their job's end")
        .number(0, 86400)
        .type_name("SECONDS")
        .group("Under which policy");
    add_baseline(sub, *o);
    add_supply(sub, *o);
    add_preemption(sub, *o);
    add_result_options(sub, *o);
    sub.runs([o, sub] {
        note_options_without_effect(sub);
        return run(*o);
    });
}

}  // namespace elastic::tools

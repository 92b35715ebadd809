// SPDX-License-Identifier: MIT
// selastic-sim sweep: a grid of runs.
//
// On the terminal a table has to be narrow: parameters and the figures that are asked for first.
// means.csv has them all.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <string_view>

#include "program.hpp"
#include "selastic-sim/commands.hpp"
#include "selastic-sim/shared_options.hpp"
#include "studies/sweep/sweep.hpp"

namespace elastic::tools {
namespace {

studies::Table narrow(const studies::Table& table) {
    constexpr std::array<std::string_view, 11> kShown{
        "mean_turnaround", "mean_slowdown",      "mean_wait", "p99_wait",
        "max_wait",        "useful_utilisation", "work_done", "turnaround_ratio",
        "worst_ratio",     "worst_seed",         "delayed"};
    // Keys begin with a capital, results do not.
    const auto is_shown = [&](const std::string& column) {
        return (column[0] >= 'A' && column[0] <= 'Z') || std::ranges::count(kShown, column) > 0;
    };
    const auto pick = [&](const std::vector<std::string>& cells) {
        std::vector<std::string> some;
        for (std::size_t i = 0; i < cells.size(); ++i)
            if (is_shown(table.columns()[i])) some.push_back(cells[i]);
        return some;
    };
    studies::Table result(pick(table.columns()));
    for (const auto& row : table.rows()) result.add(pick(row));
    return result;
}

// Prints the means over the seeds.  Without --out the folder is the study's name without its
// ending.
int sweep(studies::SweepOptions options, bool json) {
    if (options.out.empty())
        options.out = std::filesystem::path(options.study).stem().string() + "-results";
    options.pool.progress = "sweep, workloads";
    const Result<studies::SweepResult> result = studies::run_sweep(options);
    if (!result) return fail(result.error());
    if (json)
        fmt::print("{}\n", Json::object().set("means", studies::to_json(result->means)).dump());
    else
        fmt::print("{}", narrow(result->means).text());
    for (const std::string& doubt : result->doubts) note("{}", doubt);
    for (const std::string& point : result->left_out)
        note("{}: left out: {}", options.study, point);
    note("{} runs, {} of them done before; wrote {}/results.csv", result->runs, result->resumed,
         options.out);
    return result->left_out.empty() ? kExitOk : kExitError;
}

}  // namespace

void add_sweep(CommandParser app) {
    auto o = std::make_shared<studies::SweepOptions>();
    auto json = std::make_shared<bool>(false);
    CommandParser sub = app.add_command("sweep", "Run a grid of workloads and policies");
    sub.footer(
        "STUDY.conf, one key a line, each with a list; the study is their product:\n"
        "  Log=last-year.swf.gz\n"
        "  Elastic=0-100/20\n"
        "  Policy=easy, lina-default/gain, mebf-spare\n"
        "  Seed=1-10\n"
        "Keys are the options of `run` (ScaleArrival for --scale-arrival) and Set.CHOICE for a\n"
        "choice of elastic.conf.  A sweep that was interrupted goes on where it was.  Options of\n"
        "the site are for all logs; a study with Nodes or ProcsPerNode is of equal nodes.");
    sub.add_option("STUDY", o->study, "A file that says what to run").required();
    add_path(sub, "--out", o->out, "Folder for the results; the study's name and -results")
        .type_name("DIR");
    add_site(sub, o->site, "Options");
    add_threads(sub, "-j,--jobs,--threads", o->pool.threads, "Runs");
    sub.add_json(*json, "The means of all results, as JSON");
    sub.runs([o, json] { return sweep(*o, *json); });
}

}  // namespace elastic::tools

// SPDX-License-Identifier: MIT
// On the terminal a table has to be narrow: parameters and the figures that
// are asked for first.  means.csv has them all.
#include "selastic-sim/sweep_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <string_view>

#include "program.hpp"

namespace elastic::tools {
namespace {

studies::Table narrow(const studies::Table& table) {
    constexpr std::array<std::string_view, 7> kShown{
        "mean_turnaround", "mean_slowdown", "mean_wait",         "p99_wait",
        "max_wait",        "delayed",       "useful_utilisation"};
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

}  // namespace

int sweep(studies::SweepOptions options) {
    if (options.out.empty())
        options.out = std::filesystem::path(options.study).stem().string() + "-results";
    options.pool.progress = "sweep, workloads";
    const Result<studies::SweepResult> result = studies::run_sweep(options);
    if (!result) return fail(result.error());
    fmt::print("{}", narrow(result->means).text());
    for (const std::string& doubt : result->doubts) note("{}", doubt);
    for (const std::string& point : result->left_out)
        note("{}: left out: {}", options.study, point);
    note("{} runs, {} of them done before; wrote {}/results.csv", result->runs, result->resumed,
         options.out);
    return result->left_out.empty() ? kExitOk : kExitError;
}

}  // namespace elastic::tools

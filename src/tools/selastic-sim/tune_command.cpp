// SPDX-License-Identifier: MIT
// The recommendation goes to standard output, where the page is to standard error.
#include "selastic-sim/tune_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "common/json.hpp"
#include "common/text.hpp"
#include "program.hpp"
#include "studies/packet/results.hpp"

namespace elastic::tools {
namespace {

// Numbers as numbers, under the names of the columns.
Json as_json(const studies::Table& table) {
    Json list = Json::array();
    for (const auto& row : table.rows()) {
        Json item = Json::object();
        for (std::size_t i = 0; i < row.size(); ++i)
            item.set(table.columns()[i], *parse_number(row[i]));
        list.push(item);
    }
    return list;
}

Json as_json(const studies::TuneOptions& options, const studies::TuneResult& result) {
    return Json::object()
        .set("log", options.trace)
        .set("nodes", result.nodes)
        .set("jobs", result.jobs)
        .set("untyped", result.untyped)
        .set("types", result.types)
        .set("load", result.load)
        .set("goal", studies::to_string(options.goal))
        .set("recommended", as_json(studies::to_table(result)));
}

double turnaround(const studies::Tuned& tuned, double ratio) {
    return tuned.grouped[studies::packet::index_of(ratio)].mean_turnaround;
}

// What the goal's ratio costs by the other.
void note_slow_turnaround(const studies::Tuned& tuned) {
    constexpr double kMuch = 1.1;
    const double ours = turnaround(tuned, tuned.recommended),
                 best = turnaround(tuned, tuned.by_turnaround);
    if (ours > kMuch * best)
        note(
            "initialisation {:.0f} s: with {} jobs end after {:.0f} s on average, with {} after "
            "{:.0f} s",
            tuned.initialisation, tuned.recommended, ours, tuned.by_turnaround, best);
}

void note_useless_groups(const studies::Tuned& tuned) {
    constexpr double kLittle = 0.99;
    const auto alone =
        std::ranges::min_element(tuned.alone, {}, &simulator::PacketSummary::mean_turnaround)
            ->mean_turnaround;
    const double best = turnaround(tuned, tuned.by_turnaround);
    if (best > kLittle * alone)
        note(
            "initialisation {:.0f} s: groups do not pay: jobs end after {:.0f} s on average at "
            "best, after {:.0f} s with an initialisation for each",
            tuned.initialisation, best, alone);
}

}  // namespace

int tune_packet(studies::TuneOptions options, bool json) {
    if (options.out.empty()) options.out = "tune-packet";
    options.pool.progress = "tune packet, simulations";
    const Result<studies::TuneResult> result = studies::tune_packet(options);
    if (!result) return fail(result.error());
    for (const std::string& text : result->notes) note("{}", text);
    if (result->untyped > 0)
        note("{} jobs are left out: the log does not say their type by {}", result->untyped,
             to_string(options.types));
    if (json)
        fmt::print("{}\n", as_json(options, *result).dump());
    else
        fmt::print("{} jobs of {} types on {} nodes, load {:.2f}\n{}", result->jobs, result->types,
                   result->nodes, result->load, studies::to_table(*result).text());
    for (const studies::Tuned& tuned : result->tuned) {
        note_slow_turnaround(tuned);
        note_useless_groups(tuned);
    }
    note("wrote {}", result->page);
    return kExitOk;
}

}  // namespace elastic::tools

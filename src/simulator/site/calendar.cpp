// SPDX-License-Identifier: MIT
// sacctmgr has one line for each time that a reservation was changed and for each state that a node
// was in; lines that overlap mean the same nodes once.
#include "simulator/site/calendar.hpp"

#include <optional>

#include "common/hostlist.hpp"
#include "common/text.hpp"
#include "simulator/logs/sacct_values.hpp"
#include "simulator/site/accounting_table.hpp"

namespace elastic::simulator {

namespace {

struct Span {
    Time from = 0, to = kNever;
};

// Nothing for one that never began.
Result<std::optional<Span>> span_of(const AccountingTable& table, std::size_t row) {
    const auto from = table.time(row, "Start", "TimeStart"), to = table.time(row, "End", "TimeEnd");
    if (!from) return from.error();
    if (!to) return to.error();
    if (!*from) return std::optional<Span>();
    const Span span{**from, to->value_or(kNever)};
    return span.from < span.to ? std::optional(span) : std::nullopt;
}

}  // namespace

Result<std::vector<ReservedNodes>> parse_reservations(std::string_view text,
                                                      std::string_view name) {
    const auto table =
        AccountingTable::parse(text, name, {"Name", "NodeName"}, kReservationsCommand);
    if (!table) return table.error();
    std::vector<ReservedNodes> found;
    for (std::size_t row = 0; row < table->size(); ++row) {
        const auto span = span_of(*table, row);
        if (!span) return span.error();
        auto nodes = expand_hostlist(table->cell(row, "NodeName"));
        if (!nodes) return table->wrong(row, "NodeName: {}", nodes.error().message);
        if (*span && !nodes->empty())
            found.push_back({std::string(table->cell(row, "Name")), (*span)->from, (*span)->to,
                             *std::move(nodes), parse_tres(table->cell(row, "TRES")).processors});
    }
    return found;
}

Result<std::vector<DownTime>> parse_events(std::string_view text, std::string_view name) {
    const auto table = AccountingTable::parse(text, name, {"NodeName", "State"}, kEventsCommand);
    if (!table) return table.error();
    std::vector<DownTime> found;
    for (std::size_t row = 0; row < table->size(); ++row) {
        const auto span = span_of(*table, row);
        if (!span) return span.error();
        const std::string_view node = table->cell(row, "NodeName");
        if (*span && !node.empty())
            found.push_back({std::string(node), (*span)->from, (*span)->to});
    }
    return found;
}

}  // namespace elastic::simulator

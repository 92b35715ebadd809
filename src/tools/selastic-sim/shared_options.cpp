// SPDX-License-Identifier: MIT
// Values are checked as text, so that a message can quote what was given.
#include "selastic-sim/shared_options.hpp"

#include <fmt/format.h>

#include <limits>
#include <optional>
#include <utility>

#include "command_parser.hpp"
#include "common/text.hpp"

namespace elastic::tools {

using simulator::Range;

namespace {

std::optional<Range> parse_range(std::string_view text) {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    const auto low = parse_number(text.substr(0, colon));
    const auto high = parse_number(text.substr(colon + 1));
    if (!low || !high || *low > *high) return std::nullopt;
    return Range{*low, *high};
}

}  // namespace

Option add_range(CommandParser sub, const char* name, Range limits, const char* text,
                 std::function<void(Range)> set) {
    const auto read = [set = std::move(set)](const std::string& value) {
        set(*parse_range(value));
    };
    return sub.add_option_function(name, read, text)
        .type_name("LO:HI")
        .check([limits](const std::string& value) -> std::string {
            const auto range = parse_range(value);
            if (range && range->low >= limits.low && range->high <= limits.high) return "";
            return fmt::format("{} is not LO:HI with {} <= LO <= HI <= {}", printable(value),
                               limits.low, limits.high);
        });
}

Option add_bytes(CommandParser sub, const char* name, const char* type, const char* text,
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
    return sub.add_option_function(name, read, text)
        .type_name(type)
        .check([=](const std::string& value) -> std::string {
            if (parse(value)) return "";
            return fmt::format("{} is not {} in bytes, as in {}, up to 1P", printable(value), type,
                               is_range ? "1G:64G" : "10G");
        });
}

Option add_seed(CommandParser sub, std::uint64_t& seed, const char* text) {
    return sub.add_option("--seed", seed, fmt::format("{}{}", text, seed))
        .type_name("S")
        .check([](const std::string& value) -> std::string {
            const auto number = parse_integer(value);
            if (number && *number >= 0) return "";
            return fmt::format("{} is no whole number from 0 to {}", printable(value),
                               std::numeric_limits<std::int64_t>::max());
        });
}

Option add_path(CommandParser sub, const char* name, std::string& path, const std::string& text) {
    return sub.add_option(name, path, text).check([](const std::string& value) -> std::string {
        return value.empty() ? "the name is empty" : "";
    });
}

Option add_nodes(CommandParser sub, std::int64_t& nodes, const char* text) {
    return sub.add_option("--nodes", nodes, text).whole_number(1, kMaxNodes).type_name("N");
}

Option add_procs_per_node(CommandParser sub, std::int64_t& procs, const char* text) {
    return sub.add_option("--procs-per-node", procs, text)
        .whole_number(1, kMaxNodes)
        .type_name("K");
}

Option add_threads(CommandParser sub, const char* names, int& threads, const char* what) {
    constexpr int kMaxThreads = 1024;
    return sub.add_option(names, threads, fmt::format("{} at a time; one a processor", what))
        .whole_number(1, kMaxThreads)
        .type_name("N");
}

void add_machine(CommandParser sub, bool& lenient, simulator::WorkloadOptions& w,
                 const char* group) {
    constexpr std::int64_t kMany = 1'000'000'000;
    sub.add_flag("--lenient", lenient, "Leave malformed lines out instead of stopping")
        .group(group);
    add_nodes(sub, w.nodes, "The machine's; by default as the log says").group(group);
    add_procs_per_node(sub, w.procs_per_node, "Sizes in the log are divided by K and rounded up")
        .group(group);
    sub.add_option("--jobs", w.jobs, "Only so many jobs")
        .whole_number(std::int64_t{1}, kMany)
        .type_name("N")
        .group(group);
    sub.add_option("--skip", w.skip, "Not the first N jobs")
        .whole_number(std::int64_t{0}, kMany)
        .type_name("N")
        .group(group);
}

void add_site(CommandParser sub, simulator::SiteFiles& site, const char* group) {
    add_path(sub, "--slurm-conf", site.slurm_conf,
             "The site's slurm.conf: its nodes, partitions and priorities; by default nodes and\n"
             "partitions are those of the log's NodeList and Partition, if it has them")
        .type_name("FILE")
        .group(group);
    add_path(sub, "--qos", site.qos, "Priorities and limits of QOS, as sacctmgr prints them")
        .type_name("FILE")
        .group(group);
    add_path(sub, "--reservations", site.reservations, "Reservations, as sacctmgr prints them")
        .type_name("FILE")
        .group(group);
    add_path(sub, "--events", site.events,
             "Down times of nodes, as sacctmgr prints its events; inferred: by when nobody used a\n"
             "node for a day while jobs of one node waited")
        .type_name("FILE|inferred")
        .group(group);
    sub.add_option_function(
           "--limits",
           [&site](const std::string& value) {
               site.limits = value == "inferred" ? simulator::LimitSource::inferred
                                                 : simulator::LimitSource::known;
           },
           "Limits besides those of --qos: none (known), or those behind which jobs of the log\n"
           "waited while there were nodes for them (inferred); known")
        .one_of({"known", "inferred"})
        .type_name("known|inferred")
        .group(group);
    sub.add_option_function(
           "--order",
           [&site](const std::string& value) {
               site.order =
                   value == "logged" ? simulator::QueueOrder::logged : simulator::QueueOrder::conf;
           },
           "The queue: by PriorityTier, then by slurm.conf's weights (conf) or by the log's\n"
           "Priority (logged); conf")
        .one_of({"conf", "logged"})
        .type_name("conf|logged")
        .group(group);
}

}  // namespace elastic::tools

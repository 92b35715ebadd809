// SPDX-License-Identifier: MIT
// A measure of trust as text and as JSON: the grade first, then what it was made of.
#include <fmt/format.h>

#include <iterator>

#include "simulator/trust/trust.hpp"

namespace elastic::simulator {
namespace {

std::string optional_number(std::optional<double> value) {
    return value ? fmt::format("{:.2f}", *value) : "-";
}

std::string row(const std::string& name, const Stretch& s) {
    return fmt::format("  {:<24}{:>9}{:>12.2f}{:>12.2f}{:>10}{:>14}{:>12.1f}\n", name, s.jobs,
                       s.logged / 3600, s.simulated / 3600, optional_number(s.ratio()),
                       optional_number(s.correlation), 100 * s.unexplained);
}

std::string stretches(const Trust& trust) {
    std::string text = fmt::format("{:<26}{:>9}{:>12}{:>12}{:>10}{:>14}{:>12}\n", "waits", "jobs",
                                   "log, h", "simulated", "ratio", "correlation", "missing, %");
    text += row("all", trust.all);
    for (const Stretch& s : trust.tenths)
        text += row(fmt::format("from {}", format_duration(s.from)), s);
    return text;
}

std::string shares(const Trust& trust) {
    std::string text;
    const auto put = [&](std::string_view what, double share) {
        fmt::format_to(std::back_inserter(text), "  {:<58}{:>8.1f} %\n", what, 100 * share);
    };
    text += "what the simulation does not show\n";
    put("of the jobs that waited: those that start at once", trust.at_once);
    put("of their waits", trust.unexplained);
    put("  of that while there were nodes for the job", trust.with_room);
    put("    and at most half of the machine was in use", trust.idle);
    put("  of that while the machine was full", trust.full);
    return text;
}

std::string groups(const std::vector<GroupWaits>& groups) {
    if (groups.empty()) return "";
    std::string text = fmt::format("{:<36}{:>12}{:>12}{:>14}{:>14}\n", "groups", "of jobs, %",
                                   "missing, %", "with room, %", "as a limit of");
    for (const GroupWaits& g : groups)
        fmt::format_to(std::back_inserter(text), "  {:<34.34}{:>12.1f}{:>12.1f}{:>14.1f}{:>14}\n",
                       fmt::format("{} {}", to_string(g.field), g.name), 100 * g.of_jobs,
                       100 * g.of_unexplained, 100 * g.with_room,
                       g.job_limit > 0    ? fmt::format("{} jobs", g.job_limit)
                       : g.node_limit > 0 ? fmt::format("{} nodes", g.node_limit)
                                          : "");
    return text;
}

std::string list(std::string_view title, const std::vector<std::string>& items) {
    std::string text;
    for (const std::string& item : items) text += fmt::format("  - {}\n", item);
    return text.empty() ? "" : fmt::format("{}\n{}", title, text);
}

Json optional_json(std::optional<double> value) {
    return value ? Json(*value) : Json();
}

Json to_json(const Stretch& s) {
    return Json::object()
        .set("from", s.from)
        .set("to", s.to)
        .set("jobs", s.jobs)
        .set("logged_wait", s.logged)
        .set("simulated_wait", s.simulated)
        .set("ratio", optional_json(s.ratio()))
        .set("rank_correlation", optional_json(s.correlation))
        .set("unexplained", s.unexplained);
}

Json to_json(const GroupWaits& g) {
    return Json::object()
        .set("field", to_string(g.field))
        .set("name", g.name)
        .set("of_jobs", g.of_jobs)
        .set("of_unexplained", g.of_unexplained)
        .set("with_room", g.with_room)
        .set("node_limit", g.node_limit)
        .set("job_limit", g.job_limit);
}

Json to_json(const std::string& text) {
    return Json(text);
}

template <class Item>
Json array_of(const std::vector<Item>& items) {
    Json json = Json::array();
    for (const Item& item : items) json.push(to_json(item));
    return json;
}

}  // namespace

std::string causes_text(const Trust& trust) {
    return list("why", trust.reasons) + list("what is missing", trust.missing) +
           list("what to do", trust.to_do);
}

std::string to_text(const Trust& trust) {
    std::string text = fmt::format("trust: {}\n", to_string(trust.grade)) + causes_text(trust);
    if (trust.tenths.empty()) return text;
    return text + stretches(trust) + shares(trust) + groups(trust.groups);
}

Json to_json(const Trust& trust) {
    return Json::object()
        .set("grade", to_string(trust.grade))
        .set("reasons", array_of(trust.reasons))
        .set("missing", array_of(trust.missing))
        .set("to_do", array_of(trust.to_do))
        .set("all", to_json(trust.all))
        .set("waited", trust.waited)
        .set("start_at_once", trust.at_once)
        .set("unexplained", trust.unexplained)
        .set("with_room", trust.with_room)
        .set("idle", trust.idle)
        .set("full", trust.full)
        .set("peak_nodes", trust.peak)
        .set("tenths", array_of(trust.tenths))
        .set("groups", array_of(trust.groups));
}

}  // namespace elastic::simulator

// SPDX-License-Identifier: MIT
// Fields are copied by name, so that what a later controller says besides does not become a part of
// an interface that is to be stable.
#include "selastic-serve/documents.hpp"

#include <cmath>

#include "common/hostlist.hpp"

namespace elastic::tools {
namespace {

void copy(const Json& from, Json& to, std::initializer_list<const char*> keys) {
    for (const char* key : keys)
        if (const auto value = from.member(key)) to.set(key, *value);
}

// A time from now becomes one of the clock, to the second.
void copy_time(const Json& from, const char* key, Json& to, const char* name, double now) {
    if (from.has(key)) to.set(name, std::round(now + from.get_number(key)));
}

Json agreement_of(const Json& given, double now) {
    Json agreement = Json::object();
    copy(given, agreement, {"op", "kind", "state", "nodes", "node_list", "beneficiary", "reason"});
    copy_time(given, "deadline", agreement, "deadline", now);
    return agreement;
}

Json step_of(const Json& given, double now) {
    Json step = Json::object();
    copy(given, step, {"number", "nodes", "waits", "gives_back", "next_nodes"});
    copy_time(given, "next_in", step, "next_at", now);
    return step;
}

Json job_of(const Json& given, double now) {
    Json job = Json::object();
    copy(given, job,
         {"job", "array", "user", "name", "class", "state", "nodes", "min", "pref", "max",
          "node_list", "connected", "resizes", "last_reason", "cannot_leave", "would"});
    copy_time(given, "time_left", job, "ends", now);
    copy_time(given, "promised", job, "promised", now);
    if (given.has("agreement")) job.set("agreement", agreement_of(given.get("agreement"), now));
    if (given.has("step")) job.set("step", step_of(given.get("step"), now));
    return job;
}

struct NodeState {
    const char* state = "idle";
    Json jobs = Json::array();
};

using Nodes = std::map<std::string, NodeState>;

void mark(Nodes& nodes, const std::string& list, const char* state) {
    const auto names = expand_hostlist(list);
    if (!names) return;
    for (const std::string& name : *names) nodes[name].state = state;
}

void add_jobs(Nodes& nodes, const Json& jobs) {
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        const Json job = jobs.at(i);
        if (job.get_string("state") != "RUNNING") continue;
        const auto names = expand_hostlist(job.get_string("node_list"));
        if (!names) continue;
        for (const std::string& name : *names) {
            NodeState& node = nodes[name];
            if (std::string_view(node.state) == "idle") node.state = "in use";
            node.jobs.push(job.get_int("job"));
        }
    }
}

}  // namespace

Json jobs_document(const Json& reply, double now) {
    now = reply.get_number("now", now);
    Json document = Json::object().set("version", kApiVersion);
    copy(reply, document, {"policy", "nodes", "idle", "left_out", "supply", "supply_errors"});
    Json list = Json::array();
    const Json jobs = reply.get("jobs");
    for (std::size_t i = 0; i < jobs.size(); ++i) list.push(job_of(jobs.at(i), now));
    return document.set("jobs", list);
}

Json nodes_document(const Json& reply, const Json& jobs) {
    Nodes nodes;
    mark(nodes, reply.get_string("node_list"), "idle");
    mark(nodes, reply.get_string("down"), "down");
    mark(nodes, reply.get_string("unavailable"), "unavailable");
    add_jobs(nodes, jobs.get("jobs"));
    Json list = Json::array();
    for (const auto& [name, node] : nodes)
        list.push(Json::object().set("name", name).set("state", node.state).set("jobs", node.jobs));
    return Json::object().set("version", kApiVersion).set("nodes", list);
}

std::string journal_document(const JournalRing::Part& part) {
    std::string text = fmt::format("{{\"version\":{},\"next\":\"{}\",\"more\":{},\"gap\":{},",
                                   kApiVersion, part.next, part.more, part.gap);
    text += "\"events\":[";
    for (std::size_t i = 0; i < part.events.size(); ++i) text += (i ? "," : "") + part.events[i];
    return text + "]}";
}

}  // namespace elastic::tools

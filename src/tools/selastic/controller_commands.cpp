// SPDX-License-Identifier: MIT
// Whatever a reply lacks is shown as empty, so that a newer controller's can be read, too.
#include "selastic/controller_commands.hpp"

#include <chrono>
#include <cstdio>
#include <thread>

#include "common/text.hpp"
#include "journal/event.hpp"
#include "selastic/asker.hpp"
#include "selastic/output.hpp"

namespace elastic::tools {
namespace {

constexpr int kMostAtOnce = 1000;  // events

std::string number(const Json& object, std::string_view key) {
    return object.has(key) ? fmt::format("{}", object.get_int(key)) : "";
}

std::string agreement_text(const Json& agreement) {
    if (!agreement.is_object()) return "";
    const std::string list = agreement.get_string("node_list");
    std::string text = fmt::format("{} {} {}", agreement.get_string("kind"),
                                   list.empty() ? number(agreement, "nodes") : list,
                                   agreement.get_string("state"));
    if (agreement.get_int("beneficiary") > 0)
        text += fmt::format(" for job {}", agreement.get_int("beneficiary"));
    return text;
}

// What the job's evolution profile says now.
std::string step_text(const Json& step) {
    if (!step.is_object()) return "";
    std::string text =
        fmt::format("step {}, {} nodes", number(step, "number"), number(step, "nodes"));
    if (step.get_bool("waits")) text += ": waits for them";
    if (step.get_bool("gives_back")) text += ": has more";
    if (step.has("next_in"))
        text += fmt::format(", {} in {}", number(step, "next_nodes"),
                            format_duration(step.get_number("next_in")));
    if (const double waited = step.get_number("waited"); waited >= 1)
        text += fmt::format("; waited {} so far", format_duration(waited));
    return text;
}

// How long a resize of the job takes.
std::string rescale_text(const Json& rescale) {
    if (!rescale.is_object()) return "";
    return fmt::format("takes {:.1f} s ({} measured)", rescale.get_number("seconds"),
                       number(rescale, "measured"));
}

// How the job scales by what it has said of its progress.
std::string scaling_text(const Json& scaling) {
    if (!scaling.is_object()) return "";
    const char* model = scaling.has("power") ? "power" : "rho";
    return fmt::format("{}={:.3f} ({} measured)", model, scaling.get_number(model),
                       number(scaling, "measured"));
}

// Why a job keeps a node that is drained or failing.
std::string bound_text(const Json& job) {
    const std::string node = job.get_string("cannot_leave");
    return node.empty() ? "" : fmt::format("cannot leave {}: its batch script", printable(node));
}

// A line for each set of nodes that has a price or a cap.
std::string supply_text(const Json& supply) {
    std::string text;
    for (std::size_t i = 0; i < supply.size(); ++i) {
        const Json one = supply.at(i);
        text += fmt::format(
            "{}: price {}{}\n", printable(one.get_string("name")), one.get_number("price"),
            one.has("cap") ? fmt::format(", at most {} nodes in use", one.get_int("cap")) : "");
    }
    return text;
}

// What of the supply is not in force.
std::string supply_errors_text(const Json& errors) {
    std::string text;
    for (std::size_t i = 0; i < errors.size(); ++i)
        text += fmt::format("supply: {}\n", printable(errors.at(i).get_string("message"), 1000));
    return text;
}

std::string range_text(const Json& job) {
    return fmt::format("{}/{}/{}", number(job, "min"), number(job, "pref"), number(job, "max"));
}

std::string field(std::string_view name, const std::string& value) {
    constexpr std::size_t kMaxValue = 2000;
    return value.empty() ? "" : fmt::format("{:<12} {}\n", name, printable(value, kMaxValue));
}

void print_events(const Json& reply, bool json) {
    const Json events = reply.get("events");
    journal::JobNames names = names_of(reply);
    for (std::size_t i = 0; i < events.size(); ++i) {
        const std::string line =
            json ? events.at(i).dump() + '\n' : event_line(events.at(i), names);
        fmt::print("{}", line);
    }
    flush();
}

protocol::Query journal_query(const JournalFilter& filter) {
    constexpr int kDefaultTail = 100;
    protocol::Query query;
    query.what = protocol::Question::journal;
    query.job = filter.job.number;
    query.task = filter.job.task;
    query.tail = filter.tail > 0 ? filter.tail : kDefaultTail;
    return query;
}

// Asks for what has come since, once a second, until interrupted or the controller says no.
int follow(Asker& asker, const JournalFilter& filter, Json body) {
    using namespace std::chrono_literals;
    protocol::Query query = journal_query(filter);
    query.tail = kMostAtOnce;
    for (;;) {
        query.after = body.get_string("next");
        if (query.after.empty()) return fail(error("the controller is too old for --follow"));
        // After a full answer there may be more at once.
        if (body.get("events").size() < kMostAtOnce) std::this_thread::sleep_for(1s);
        Result<Json> answer = asker.ask(query);
        if (!answer) return asker.give_up(answer.error());
        body = *std::move(answer);
        print_events(body, filter.json);
    }
}

}  // namespace

std::string job_label(const Json& job) {
    return job.has("array") ? job.get_string("array") : number(job, "job");
}

journal::JobNames names_of(const Json& reply) {
    journal::JobNames names;
    const Json given = reply.get("names");
    for (const std::string& job : given.keys())
        if (const auto id = parse_unsigned(job))
            names.learn(static_cast<JobId>(*id), given.get_string(job));
    return names;
}

std::string event_line(const Json& json, journal::JobNames& names) {
    const Result<journal::Event> event = journal::event_from_json(json);
    if (!event) return printable(json.dump(), 1000) + '\n';
    names.learn(*event);
    return fmt::format("{}  {}\n", time_text(event->time), journal::describe(*event, names));
}

int query_and_print(const protocol::Query& query, bool json, std::string (*render)(const Json&)) {
    const auto asker = connect();
    if (!asker) return fail(asker.error());
    const Result<Json> body = (*asker)->ask(query);
    if (!body) return (*asker)->give_up(body.error());
    fmt::print("{}", json ? body->dump() + '\n' : render(*body));
    return kExitOk;
}

JobSize query_size(JobId id) {
    const auto asker = connect();
    if (!asker) return {fail(asker.error())};
    protocol::Query query;
    query.what = protocol::Question::show;
    query.job = id;
    const Result<Json> body = (*asker)->ask(query);
    if (!body) return {(*asker)->give_up(body.error())};
    const Json job = body->get("job");
    if (job.get_string("class", "rigid") == "rigid") {
        note("job {} was not submitted with --elastic", id);
        return {kExitNotElastic};
    }
    return {kExitOk, job.get_string("node_list"), static_cast<int>(job.get_int("nodes")),
            job.get_string("node_aliases")};
}

int show_snapshot(bool json) {
    const auto asker = connect();
    if (!asker) return fail(asker.error());
    protocol::Query query;
    query.what = protocol::Question::snapshot;
    std::string text;
    do {
        const Result<Json> piece = (*asker)->ask(query);
        if (!piece) return (*asker)->give_up(piece.error());
        const std::string more = piece->get_string("text");
        if (more.empty()) return fail(error("the controller's snapshot ends before its end"));
        text += more;
        query.after = piece->get_string("next");
    } while (!query.after.empty());
    const Result<Json> body = Json::parse(text);
    if (!body) return fail(error("the controller's snapshot: {}", body.error().message));
    fmt::print("{}\n", json ? text : body->dump_pretty());
    return kExitOk;
}

int show_journal(const JournalFilter& filter) {
    const auto asker = connect();
    if (!asker) return fail(asker.error());
    const Result<Json> body = (*asker)->ask(journal_query(filter));
    if (!body) return (*asker)->give_up(body.error());
    if (const auto more = body->get_int("left_out"); more > 0)
        fmt::print(stderr,
                   "selastic: up to {} events before these are too many for an answer; see the "
                   "journal's file\n",
                   more);
    print_events(*body, filter.json);
    return filter.follow ? follow(**asker, filter, *body) : kExitOk;
}

std::string render_jobs(const Json& body) {
    std::vector<std::vector<std::string>> rows{{"JOB", "USER", "NAME", "CLASS", "STATE", "NODES",
                                                "MIN/PREF/MAX", "RESIZES", "NODELIST", "NOW"}};
    const Json jobs = body.get("jobs");
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        const Json job = jobs.at(i);
        std::string now = agreement_text(job.get("agreement"));
        const Json step = job.get("step");
        if (step.is_object() && (now.empty() || step.get_bool("waits"))) now = step_text(step);
        if (now.empty() && job.get_string("state") == "RUNNING" && !job.get_bool("connected") &&
            job.get_string("class") != "rigid")
            now = "not connected";
        if (now.empty() && job.has("cannot_leave")) now = bound_text(job);
        if (now.empty()) now = job.get_string("would");
        rows.push_back({job_label(job), job.get_string("user"), job.get_string("name"),
                        job.get_string("class"), job.get_string("state"), number(job, "nodes"),
                        range_text(job), number(job, "resizes"), job.get_string("node_list"), now});
    }
    std::string text = table(rows);
    if (const auto more = body.get_int("left_out"); more > 0)
        text += fmt::format("and {} more jobs, see squeue\n", more);
    text += supply_text(body.get("supply")) + supply_errors_text(body.get("supply_errors"));
    return text + fmt::format("{} nodes, {} idle, policy {}\n", body.get_int("nodes"),
                              body.get_int("idle"), printable(body.get_string("policy")));
}

std::string render_job(const Json& body) {
    const Json job = body.get("job");
    std::string out;
    out += field("job", job_label(job));
    out += field("name", job.get_string("name"));
    out += field("user", job.get_string("user"));
    out += field("class", job.get_string("class"));
    out += field("state", job.get_string("state"));
    if (job.has("nodes"))
        out +=
            field("nodes", fmt::format("{} {}", number(job, "nodes"), job.get_string("node_list")));
    if (job.has("max")) out += field("min/pref/max", range_text(job));
    out += field("connected", job.get_bool("connected") ? "yes" : "no");
    out += field("profile", step_text(job.get("step")));
    out += field("stays", bound_text(job));
    out += field("agreement", agreement_text(job.get("agreement")));
    out += field("observed", job.get_string("would"));
    out += field("resizes", number(job, "resizes"));
    out += field("a resize", rescale_text(job.get("rescale")));
    out += field("scaling", scaling_text(job.get("scaling")));
    if (job.has("time_left"))
        out += field("time left", format_duration(job.get_number("time_left")));
    out += field("last reason", job.get_string("last_reason"));
    if (job.get("annotation").is_object()) out += field("annotation", job.get("annotation").dump());
    const Json history = job.get("history");
    journal::JobNames names = names_of(job);
    if (history.size() > 0) out += "history\n";
    for (std::size_t i = 0; i < history.size(); ++i) out += "  " + event_line(history.at(i), names);
    return out;
}

std::string render_message(const Json& body) {
    return printable(body.get_string("message"), 1024) + '\n';
}

}  // namespace elastic::tools

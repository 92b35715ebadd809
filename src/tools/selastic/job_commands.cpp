// SPDX-License-Identifier: MIT
// Taking part in agreements from a shell, through libelastic's C interface.
//
// A process that has just connected is told by an event where the agreement in flight stands:
// offered, accepted, or applied and to be confirmed.  So every command first waits for that event,
// then does its step, then waits for the controller's word on it.
#include "selastic/job_commands.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <climits>
#include <cmath>
#include <optional>

#include "common/hostlist.hpp"
#include "common/text.hpp"
#include "selastic/controller_commands.hpp"
#include "selastic/output.hpp"

namespace elastic::tools {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kIntroduction =
    2;  // seconds in which a connected controller tells what is in flight
constexpr double kSettling = 600;  // for what the controller's own deadlines bound

// Seconds from now on, or for ever.
class Deadline {
  public:
    explicit Deadline(double seconds) {
        constexpr double kForEver = 1e9;
        if (seconds >= 0 && seconds < kForEver)
            end_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(seconds));
    }
    bool passed() const { return end_ && Clock::now() >= *end_; }
    int left_ms() const {
        if (!end_) return -1;
        const double ms = std::chrono::duration<double, std::milli>(*end_ - Clock::now()).count();
        return static_cast<int>(std::clamp(std::ceil(ms), 0.0, static_cast<double>(INT_MAX)));
    }

  private:
    std::optional<Clock::time_point> end_;
};

bool prints_json = false;

void print(const elastic_event& event) {
    fmt::print("{}", prints_json ? to_json(event).dump() + '\n' : assignments(event));
}

class Handle {
  public:
    Handle() : code_(elastic_open(&handle_, 0)) {}
    ~Handle() { elastic_close(handle_); }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;

    operator elastic_handle*() const { return handle_; }

    // kExitOk if the job is elastic, else the exit code after a message.
    int check() const {
        if (code_ == ELASTIC_OK) return kExitOk;
        if (code_ != ELASTIC_ENOTELASTIC) return fail(Error{elastic_strerror(code_)});
        fail(error("{}; run it in the script of a job that was submitted with --elastic",
                   elastic_detail(handle_)[0] ? elastic_detail(handle_) : elastic_strerror(code_)));
        return kExitNotElastic;
    }

    // The next event that `wanted` picks; nothing when the deadline has passed or no event will
    // ever come.
    template <class Wanted>
    std::optional<elastic_event> next(const Deadline& deadline, Wanted wanted) {
        elastic_event event{};
        for (;;) {
            const int code = elastic_poll(handle_, deadline.left_ms(), &event);
            closed_ = closed_ || code < 0 || event.type == ELASTIC_EVENT_CLOSED;
            if (closed_) return std::nullopt;
            if (code > 0 && wanted(event)) return event;
            if (code == 0 && deadline.passed()) return std::nullopt;
        }
    }

    // The controller wants no more of this job.
    bool closed() const { return closed_; }

    // Nothing came: says why and gives the exit code.
    int explain(const char* what) const {
        if (closed_) {
            fail(error("the job is not elastic any more: {}", elastic_detail(handle_)));
            return kExitNotElastic;
        }
        if (!elastic_connected(handle_))
            return fail(error("the controller is out of reach: {}", elastic_detail(handle_)));
        fail(Error{what});
        return kExitNo;
    }

  private:
    elastic_handle* handle_ = nullptr;
    int code_;
    bool closed_ = false;
};

bool is_offer(const elastic_event& e) {
    return e.type == ELASTIC_EVENT_OFFER_SHRINK || e.type == ELASTIC_EVENT_OFFER_EXPAND;
}

// Tells where an agreement stands.
bool is_stage(const elastic_event& e) {
    return is_offer(e) || e.type == ELASTIC_EVENT_ACCEPTED ||
           (e.type == ELASTIC_EVENT_RESIZED && e.op > 0);
}

// Until the controller is there, and then as long as it needs to say what is in flight.
std::optional<elastic_event> agreement_in_flight(Handle& handle, std::int64_t op,
                                                 const Deadline& deadline) {
    const auto wanted = [op](const elastic_event& e) {
        return is_stage(e) && (op == 0 || e.op == op);
    };
    constexpr double kGlance = 0.1;
    while (!elastic_connected(handle) && !handle.closed() && !deadline.passed())
        if (const auto event = handle.next(Deadline(kGlance), wanted)) return event;
    const int left = deadline.left_ms();
    const double most = left < 0 ? kIntroduction : std::min(kIntroduction, left / 1000.0);
    return handle.next(Deadline(most), wanted);
}

constexpr const char* kNothing = "no such operation is in flight";

// The end of `op`, one way or the other: 0 if `wanted` came.  An offer that comes again has been
// answered with a size that is not possible.
template <class Wanted>
int conclude(Handle& handle, std::int64_t op, const Deadline& deadline, Wanted wanted) {
    const auto event = handle.next(deadline, [&](const elastic_event& e) {
        return wanted(e) || (e.type == ELASTIC_EVENT_ENDED && (e.op == op || e.op == 0)) ||
               (is_offer(e) && e.op == op);
    });
    if (!event) return handle.explain("no answer from the controller in time");
    print(*event);
    if (wanted(*event)) return kExitOk;
    fail(Error{event->reason[0] ? event->reason : "the operation is over"});
    return kExitNo;
}

int refused(const Handle& handle, int code) {
    fail(Error{elastic_detail(handle)[0] ? elastic_detail(handle) : elastic_strerror(code)});
    return code == ELASTIC_ENOTELASTIC ? kExitNotElastic
           : code == ELASTIC_ESTATE    ? kExitNo
                                       : kExitError;
}

std::string_view event_name(int type) {
    switch (type) {
        case ELASTIC_EVENT_OFFER_SHRINK:
        case ELASTIC_EVENT_OFFER_EXPAND:
            return "offer";
        case ELASTIC_EVENT_ACCEPTED:
            return "accepted";
        case ELASTIC_EVENT_RESIZED:
            return "resized";
        case ELASTIC_EVENT_QUEUED:
            return "queued";
        case ELASTIC_EVENT_ENDED:
            return "ended";
        case ELASTIC_EVENT_CLOSED:
            return "closed";
        case ELASTIC_EVENT_STEP:
            return "step";
        case ELASTIC_EVENT_PLANNED:
            return "planned";
        default:
            return "none";
    }
}

std::string_view kind_name(int kind) {
    return kind == ELASTIC_SHRINK ? "shrink" : kind == ELASTIC_EXPAND ? "expand" : "";
}

std::string_view outcome_name(int outcome) {
    constexpr std::array<std::string_view, 5> kNames{"", "declined", "expired", "cancelled",
                                                     "denied"};
    return outcome > 0 && outcome < std::ssize(kNames) ? kNames[static_cast<std::size_t>(outcome)]
                                                       : "";
}

// What depends on the tasks of the old size srun works out anew when it is unset.
constexpr std::array kOfTasks{"SLURM_TASKS_PER_NODE", "SLURM_JOB_CPUS_PER_NODE", "SLURM_NTASKS",
                              "SLURM_NPROCS"};

// Of the job in whose environment this runs.
JobSize present_size() {
    const char* text = std::getenv("SLURM_JOB_ID");
    const auto id = parse_integer(text ? text : "");
    if (id && *id >= 1 && *id <= UINT32_MAX) return query_size(static_cast<JobId>(*id));
    fail(Error{"not inside a job, SLURM_JOB_ID is not set: run it in a job's script"});
    return {kExitNotElastic};
}

}  // namespace

std::string assignments(const elastic_event& event) {
    return fmt::format(
        "ELASTIC_EVENT={}\nELASTIC_KIND={}\nELASTIC_OP={}\nELASTIC_NODES={}\nELASTIC_NODELIST={}\n"
        "ELASTIC_SIZE={}\nELASTIC_DEADLINE={:.0f}\nELASTIC_OUTCOME={}\nELASTIC_REASON={}\n",
        event_name(event.type), kind_name(event.kind), event.op, event.nodes,
        shell_quote(event.node_list), event.size, event.deadline, outcome_name(event.outcome),
        shell_quote(printable(event.reason, 1024)));
}

std::string environment(const JobSize& size) {
    const std::string list = shell_quote(size.node_list);
    const std::string aliases =
        size.node_aliases.empty()
            ? ""
            : fmt::format("export SLURM_NODE_ALIASES={}\n", shell_quote(size.node_aliases));
    return fmt::format(
        "export SLURM_JOB_NODELIST={0} SLURM_NODELIST={0} SLURM_JOB_NUM_NODES={1} "
        "SLURM_NNODES={1}\n{2}unset {3}\n",
        list, size.nodes, aliases, fmt::join(kOfTasks, " "));
}

Json to_json(const elastic_event& event) {
    return Json::object()
        .set("event", event_name(event.type))
        .set("kind", kind_name(event.kind))
        .set("op", event.op)
        .set("nodes", event.nodes)
        .set("node_list", event.node_list)
        .set("size", event.size)
        .set("deadline", event.deadline)
        .set("outcome", outcome_name(event.outcome))
        .set("reason", printable(event.reason, 1024));
}

Json environment_json(const JobSize& size) {
    Json set = Json::object();
    for (const char* name : {"SLURM_JOB_NODELIST", "SLURM_NODELIST"}) set.set(name, size.node_list);
    for (const char* name : {"SLURM_JOB_NUM_NODES", "SLURM_NNODES"})
        set.set(name, std::to_string(size.nodes));
    if (!size.node_aliases.empty()) set.set("SLURM_NODE_ALIASES", size.node_aliases);
    Json unset = Json::array();
    for (const char* name : kOfTasks) unset.push(name);
    return Json::object().set("set", set).set("unset", unset);
}

void print_json() {
    prints_json = true;
}

int wait_for_event(double timeout, std::int64_t after) {
    Handle handle;
    if (const int code = handle.check(); code != kExitOk) return code;
    // What is in flight comes right behind the welcome; `--timeout 0` is to see it too.
    constexpr double kMoment = 0.2;
    const Deadline deadline(timeout < 0 ? timeout : std::max(timeout, kMoment));
    const auto event = handle.next(deadline, [after](const elastic_event& e) {
        const bool is_known =
            e.op > 0 && e.op <= after && (is_offer(e) || e.type == ELASTIC_EVENT_ACCEPTED);
        return e.type != ELASTIC_EVENT_NONE && e.type != ELASTIC_EVENT_QUEUED && !is_known;
    });
    if (event) {
        print(*event);
        return kExitOk;
    }
    return handle.closed() ? handle.explain("") : kExitNo;
}

int accept_offer(std::int64_t op, int size, double timeout) {
    Handle handle;
    if (const int code = handle.check(); code != kExitOk) return code;
    const Deadline deadline(timeout);
    const auto event = agreement_in_flight(handle, op, deadline);
    if (!event) return handle.explain(kNothing);
    if (!is_offer(*event)) {  // an earlier process has accepted it
        print(*event);
        return kExitOk;
    }
    const int code =
        size > 0 ? elastic_accept_size(handle, event->op, size) : elastic_accept(handle, event->op);
    if (code < 0) return refused(handle, code);
    return conclude(handle, event->op, deadline, [op = event->op](const elastic_event& e) {
        return e.op == op && (e.type == ELASTIC_EVENT_ACCEPTED || e.type == ELASTIC_EVENT_RESIZED);
    });
}

int decline_offer(std::int64_t op, const std::string& reason, double timeout) {
    Handle handle;
    if (const int code = handle.check(); code != kExitOk) return code;
    const Deadline deadline(timeout);
    const auto event = agreement_in_flight(handle, op, deadline);
    if (!event) return handle.explain(kNothing);
    const int code = elastic_decline(handle, event->op, reason.c_str());
    if (code < 0) return refused(handle, code);
    return conclude(handle, event->op, deadline, [op = event->op](const elastic_event& e) {
        return e.type == ELASTIC_EVENT_ENDED && e.op == op && e.outcome == ELASTIC_DECLINED;
    });
}

int report_done(std::int64_t op, double timeout) {
    Handle handle;
    if (const int code = handle.check(); code != kExitOk) return code;
    const Deadline deadline(timeout);
    auto event = agreement_in_flight(handle, op, deadline);
    if (!event) return handle.explain(kNothing);
    const std::int64_t mine = event->op;
    const auto is_applied = [mine](const elastic_event& e) {
        return e.type == ELASTIC_EVENT_RESIZED && e.op == mine;
    };
    const bool expands = event->kind == ELASTIC_EXPAND;
    if (expands && event->type == ELASTIC_EVENT_ACCEPTED) {
        const int code = conclude(handle, mine, deadline, is_applied);
        if (code != kExitOk) return code;
    } else if (event->type == ELASTIC_EVENT_RESIZED) {
        print(*event);
        if (!expands) return kExitOk;
    }
    if (const int code = elastic_done(handle, mine); code < 0) return refused(handle, code);
    return expands ? kExitOk : conclude(handle, mine, deadline, is_applied);
}

int request_nodes(int nodes, int least, double timeout) {
    Handle handle;
    if (const int code = handle.check(); code != kExitOk) return code;
    const Deadline deadline(timeout + kSettling);
    if (const int code = elastic_request(handle, nodes, least, timeout); code < 0)
        return refused(handle, code);
    const auto event = handle.next(deadline, [](const elastic_event& e) {
        return e.kind == ELASTIC_EXPAND &&
               (e.type == ELASTIC_EVENT_RESIZED || e.type == ELASTIC_EVENT_ENDED);
    });
    if (!event) return handle.explain("no answer from the controller in time");
    print(*event);
    if (event->type == ELASTIC_EVENT_RESIZED) {
        if (event->op > 0) elastic_done(handle, event->op);
        return kExitOk;
    }
    fail(Error{event->reason});
    return kExitNo;
}

int release_nodes(const std::string& what, double timeout) {
    Handle handle;
    if (const int code = handle.check(); code != kExitOk) return code;
    const auto count = parse_integer(what);
    if (count && (*count < 1 || *count > INT_MAX))
        return fail(error("{} is no number of nodes", what));
    const int code = count ? elastic_release(handle, static_cast<int>(*count), nullptr)
                           : elastic_release(handle, 0, what.c_str());
    if (code < 0) return refused(handle, code);
    const auto event = handle.next(Deadline(timeout), [](const elastic_event& e) {
        return e.kind == ELASTIC_SHRINK &&
               (e.type == ELASTIC_EVENT_RESIZED || e.type == ELASTIC_EVENT_ENDED);
    });
    if (!event) return handle.explain("no answer from the controller in time");
    print(*event);
    if (event->type == ELASTIC_EVENT_RESIZED) return kExitOk;
    fail(Error{event->reason});
    return kExitNo;
}

// Asks as a tool does: taking the job's connection for this would take it away from the application
// that has it.
int plan_step(int nodes, double in, double timeout) {
    Handle handle;
    if (const int code = handle.check(); code != kExitOk) return code;
    if (const int code = elastic_step(handle, nodes, in); code != ELASTIC_OK)
        return refused(handle, code);
    constexpr double kAnswer = 30;
    const auto is_answer = [](const elastic_event& e) {
        return e.type == ELASTIC_EVENT_PLANNED ||
               (e.type == ELASTIC_EVENT_ENDED && e.op == 0 && e.kind == 0);
    };
    const auto answer = handle.next(Deadline(kAnswer), is_answer);
    if (!answer) return handle.explain("no answer from the controller in time");
    const int size = answer->size;
    if (answer->type == ELASTIC_EVENT_ENDED || in > 0 || timeout <= 0 ||
        size == elastic_nodes(handle)) {
        print(*answer);
        if (answer->type != ELASTIC_EVENT_ENDED) return kExitOk;
        fail(Error{answer->reason});
        return kExitNo;
    }
    const auto change = handle.next(Deadline(timeout), is_stage);
    if (!change) return handle.explain("the nodes of the step have not come or gone in time");
    print(*change);
    return kExitOk;
}

int print_environment() {
    const JobSize size = present_size();
    if (size.code == kExitOk)
        fmt::print("{}", prints_json ? environment_json(size).dump() + '\n' : environment(size));
    return size.code;
}

int print_nodes(const std::string& node_list) {
    const JobSize size = node_list.empty() ? present_size() : JobSize{kExitOk, node_list};
    if (size.code != kExitOk) return size.code;
    const auto names = expand_hostlist(size.node_list);
    if (!names) return fail(error("'{}': {}", size.node_list, names.error().message));
    Json list = Json::array();
    for (const std::string& name : *names) list.push(name);
    if (prints_json)
        fmt::print("{}\n", Json::object().set("nodes", list).dump());
    else
        fmt::print("{}\n", fmt::join(*names, "\n"));
    return kExitOk;
}

}  // namespace elastic::tools

// SPDX-License-Identifier: MIT
// A small model of the cluster that believes nothing.
//
// It follows every node by name and every agreement by its operation id.  After a violation it goes
// on with what the journal says, so that one mistake gives one report and not a hundred.
//
// Always holds: a node's users and the jobs' node sets say the same, except where a job's list
// could not be read.
#include "journal/replay.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "common/hostlist.hpp"

namespace elastic::journal {
namespace {

constexpr std::array<std::string_view, 19> kRules{
    "malformed",      "time_order",   "no_controller", "too_many_nodes", "node_twice",
    "node_list",      "out_of_range", "bad_range",     "not_submitted",  "not_running",
    "starts_twice",   "after_end",    "wrong_size",    "not_held",       "op_repeats",
    "two_agreements", "no_agreement", "wrong_stage",   "vanished"};
static_assert(kRules.size() == static_cast<std::size_t>(Rule::vanished) + 1);

using NodeId = int;

enum class Stage { offered, accepted, released };

struct Agreement {
    OpId op = 0;
    std::optional<ResizeKind> kind = {};  // nothing if its beginning was lost
    Stage stage = Stage::offered;

    bool may_be(ResizeKind other) const { return !kind || *kind == other; }
    bool uncertain = false;  // the controller died since, and may have forgotten it
    int most = 0;            // nodes that may come or go; 0: not known
};

// A request neither granted nor denied.
struct Wish {
    int most = 0;  // nodes; 0: not known
    bool is_lowered = false;
};

struct Job {
    enum class State { pending, running, ended } state = State::pending;
    int min = 0, max = 0;  // max 0: not known
    bool shared = false;
    bool met_restart = false;  // a controller started while it ran
    std::set<NodeId> nodes;
    std::optional<Agreement> agreement;
    std::map<OpId, Wish> waiting;
    OpId unready = 0;  // an expansion applied but not reported in use
};

// Of the events that follow a Controller's `resume`.
bool says_what_there_is(const Event& event) {
    return std::holds_alternative<Submit>(event.what) ||
           std::holds_alternative<Start>(event.what) || std::holds_alternative<Supply>(event.what);
}

struct Node {
    JobId owner = 0;  // the job that has the whole node; 0: none
    int sharers = 0;
    bool used() const { return owner != 0 || sharers > 0; }
};

}  // namespace

struct Replay::State {
    explicit State(ReplayOptions o) : options(o) {}

    ReplayOptions options;
    std::vector<Violation> violations;
    Summary summary;
    std::map<JobId, Job> jobs;
    std::unordered_map<std::string, NodeId> ids;
    std::vector<std::string> names;  // by id
    std::vector<Node> nodes;         // by id
    int in_use = 0;
    bool saw_controller = false;
    std::unordered_set<OpId> ops;
    std::optional<Time> last_time;
    std::size_t line = 0;
    std::optional<Malformed> torn;  // the line before, which a writer that resumes has left so
    bool resuming = false;          // what there is is being said anew
    std::unordered_set<JobId> ran;  // when the journal resumed, and not said anew yet

    template <class... Args>
    void report(Rule rule, JobId job, fmt::format_string<Args...> format, Args&&... args) {
        violations.push_back({line, rule, job, fmt::format(format, std::forward<Args>(args)...)});
    }

    // Nothing is wrong with a job that may have been submitted before the journal begins.
    void report_unknown(JobId id, std::string_view event) {
        if (!options.lacks_beginning)
            report(Rule::not_submitted, id, "{} of a job that was never submitted", event);
    }

    // The job if it is running; null after a report.
    Job* running(JobId id, std::string_view event) {
        const auto it = jobs.find(id);
        if (it == jobs.end()) {
            report_unknown(id, event);
            return nullptr;
        }
        if (it->second.state == Job::State::running) return &it->second;
        const bool ended = it->second.state == Job::State::ended;
        report(ended ? Rule::after_end : Rule::not_running, id, "{} of a job that {}", event,
               ended ? "has ended" : "has not started");
        return nullptr;
    }

    NodeId id_of(const std::string& name) {
        const auto [it, is_new] = ids.try_emplace(name, static_cast<NodeId>(names.size()));
        if (is_new) {
            names.push_back(name);
            nodes.emplace_back();
        }
        return it->second;
    }

    // The distinct nodes of a list that is said to have `count`.
    std::set<NodeId> parse_nodes(JobId job, const std::string& text, int count) {
        std::set<NodeId> result;
        const Result<std::vector<std::string>> list = expand_hostlist(text);
        if (!list) {
            report(Rule::node_list, job, "node list: {}", list.error().message);
            return result;
        }
        for (const std::string& name : *list) result.insert(id_of(name));
        if (std::ssize(result) != count)
            report(Rule::node_list, job, "\"{}\" is {} different nodes and not {}", text,
                   result.size(), count);
        return result;
    }

    std::string list_of(const std::vector<NodeId>& some) const {
        std::vector<std::string> result;
        for (const NodeId id : some) result.push_back(names[static_cast<std::size_t>(id)]);
        return compress_hostlist(std::move(result));
    }

    void take(JobId id, Job& job, const std::set<NodeId>& added) {
        std::map<JobId, std::vector<NodeId>> clashes;  // by the other job, 0: sharers
        for (const NodeId n : added) {
            if (!job.nodes.insert(n).second) {
                report(Rule::node_twice, id, "gets {}, which it has already",
                       names[static_cast<std::size_t>(n)]);
                continue;
            }
            Node& node = nodes[static_cast<std::size_t>(n)];
            if (node.owner != 0 || (node.sharers > 0 && !job.shared))
                clashes[node.owner].push_back(n);
            if (!node.used()) ++in_use;
            if (job.shared)
                ++node.sharers;
            else
                node.owner = id;
        }
        for (const auto& [other, where] : clashes)
            report(Rule::node_twice, id, "gets {}, which {} in use by {}", list_of(where),
                   where.size() == 1 ? "is" : "are",
                   other ? fmt::format("job {}", other) : "jobs that share nodes");
        count_in_use(id);
    }

    void count_in_use(JobId id) {
        summary.peak_nodes = std::max(summary.peak_nodes, in_use);
        if (saw_controller && in_use > summary.nodes)
            report(Rule::too_many_nodes, id, "{} nodes in use, but only {} exist", in_use,
                   summary.nodes);
    }

    void give(JobId id, Job& job, const std::set<NodeId>& removed) {
        std::vector<NodeId> foreign;
        for (const NodeId n : removed) {
            if (job.nodes.erase(n) == 0) {
                foreign.push_back(n);
                continue;
            }
            Node& node = nodes[static_cast<std::size_t>(n)];
            // After a clash the node may belong to the later job alone.
            if (job.shared && node.sharers > 0)
                in_use -= --node.sharers == 0 && node.owner == 0;
            else if (node.owner == id) {
                node.owner = 0;
                in_use -= node.sharers == 0;
            }
        }
        if (!foreign.empty())
            report(Rule::not_held, id, "{} {} a job that does not hold {}", list_of(foreign),
                   foreign.size() == 1 ? "leaves" : "leave", foreign.size() == 1 ? "it" : "them");
    }

    void check_range(JobId id, const Job& job, int size) {
        if (job.max != 0 && (size < job.min || size > job.max))
            report(Rule::out_of_range, id, "{} nodes is not between its min {} and max {}", size,
                   job.min, job.max);
    }

    void use_op(JobId id, OpId op) {
        if (!ops.insert(op).second)
            report(Rule::op_repeats, id, "operation {} was used before", op);
    }

    void open(JobId id, Job& job, Agreement agreement) {
        if (job.agreement && !job.agreement->uncertain)
            report(Rule::two_agreements, id, "operation {} begins while {} is in flight",
                   agreement.op, job.agreement->op);
        job.agreement = agreement;
    }

    // The agreement `op` of a running job; null after a report.  One whose beginning was lost in a
    // crash begins here.
    Agreement* in_flight(JobId id, OpId op, std::string_view event) {
        Job* job = running(id, event);
        if (!job) return nullptr;
        if (job->agreement && job->agreement->op == op) {
            job->agreement->uncertain = false;
            return &*job->agreement;
        }
        if (job->met_restart && !ops.contains(op)) {
            ops.insert(op);
            open(id, *job, {.op = op, .stage = Stage::accepted});
            return &*job->agreement;
        }
        report(Rule::no_agreement, id, "{} of operation {}, which is not in flight", event, op);
        return nullptr;
    }

    // It is over without effect.
    void close(JobId id, OpId op, std::string_view event) {
        Job* job = running(id, event);
        if (!job || job->waiting.erase(op) > 0) return;
        if (job->unready == op)
            job->unready = 0;
        else if (in_flight(id, op, event))
            job->agreement.reset();
    }

    void begin_line(std::size_t number, Time time) {
        line = number;
        if (last_time && time < *last_time - options.clock_tolerance)
            report(Rule::time_order, 0, "time goes back by {:.3f} s", *last_time - time);
        last_time = std::max(last_time.value_or(time), time);
    }

    // The line before was torn, or it was no event at all.
    void judge_torn(const Event* next) {
        if (torn && !(next && is_resume(*next))) {
            line = torn->number;
            report(Rule::malformed, 0, "{}", torn->message);
        }
        torn.reset();
    }

    // Nobody knows what has happened meanwhile.
    void forget() {
        for (auto& [id, job] : jobs) {
            if (job.state == Job::State::running) ran.insert(id);
            job = Job{};
            job.state = Job::State::ended;
        }
        options.lacks_beginning = false;
        nodes.assign(nodes.size(), Node{});
        ops.clear();
        in_use = 0;
        resuming = true;
    }

    void on(const Controller& e) {
        summary.nodes = e.nodes;
        if (e.what == Controller::What::resume) {
            saw_controller = true;
            return forget();
        }
        const bool restart = saw_controller && e.what == Controller::What::start;
        saw_controller = true;
        if (!restart) return;
        for (auto& [id, job] : jobs) {
            if (job.state != Job::State::running) continue;
            job.met_restart = true;
            if (job.agreement) job.agreement->uncertain = true;
        }
    }

    void on(const Supply&) {}
    void on(const Would&) {}

    void on(const Submit& e) {
        const bool rigid = e.job_class == "rigid";
        const bool unbounded = rigid && e.max == 0;
        if (!(1 <= e.min && e.min <= e.pref && (e.pref <= e.max || unbounded)))
            report(Rule::bad_range, e.job, "not 1 <= min {} <= pref {} <= max {}", e.min, e.pref,
                   e.max);
        const auto [it, is_new] = jobs.try_emplace(e.job);
        summary.jobs += is_new;
        // Slurm can requeue a job that has ended, whatever its state was.
        if (it->second.state == Job::State::ended) it->second = Job{};
        // Without --nodes Slurm chooses the size of a rigid job, and scontrol may change it.
        it->second.min = rigid ? 0 : e.min;
        it->second.max = rigid ? 0 : e.max;
    }

    void on(const Start& e) {
        const auto it = jobs.find(e.job);
        if (it == jobs.end())
            report_unknown(e.job, "start");
        else if (it->second.state == Job::State::ended)
            report(Rule::after_end, e.job, "start of a job that has ended");
        if (!saw_controller && !options.lacks_beginning)
            report(Rule::no_controller, e.job,
                   "start before the controller said how many nodes there are");
        Job& job = jobs[e.job];
        const std::set<NodeId> wanted = parse_nodes(e.job, e.nodes, e.count);
        if (job.state == Job::State::running) {
            // A controller that comes back may say what runs.
            if (!job.met_restart || wanted != job.nodes)
                report(Rule::starts_twice, e.job, "start of a job that runs already");
            return;
        }
        summary.started += ran.erase(e.job) == 0;
        job.state = Job::State::running;
        job.shared = e.shared;
        job.met_restart = resuming;
        check_range(e.job, job, e.count);
        take(e.job, job, wanted);
    }

    void on(const Offer& e) {
        Job* job = running(e.job, "offer");
        if (!job) return;
        use_op(e.job, e.op);
        open(e.job, *job, {e.op, e.kind, Stage::offered, false, e.count});
    }

    void on(const Accept& e) {
        const auto job = jobs.find(e.job);
        if (job != jobs.end() && e.count > 0)
            if (const auto wish = job->second.waiting.find(e.op);
                wish != job->second.waiting.end()) {
                wish->second.is_lowered = true;
                return lower(e, wish->second.most);
            }
        Agreement* agreement = in_flight(e.job, e.op, "accept");
        if (!agreement) return;
        if (agreement->stage == Stage::released)
            report(Rule::wrong_stage, e.job, "operation {} is accepted after its release", e.op);
        agreement->stage = Stage::accepted;
        if (e.count > 0) lower(e, agreement->most);
    }

    void lower(const Accept& e, int& most) {
        if (most > 0 && e.count > most)
            report(Rule::wrong_size, e.job, "accepts {} nodes of operation {}, which is of {}",
                   e.count, e.op, most);
        most = e.count;
    }

    void on(const Decline& e) { close(e.job, e.op, "decline"); }
    void on(const Expire& e) { close(e.job, e.op, "expire"); }
    void on(const Cancel& e) { close(e.job, e.op, "cancel"); }

    void on(const Release& e) {
        if (!ops.contains(e.op)) {  // the job gives nodes back by itself
            Job* job = running(e.job, "release");
            if (!job) return;
            ops.insert(e.op);
            open(e.job, *job, {.op = e.op, .kind = ResizeKind::shrink, .stage = Stage::released});
            return;
        }
        Agreement* agreement = in_flight(e.job, e.op, "release");
        if (!agreement) return;
        if (!agreement->may_be(ResizeKind::shrink) || agreement->stage != Stage::accepted)
            report(Rule::wrong_stage, e.job, "release of operation {}, which is no accepted shrink",
                   e.op);
        agreement->stage = Stage::released;
    }

    void on(const Resize& e) {
        Job* job = running(e.job, "resize");
        if (!job) return;
        if (e.op != 0) apply_agreement(e, *job);
        const int held = static_cast<int>(job->nodes.size());
        const int change = e.kind == ResizeKind::shrink ? e.from - e.to : e.to - e.from;
        if (e.from != held)
            report(Rule::wrong_size, e.job, "resize from {} nodes of a job that holds {}", e.from,
                   held);
        if (change < 0)
            report(Rule::wrong_size, e.job, "{} from {} to {} nodes", to_string(e.kind), e.from,
                   e.to);
        const std::set<NodeId> changed = parse_nodes(e.job, e.nodes, std::max(change, 0));
        if (e.kind == ResizeKind::shrink) {
            ++summary.shrinks;
            give(e.job, *job, changed);
        } else {
            ++summary.expands;
            take(e.job, *job, changed);
        }
        // Nobody keeps a node from failing.
        if (e.op != 0 || e.kind == ResizeKind::expand) check_range(e.job, *job, e.to);
    }

    void apply_agreement(const Resize& e, Job& job) {
        const Agreement* agreement = in_flight(e.job, e.op, "resize");
        if (!agreement) return;
        // A shrink may be enforced at its deadline whatever the job has answered.
        if (!agreement->may_be(e.kind) ||
            (e.kind == ResizeKind::expand && agreement->stage == Stage::offered))
            report(Rule::wrong_stage, e.job, "{} by operation {}, which is no accepted {}",
                   to_string(e.kind), e.op, to_string(e.kind));
        const bool is_bounded = e.kind == ResizeKind::expand && agreement->most > 0;
        if (is_bounded && e.to - e.from > agreement->most)
            report(Rule::wrong_size, e.job, "{} more nodes by operation {}, which is of {}",
                   e.to - e.from, e.op, agreement->most);
        job.unready = e.kind == ResizeKind::expand ? e.op : 0;
        job.agreement.reset();
    }

    void on(const Ready& e) {
        Job* job = running(e.job, "ready");
        if (!job) return;
        if (job->unready != e.op && !job->met_restart)
            report(Rule::no_agreement, e.job,
                   "ready of operation {}, which has not just expanded the job", e.op);
        job->unready = 0;
    }

    void on(const Request& e) {
        Job* job = running(e.job, "request");
        if (!job) return;
        use_op(e.job, e.op);
        job->waiting.emplace(e.op, Wish{e.want, false});
    }

    // Takes `op` off the waiting requests.
    std::optional<Wish> answer_request(JobId id, OpId op, std::string_view event) {
        Job* job = running(id, event);
        if (!job) return {};
        const bool lost_in_crash = job->met_restart && ops.insert(op).second;
        if (auto wish = job->waiting.extract(op)) return wish.mapped();
        if (lost_in_crash) return Wish{};
        report(Rule::no_agreement, id, "{} of operation {}, which is no waiting request", event,
               op);
        return {};
    }

    void on(const Grant& e) {
        const auto wish = answer_request(e.job, e.op, "grant");
        if (!wish) return;
        const int given = e.count > 0 ? e.count : e.want;
        if (wish->is_lowered && given > wish->most)
            report(Rule::wrong_size, e.job, "{} nodes granted to operation {}, which is of {}",
                   given, e.op, wish->most);
        open(e.job, jobs[e.job], {e.op, e.kind, Stage::accepted, false, given});
    }

    void on(const Deny& e) { answer_request(e.job, e.op, "deny"); }

    void on(const Step& e) {
        Job* job = running(e.job, "step");
        if (!job) return;
        if (const auto held = std::ssize(job->nodes); held != e.held)
            report(Rule::wrong_size, e.job, "step of a job with {} nodes that holds {}", e.held,
                   held);
    }

    void on(const Initialise& e) {
        Job* job = running(e.job, "initialise");
        const auto names = expand_hostlist(e.nodes);
        if (!job || !names) return;
        for (const std::string& name : *names)
            if (!job->nodes.contains(id_of(name)))
                report(Rule::not_held, e.job, "initialises {}, which it does not hold", name);
    }

    void on(const End& e) {
        const auto it = jobs.find(e.job);
        if (it == jobs.end()) return report_unknown(e.job, "end");
        Job& job = it->second;
        if (job.state == Job::State::ended)
            return report(Rule::after_end, e.job, "end of a job that has ended");
        if (std::ssize(job.nodes) != e.count)
            report(Rule::wrong_size, e.job, "ends with {} nodes, but holds {}", e.count,
                   job.nodes.size());
        summary.completed += e.state == "COMPLETED";
        give(e.job, job, std::set<NodeId>(job.nodes));
        const int min = job.min, max = job.max;
        job = Job{};
        job.min = min;
        job.max = max;
        if (e.state != "REQUEUED" && e.state != "SUSPENDED") job.state = Job::State::ended;
    }
};

bool is_beginning(const Event& event) {
    const auto* controller = std::get_if<Controller>(&event.what);
    return controller && (controller->what == Controller::What::start || is_resume(event));
}

std::string_view to_string(Rule rule) {
    return kRules[static_cast<std::size_t>(rule)];
}

Replay::Replay(ReplayOptions options) : state_(std::make_unique<State>(options)) {}
Replay::~Replay() = default;

void Replay::feed(std::size_t line, const Event& event) {
    state_->judge_torn(&event);
    state_->begin_line(line, event.time);
    state_->resuming &= says_what_there_is(event);
    std::visit([this](const auto& e) { state_->on(e); }, event.what);
}

void Replay::feed(const Malformed& malformed) {
    state_->judge_torn(nullptr);
    state_->torn = malformed;
}

void Replay::finish() {
    state_->judge_torn(nullptr);
    state_->line = 0;
    for (const auto& [id, job] : state_->jobs) {
        if (job.state == Job::State::ended) continue;
        if (!state_->options.may_still_run)
            state_->report(Rule::vanished, id, "{}, but never ends",
                           job.state == Job::State::running ? "starts" : "is submitted");
    }
}

const std::vector<Violation>& Replay::violations() const {
    return state_->violations;
}

Summary Replay::summary() const {
    Summary result = state_->summary;
    for (const auto& [id, job] : state_->jobs) result.running += job.state == Job::State::running;
    return result;
}

std::vector<Held> Replay::held() const {
    std::vector<Held> result;
    for (const auto& [id, job] : state_->jobs)
        if (job.state == Job::State::running)
            result.push_back({id, state_->list_of({job.nodes.begin(), job.nodes.end()}),
                              static_cast<int>(job.nodes.size())});
    return result;
}

Verdict check(const Journal& journal, ReplayOptions options) {
    Replay replay(options);
    auto malformed = journal.malformed.begin();
    for (const Line& line : journal.lines) {
        for (; malformed != journal.malformed.end() && malformed->number < line.number; ++malformed)
            replay.feed(*malformed);
        replay.feed(line.number, line.event);
    }
    for (; malformed != journal.malformed.end(); ++malformed) replay.feed(*malformed);
    replay.finish();
    return {replay.summary(), replay.violations()};
}

Json to_json(const Verdict& verdict) {
    Json violations = Json::array();
    for (const Violation& v : verdict.violations) {
        Json one = Json::object();
        one.set("line", static_cast<std::int64_t>(v.line)).set("rule", to_string(v.rule));
        if (v.job) one.set("job", v.job);
        violations.push(one.set("message", v.message));
    }
    const Summary& s = verdict.summary;
    return Json::object()
        .set("nodes", s.nodes)
        .set("jobs", s.jobs)
        .set("started", s.started)
        .set("completed", s.completed)
        .set("shrinks", s.shrinks)
        .set("expands", s.expands)
        .set("running", s.running)
        .set("peak_nodes", s.peak_nodes)
        .set("violations", violations);
}

}  // namespace elastic::journal

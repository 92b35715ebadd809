// SPDX-License-Identifier: MIT
// Answers come from the controller's own table, not from Slurm's records: no lock is taken, so a
// tool in a loop cannot slow slurmctld down (operators alone can make it drain nodes, with its
// lock).  What an answer costs the scheduler's thread is limited, and it is known beforehand who
// may have it.
#include "controller/queries.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_set>

#include "common/hostlist.hpp"
#include "common/log.hpp"
#include "common/text.hpp"
#include "core/model/departure.hpp"
#include "journal/journal.hpp"

namespace elastic::controller {

using protocol::FailureCode;
using protocol::Question;

namespace {

// A reply has its limit, see doc/protocol.md.  What does not fit is left out, and the reply says
// how much that is.
constexpr std::size_t kMaxJobs = 1500;
constexpr std::size_t kMaxJobsText = 600u << 10;
constexpr std::size_t kMaxNameListed = 64;
constexpr std::size_t kMaxEvents = 2000;
constexpr std::size_t kSnapshotPiece = 256u << 10;  // fits whatever its characters are
constexpr std::size_t kMaxHistory = 1000;           // events of a job
// Of the journal: what is read in some milliseconds, and leaves room for the job's annotation.
constexpr journal::Limits kExcerpt{.read = 4u << 20, .text = 400u << 10};
constexpr std::string_view kOperators =
    "root, SlurmUser and those with AdminLevel=Operator (sacctmgr) are";

Json to_json(const std::vector<journal::Event>& events) {
    Json list = Json::array();
    for (const journal::Event& event : events) list.push(journal::to_json(event));
    return list;
}

const char* state_name(const Job& job) {
    if (job.running) return "RUNNING";
    return job.suspended ? "SUSPENDED" : "PENDING";
}

Json describe(const Agreement& agreement, Time now) {
    Json json = Json::object()
                    .set("op", agreement.op)
                    .set("kind", to_string(agreement.kind))
                    .set("state", to_string(agreement.state))
                    .set("nodes", agreement.nodes)
                    .set("node_list", agreement.node_list)
                    .set("beneficiary", agreement.beneficiary)
                    .set("reason", agreement.reason);
    if (agreement.deadline < kNever) json.set("deadline", std::max(0.0, agreement.deadline - now));
    return json;
}

// Where the job stands in its evolution profile; seconds.
Json describe(const core::Evolution& evolution, int held, Time now) {
    Json json = Json::object()
                    .set("number", evolution.number())
                    .set("nodes", evolution.wanted())
                    .set("waits", evolution.waits())
                    .set("gives_back", evolution.has_excess(held))
                    .set("waited", evolution.waited(now));
    if (evolution.next_nodes() > 0) json.set("next_nodes", evolution.next_nodes());
    if (const Time next = evolution.next_at(); next < kNever)
        json.set("next_in", std::max(0.0, next - now));
    return json;
}

Json describe(const Scaling& scaling, const core::Annotation& annotation) {
    const core::SpeedupModel model = scaling.model(annotation.speedup);
    const bool is_power = model.kind == core::SpeedupModel::Kind::power;
    return Json::object()
        .set(is_power ? "power" : "rho", model.a)
        .set("measured", scaling.measured());
}

Json describe(const Job& job, const std::string& user, const Agreement* agreement,
              const std::string& would, Time now) {
    Json json = Json::object()
                    .set("job", job.id)
                    .set("user", user)
                    .set("name", job.name)
                    .set("class", job.elastic ? core::class_name(job.annotation) : "rigid")
                    .set("state", state_name(job))
                    .set("nodes", job.nodes);
    if (!job.array.empty()) json.set("array", job.array);
    if (job.elastic)
        json.set("min", job.annotation.min)
            .set("pref", job.annotation.pref)
            .set("max", job.annotation.max);
    json.set("node_list", job.node_list)
        .set("connected", job.participation.connection != 0)
        .set("resizes", job.history.resizes)
        .set("last_reason", job.last_reason);
    if (!job.node_aliases.empty()) json.set("node_aliases", job.node_aliases);
    if (!would.empty()) json.set("would", would);
    if (job.rescale.count() > 0)
        json.set("rescale", Json::object()
                                .set("seconds", job.rescale.seconds())
                                .set("measured", job.rescale.count()));
    if (job.running && job.elastic && job.believed < 1) json.set("believed", job.believed);
    if (job.scaling.measured() > 0) json.set("scaling", describe(job.scaling, job.annotation));
    if (job.running) json.set("time_left", std::max(0.0, job.time.limit().end - now));
    if (job.running && job.evolution.exists())
        json.set("step", describe(job.evolution, job.nodes, now));
    if (!job.running && job.expected_start > 0)
        json.set("starts_in", std::max(0.0, job.expected_start - now));
    if (agreement) json.set("agreement", describe(*agreement, now));
    return json;
}

Error wrong_size(const Job& job, int nodes) {
    return error("job {} cannot have {} nodes ({})", job.label(), nodes,
                 core::size_names(job.annotation));
}

Json supply_in_force(const Site& site) {
    Json list = Json::array();
    for (const journal::Supply& supply : site.supply) {
        Json one = Json::object()
                       .set("name", supply.name)
                       .set("nodes", supply.nodes)
                       .set("price", supply.price);
        if (supply.cap >= 0) one.set("cap", supply.cap);
        list.push(one);
    }
    return list;
}

Json supply_errors(const Site& site) {
    Json list = Json::array();
    const auto add = [&](const std::string& error) {
        list.push(Json::object().set("message", error));
    };
    if (!site.supply_complaint.empty()) add(site.supply_complaint);
    for (const std::string& error : site.supply_errors) add(error);
    return list;
}

Json jobs_by_class(const JobTable& jobs) {
    struct Sum {
        int jobs = 0, nodes = 0, connected = 0;
    };
    std::map<std::pair<std::string, std::string>, Sum> sums;
    for (const auto& [id, job] : jobs.all()) {
        Sum& sum =
            sums[{job.elastic ? core::class_name(job.annotation) : "rigid", state_name(job)}];
        ++sum.jobs;
        sum.nodes += job.running ? job.nodes : 0;
        sum.connected += job.participation.connection != 0;
    }
    Json list = Json::array();
    for (const auto& [key, sum] : sums)
        list.push(Json::object()
                      .set("class", key.first)
                      .set("state", key.second)
                      .set("jobs", sum.jobs)
                      .set("nodes", sum.nodes)
                      .set("connected", sum.connected));
    return list;
}

Json agreements_by_state(const AgreementBook& book) {
    std::map<std::pair<std::string, std::string>, int> sums;
    for (const auto& [op, agreement] : book.all())
        if (agreement.open())
            ++sums[{std::string(to_string(agreement.kind)),
                    std::string(to_string(agreement.state))}];
    Json list = Json::array();
    for (const auto& [key, count] : sums)
        list.push(
            Json::object().set("kind", key.first).set("state", key.second).set("count", count));
    return list;
}

Json times(const controller::Times& times) {
    return Json::object()
        .set("count", static_cast<std::int64_t>(times.count))
        .set("last_ms", times.last * 1e3)
        .set("mean_ms", times.count ? times.sum / static_cast<double>(times.count) * 1e3 : 0)
        .set("median_ms", times.quantile(0.5) * 1e3)
        .set("p99_ms", times.quantile(0.99) * 1e3)
        .set("longest_ms", times.longest * 1e3);
}

}  // namespace

void Queries::on_message(const Incoming& incoming, Time now) {
    if (std::holds_alternative<protocol::Hello>(incoming.message)) {
        outbox_.send(incoming.from, [&] {
            protocol::Welcome welcome;
            welcome.nonce = std::get<protocol::Hello>(incoming.message).nonce;
            return welcome;
        }());
        return;
    }
    const auto* query = std::get_if<protocol::Query>(&incoming.message);
    if (!query) {
        outbox_.send(incoming.from, protocol::Failure{0, FailureCode::malformed,
                                                      "a tool sends queries only", false});
        return;
    }
    auto body = answer(*query, incoming, now);
    if (body)
        outbox_.send(incoming.from, protocol::Reply{query->token, *body});
    else
        outbox_.send(incoming.from, protocol::Failure{query->token, FailureCode::denied,
                                                      body.error().message, false});
}

// Slurm's numbers rise.
bool Queries::is_of_new_job(const protocol::Query& query) const {
    return query.job > 0 && query.task == protocol::kNoTask &&
           std::ranges::none_of(state_.jobs.all(),
                                [&](const auto& entry) { return entry.first >= query.job; });
}

// The query with the job's own number in place of the array's and the element's.
Result<protocol::Query> Queries::with_job(protocol::Query query) const {
    if (query.task == protocol::kNoTask) return query;
    const std::string name = fmt::format("{}_{}", query.job, query.task);
    for (const auto& [id, job] : state_.jobs.all()) {
        if (job.array != name) continue;
        query.job = id;
        query.task = protocol::kNoTask;
        return query;
    }
    return error(
        "job {} neither runs nor waits by itself; if it has ended, give the number that `sacct "
        "-j {} -o JobIDRaw` shows",
        name, name);
}

Result<Json> Queries::answer(const protocol::Query& asked, const Incoming& from, Time now) {
    const uid_t uid = from.uid;
    auto with_number = with_job(asked);
    if (!with_number) return with_number.error();
    const protocol::Query& query = *with_number;
    const std::optional<Question> what = query.what.known();
    if (!what) return error("\"{}\" is not known to this controller", query.what.text());
    switch (*what) {
        case Question::jobs:
            return jobs(uid, now);
        case Question::show:
            return show(query, uid, now);
        case Question::snapshot:
            return snapshot(query, from);
        case Question::journal:
            return journal(query, uid);
        case Question::shrink:
        case Question::expand:
            return resize(query, uid, now);
        case Question::nodes:
            return nodes(uid);
        case Question::metrics:
            return metrics(now);
        case Question::evacuate:
            break;
    }
    return evacuate(query, uid, now);
}

bool Queries::may_see(const Job& job, uid_t uid) const {
    return !site_.private_jobs || job.owner == uid || site_.is_operator(uid);
}

Result<Json> Queries::jobs(uid_t uid, Time now) const {
    std::vector<const Job*> seen;
    for (const auto& [id, job] : state_.jobs.all())
        if (may_see(job, uid)) seen.push_back(&job);
    // Elastic jobs first, then those that run.
    std::sort(seen.begin(), seen.end(), [](const Job* left, const Job* right) {
        auto rank = [](const Job* job) {
            return std::tuple(!job->elastic, !job->running, job->id);
        };
        return rank(left) < rank(right);
    });
    std::map<JobId, Json> listed;
    for (std::size_t room = kMaxJobsText; const Job* job : seen) {
        Json item = describe(*job, site_.user_name(job->owner), state_.book.of_job(job->id),
                             state_.observations.of(job->id), now);
        item.set("name", job->name.substr(0, kMaxNameListed));
        if (const auto bound = site_.bound.find(job->id); bound != site_.bound.end())
            item.set("cannot_leave", bound->second);
        if (const auto start = site_.reserved.find(job->id);
            start != site_.reserved.end() && !job->running)
            item.set("promised", std::max(0.0, start->second - now));
        const std::size_t size = item.dump().size();
        if (size > room || listed.size() == kMaxJobs) break;
        room -= size;
        listed.emplace(job->id, std::move(item));
    }
    Json list = Json::array();
    for (const auto& [id, item] : listed) list.push(item);
    return Json::object()
        .set("now", now)
        .set("jobs", list)
        .set("left_out", seen.size() - listed.size())
        .set("nodes", site_.nodes)
        .set("idle", site_.idle)
        .set("supply", supply_in_force(site_))
        .set("supply_errors", supply_errors(site_))
        .set("policy", config_.policy_name)
        .set("pass", times(site_.timings.passes))
        .set("lock", times(site_.timings.lock))
        .set("lock_processor", times(site_.timings.lock_processor))
        .set("save", times(site_.timings.saves))
        .set("state", times(site_.timings.states));
}

Result<Json> Queries::nodes(uid_t uid) const {
    if (site_.private_nodes && !site_.is_operator(uid))
        return error("only an operator may see nodes here (PrivateData); {}", kOperators);
    return Json::object()
        .set("nodes", site_.nodes)
        .set("node_list", site_.node_names.all)
        .set("down", site_.node_names.down)
        .set("unavailable", site_.node_names.unavailable);
}

// Nothing in it is of one job or user, so that everybody may see it.
Json Queries::metrics(Time now) const {
    const NodeCounts& nodes = site_.node_counts;
    const Timings& timings = site_.timings;
    return state_.counters.to_json(now)
        .set("now", now)
        .set("policy", config_.policy_name)
        .set("nodes", Json::object()
                          .set("down", nodes.down)
                          .set("unavailable", nodes.unavailable)
                          .set("completing", nodes.completing)
                          .set("idle", nodes.idle)
                          .set("in_use", nodes.in_use))
        .set("jobs", jobs_by_class(state_.jobs))
        .set("agreements", agreements_by_state(state_.book))
        .set("supply", supply_in_force(site_))
        .set("supply_errors", supply_errors(site_).size())
        .set("passes", timings.passes.all.to_json())
        .set("locks", timings.lock.all.to_json())
        .set("saves", timings.saves.all.to_json())
        .set("errors", errors_logged())
        .set("lost_events", site_.lost_events);
}

Result<Json> Queries::show(const protocol::Query& query, uid_t uid, Time now) const {
    const Job* job = state_.jobs.find(query.job);
    if (job && !may_see(*job, uid)) return error("job {} is not yours", query.job);
    if (!job && site_.private_jobs && !site_.is_operator(uid))
        return error("job {} is not known or not yours; squeue --me lists yours", query.job);
    const auto excerpt = journal::tail(site_.journal_path, kMaxHistory, query.job, kExcerpt);
    if (!job && (!excerpt || excerpt->events.empty()))
        return error(
            "job {} is not known; squeue lists jobs that wait and run, sacct those that have ended",
            query.job);
    Json json = job ? describe(*job, site_.user_name(job->owner), state_.book.of_job(job->id),
                               state_.observations.of(job->id), now)
                    : Json::object().set("job", query.job).set("state", "ENDED");
    if (const auto bound = site_.bound.find(query.job); job && bound != site_.bound.end())
        json.set("cannot_leave", bound->second);
    if (job && job->elastic) json.set("annotation", core::to_json(job->annotation));
    const Json history = excerpt ? to_json(excerpt->events) : Json::array();
    if (excerpt) json.set("names", names_in(excerpt->events));
    return Json::object().set("job", json.set("history", history));
}

// What users call the jobs of these events that are elements of arrays, by number.
Json Queries::names_in(const std::vector<journal::Event>& events) const {
    Json names = Json::object();
    for (const journal::Event& event : events) {
        const Job* job = state_.jobs.find(journal::job_of(event));
        if (job && !job->array.empty()) names.set(std::to_string(job->id), job->array);
    }
    return names;
}

// For replaying a decision at a desk; shows all jobs, so it is for operators.  Thousands of jobs
// make a text of megabytes, which is given in pieces; all of them are of the pass at the first.
Result<Json> Queries::snapshot(const protocol::Query& query, const Incoming& from) {
    if (!site_.is_operator(from.uid))
        return error("only an operator may take a snapshot; {}", kOperators);
    if (query.after.empty()) recordings_[from.from] = site_.recorded_pass();
    if (query.after.empty() && recordings_[from.from].empty())
        return error("no planning pass has been made yet; ask again in some seconds");
    const auto recording = recordings_.find(from.from);
    const auto begin = query.after.empty() ? 0 : parse_unsigned(query.after);
    if (recording == recordings_.end() || !begin || *begin >= recording->second.size())
        return error("after: no snapshot goes on at '{}'", printable(query.after));
    const std::string piece = recording->second.substr(*begin, kSnapshotPiece);
    const std::size_t end = *begin + piece.size();
    const bool is_last = end == recording->second.size();
    if (is_last) recordings_.erase(recording);
    return Json::object().set("text", piece).set("next", is_last ? "" : std::to_string(end));
}

Result<Json> Queries::journal(const protocol::Query& query, uid_t uid) const {
    if (site_.private_jobs && !site_.is_operator(uid))
        return error("PrivateData has jobs: the journal is for operators, show JOB for owners");
    const std::size_t asked = query.tail > 0 ? static_cast<std::size_t>(query.tail) : 100;
    const std::size_t count = std::min(asked, kMaxEvents);
    const auto from = journal::position_from_string(query.after);
    if (!from && !query.after.empty())
        return error("after: '{}' is no place in a journal", printable(query.after));
    const auto excerpt = from
                             ? journal::since(site_.journal_path, *from, count, query.job, kExcerpt)
                             : journal::tail(site_.journal_path, count, query.job, kExcerpt);
    if (!excerpt) return excerpt.error();
    const std::size_t given = excerpt->events.size();
    const bool cut = excerpt->cut || (given == kMaxEvents && asked > given);
    return Json::object()
        .set("events", to_json(excerpt->events))
        .set("names", names_in(excerpt->events))
        .set("left_out", cut ? asked - given : 0)
        .set("next", journal::to_string(excerpt->next));
}

// The job that this user may resize now.
Result<Job*> Queries::steerable(const protocol::Query& query, uid_t uid, Time now) {
    Job* job = state_.jobs.find(query.job);
    if (!job || !job->running)
        return error("job {} is not running; squeue lists those that do", query.job);
    if (job->owner != uid && !site_.is_operator(uid)) {
        quiet_.complain("steer", fmt::format("user {} tried to {} job {} of user {}", uid,
                                             query.what.text(), job->label(), job->owner));
        return error("job {} is not yours", job->label());
    }
    if (!job->elastic || !job->annotation.malleable)
        return error("job {} is not malleable; it would have to be submitted as such (--elastic)",
                     job->label());
    if (const Agreement* open = state_.book.of_job(job->id))
        return error("operation {} of job {} is in flight ({}, {})", open->op, job->label(),
                     to_string(open->kind), to_string(open->state));
    if (!job->takes_part(now, grace_of(config_, *job)))
        return error("job {} has not connected: its application does not take part", job->label());
    return job;
}

Result<Agreement*> Queries::offer_leaving(Job& job, const std::vector<std::string>& leaving,
                                          const std::string& reason, Time now) {
    int left = job.nodes - static_cast<int>(leaving.size());
    if (std::find(leaving.begin(), leaving.end(), job.batch_host) != leaving.end())
        return error("{} runs the batch script of job {} and cannot be given up", job.batch_host,
                     job.label());
    if (!job.annotation.allows(left)) return wrong_size(job, left);
    return &negotiation_.offer_shrink(job, compress_hostlist(leaving),
                                      static_cast<int>(leaving.size()), 0, reason, now);
}

Result<Json> Queries::resize(const protocol::Query& query, uid_t uid, Time now) {
    auto found = steerable(query, uid, now);
    if (!found) return found.error();
    Job& job = **found;
    if (auto may = negotiation_.may_ask_again(job, now); !may) return may.error();
    std::string reason = fmt::format("asked for by {}", site_.user_name(uid));
    double grace = grace_of(config_, job);
    if (query.what == Question::shrink) {
        if (query.nodes >= job.nodes)
            return error("job {} has {} nodes: {} is not fewer", job.label(), job.nodes,
                         query.nodes);
        auto held = job.kept_nodes();
        if (!held) return held.error();
        int leave = job.nodes - std::max(query.nodes, 0);
        auto leaving = last_hosts(*held, job.batch_host, leave);
        if (std::ssize(leaving) < leave)
            return error("job {} must keep {}", job.label(), job.batch_host);
        auto offered = offer_leaving(job, leaving, reason, now);
        if (!offered) return offered.error();
        return Json::object()
            .set("op", (*offered)->op)
            .set("message", fmt::format("offered to job {}: give up {} within {} s", job.label(),
                                        (*offered)->node_list, grace));
    }
    if (query.nodes <= job.nodes)
        return error("job {} has {} nodes: {} is not more", job.label(), job.nodes, query.nodes);
    if (!job.annotation.allows(query.nodes)) return wrong_size(job, query.nodes);
    const Agreement& offered =
        negotiation_.offer_expand(job, "", query.nodes - job.nodes, reason, now);
    return Json::object()
        .set("op", offered.op)
        .set("message", fmt::format("offered to job {}: {} more nodes, if they are idle when it "
                                    "accepts",
                                    job.label(), offered.nodes));
}

// [gupta] section VII-A: the jobs leave the nodes while these still work. Each query is one round:
// it asks whoever can be asked now, and says of everybody on the nodes what is to be expected. So
// whoever wants to see the nodes empty repeats it, and nothing is to be undone if nobody does.
Result<Json> Queries::evacuate(const protocol::Query& query, uid_t uid, Time now) {
    if (!site_.is_operator(uid))
        return error("only an operator may evacuate nodes; {}", kOperators);
    auto emptying = site_.drain(query.node, uid);
    if (!emptying) return emptying.error();
    Json jobs = Json::array();
    int idle = site_.idle;
    for (const Occupant& occupant : emptying->occupants) {
        const Prospect prospect = move_off(occupant, idle, now);
        jobs.push(Json::object()
                      .set("job", occupant.job)
                      .set("label", occupant.label)
                      .set("nodes", occupant.nodes)
                      .set("leaves", prospect.leaves)
                      .set("text", prospect.text));
    }
    return Json::object().set("drained", emptying->drained).set("jobs", jobs);
}

// What keeps a job from being asked to leave at all; nothing if it can be.
std::optional<std::string> Queries::obstacle(const Job& job, const Occupant& occupant,
                                             Time now) const {
    if (!job.elastic || !job.annotation.malleable)
        return fmt::format("it is not malleable: wait for its end, or `scontrol requeue {0}`",
                           occupant.label);
    if (occupant.nodes == job.batch_host)
        return fmt::format(
            "its batch script runs there, which cannot move: wait for its end, or `scontrol "
            "requeue {}`",
            occupant.label);
    if (!state_.book.of_job(job.id) && !job.takes_part(now, grace_of(config_, job)))
        return "its application has not connected: it can be asked for nothing";
    return {};
}

Queries::Prospect Queries::move_off(const Occupant& occupant, int& idle, Time now) {
    if (occupant.state == Occupant::State::completing)
        return {true, "ends: its last processes and the epilog"};
    // Where Slurm's loops start jobs, one may have been suspended before it was seen to run.
    if (occupant.state == Occupant::State::suspended)
        return {false, fmt::format("stays: it is suspended: `scontrol resume {0}` or `scancel {0}`",
                                   occupant.label)};
    Job* job = state_.jobs.find(occupant.job);
    if (!job || !job->running) return {true, "has just started"};
    if (auto why = obstacle(*job, occupant, now)) return {false, "stays: " + *why};
    if (const Agreement* open = state_.book.of_job(job->id))
        return {true, fmt::format("operation {} is in flight ({}, {})", open->op,
                                  to_string(open->kind), to_string(open->state))};
    if (job->participation.not_before > now)
        return {true, "has declined or not answered; it is asked again"};
    return ask_to_leave(*job, occupant.nodes, idle, now);
}

// The job can be asked, and no other resize of it is in flight.
Queries::Prospect Queries::ask_to_leave(Job& job, const std::string& nodes, int& idle, Time now) {
    auto leaving = expand_hostlist(without_hosts(nodes, job.batch_host));
    auto staying = job.kept_nodes();
    if (!leaving || !staying) return {false, "stays: its node list cannot be read"};
    const std::unordered_set<std::string> gone(leaving->begin(), leaving->end());
    std::erase_if(*staying, [&](const std::string& node) { return gone.contains(node); });
    const int count = static_cast<int>(leaving->size());
    const core::Departure step = core::next_departure(job.annotation, job.nodes, count);
    constexpr const char* kReason = "its nodes are to be evacuated";
    if (step.grow > 0) {
        if (idle < step.grow || job.participation.grow_after > now)
            return {true, fmt::format("waits for {} more nodes elsewhere, without which it would "
                                      "be too small ({})",
                                      step.grow, core::size_names(job.annotation))};
        idle -= step.grow;
        const OpId op = negotiation_.offer_expand(job, "", step.grow, kReason, now).op;
        return {true, fmt::format("is offered {} nodes elsewhere, so that it can leave (operation "
                                  "{})",
                                  step.grow, op)};
    }
    if (step.leave == 0)
        return {false, fmt::format("stays: it can change to no other size ({})",
                                   core::size_names(job.annotation))};
    leaving->resize(static_cast<std::size_t>(step.leave));
    const auto besides = last_hosts(*staying, job.batch_host, step.besides);
    leaving->insert(leaving->end(), besides.begin(), besides.end());
    const std::string list = compress_hostlist(*leaving);
    const OpId op = negotiation_.offer_shrink(job, list, std::ssize(*leaving), 0, kReason, now).op;
    return {true, fmt::format("is asked to give up {} (operation {})", list, op)};
}

}  // namespace elastic::controller

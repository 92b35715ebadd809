// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm has no hook that tells a scheduler plugin of job events, so each pass compares all job
// records with the table.  A comparison is a few loads a job.
//
// Always holds after observe(): the table has exactly the jobs that are pending, running or
// suspended, and the journal has said of each what the table says.
#include "slurm/read/observer.hpp"

#include <algorithm>
#include <set>

#include "common/hostlist.hpp"
#include "common/log.hpp"
#include "slurm/batch.hpp"
#include "slurm/node_order.hpp"
#include "slurm/read/eligibility.hpp"
#include "slurm/sizes_had.hpp"

namespace elastic::slurm {

using controller::Job;
using controller::TimeLimit;

namespace {

constexpr time_t kEvery = 2;            // seconds; steps come and go without a mark
constexpr std::size_t kLookAhead = 16;  // jobs that have left the list side by side

std::string text(const char* value) {
    return value ? value : "";
}

std::string state_of(const job_record_t* job) {
    return job_state_string(job->job_state & JOB_STATE_BASE);
}

// Slurm gives the nodes of a suspended job to others.
bool holds_nodes(const job_record_t* job) {
    return IS_JOB_RUNNING(job) && job->node_bitmap;
}

// Of a job that is gone.
std::string last_state(JobId id) {
    const job_record_t* job = find_job_record(id);
    return job && IS_JOB_FINISHED(job) ? state_of(job) : "UNKNOWN";
}

std::string name_of(int node) {
    return node < 0 ? "" : node_record_table_ptr[node]->name;
}

// Moved by what Slurm has not let the job run since.
// Since the job could have started by its user's and the site's rules.
Duration waited(const job_record_t* job, Time now) {
    if (!job->details) return 0;
    const time_t since = std::max(job->details->submit_time, job->details->begin_time);
    return std::max(0.0, now - static_cast<Time>(since));
}

Time time_began(const job_record_t* job) {
    return static_cast<Time>(job->start_time + job->tot_sus_time);
}

// The names in `left` that are not in `right`.
std::string difference(const std::string& left, const std::string& right) {
    auto names = expand_hostlist(left), others = expand_hostlist(right);
    if (!names || !others) return "";
    const std::set<std::string> theirs(others->begin(), others->end());
    std::erase_if(*names, [&](const std::string& name) { return theirs.contains(name); });
    return compress_hostlist(*names);
}

}  // namespace

// Slurm may have moved a node from one job to another since the last round: first everybody gives
// up, then everybody gets.
void Observer::observe(Time now) {
    if (nothing_changed()) return;
    ++round_;
    next_ = 0;
    for_each_job([&](job_record_t* job) {
        if (IS_JOB_FINISHED(job)) return;
        Job& known = known_of(job);
        if (!still_waits(job, known)) observe(job, known, now);
        known.observed = round_;
        known.expected_start = IS_JOB_PENDING(job) ? static_cast<Time>(job->start_time) : 0;
    });
    std::swap(last_met_, met_);
    met_.clear();
    if (state_.jobs.all().size() != last_met_.size()) forget_others(now);
    holders_.clear();
    for (const Met& met : last_met_)
        if (met.known->running) holders_.push_back(met.known);

    auto& events = outbox_.events;
    std::move(arrivals_.begin(), arrivals_.end(), std::back_inserter(events));
    arrivals_.clear();
}

void Observer::observe_holders(Time now) {
    const auto has_changed = [](const Job* known) {
        const job_record_t* job = find_job_record(known->id);
        return !job || !holds_nodes(job) || static_cast<int>(job->restart_cnt) != known->restarts ||
               known->node_list != (job->nodes ? job->nodes : "");
    };
    if (std::ranges::any_of(holders_, has_changed)) observe(now);
}

// Slurm's mark has a resolution of one second: what has changed in the second of the last round may
// have come before or after it.
bool Observer::nothing_changed() {
    time_t now = time(nullptr);
    if (last_job_update < seen_until_ && now < seen_until_ + kEvery) return true;
    seen_until_ = now;
    return false;
}

// Slurm's list changes little between two rounds, so the next job is most often the next one of the
// round before, and need not be looked up in the table.
Job& Observer::known_of(const job_record_t* job) {
    auto end = std::min(last_met_.size(), next_ + kLookAhead);
    for (std::size_t i = next_; i < end; ++i) {
        if (last_met_[i].record != job || last_met_[i].id != job->job_id) continue;
        next_ = i + 1;
        return *met_.emplace_back(last_met_[i]).known;
    }
    return *met_.emplace_back(Met{job, job->job_id, &sync(state_.jobs, job)}).known;
}

// Most jobs of a long queue.  Should its annotation change, the view sees that.
bool Observer::still_waits(const job_record_t* job, const Job& known) {
    return IS_JOB_PENDING(job) && known.submitted && !known.running && !known.suspended &&
           !known.shows_last_size;
}

// The jobs that this round has not met are gone; those that were seen running first, since others
// may have run on their nodes since.
void Observer::forget_others(Time now) {
    auto& jobs = state_.jobs.all();
    for (auto& [id, known] : jobs)
        if (known.observed != round_ && known.running) ended(known, last_state(id), now);
    for (auto& [id, known] : jobs)
        if (known.observed != round_ && !known.running) ended_unseen(known, now);
    std::erase_if(jobs, [this](const auto& job) { return job.second.observed != round_; });
}

// Where Slurm's own loops start jobs, one may have run between two rounds.
void Observer::ended_unseen(Job& known, Time now) {
    const job_record_t* job = find_job_record(known.id);
    const auto nodes = expand_hostlist(job && job->nodes ? job->nodes : "");
    if (job && IS_JOB_FINISHED(job) && !known.suspended && nodes && !nodes->empty()) {
        known.running = true;
        known.node_list = job->nodes;
        known.nodes = static_cast<int>(nodes->size());
        outbox_.note(now, journal::Start{known.id, known.node_list, known.nodes,
                                         !has_whole_nodes(job), known.array});
    }
    ended(known, last_state(known.id), now);
}

void Observer::observe(job_record_t* job, Job& known, Time now) {
    sync(job, known);
    if (!known.submitted) submitted(job, known, now);
    bool holds = holds_nodes(job);
    bool restarted = known.restarts != static_cast<int>(job->restart_cnt);
    if (known.running && !restarted && IS_JOB_SUSPENDED(job)) suspended(known, now);
    if ((known.running && !holds) || restarted) requeued(job, known, now);
    known.restarts = static_cast<int>(job->restart_cnt);
    if (known.shows_last_size || job->resize_time) forget_last_run(job, known);
    if (!holds) return;
    repair_batch(job);
    if (known.running) follow_limit(job, known, now);
    if (!known.running) {
        arrivals_.push_back(
            {now, known.suspended ? book_resume(job, known, now) : book_start(job, known, now)});
        tell_initialisation(known, now, arrivals_);
    } else if (known.node_list != (job->nodes ? job->nodes : ""))
        note_resize(job, known, now);
    else if (known.batch_host.empty())  // not known since a restart
        known.batch_host = name_of(batch_host(job));
}

void Observer::requeued(job_record_t* job, Job& known, Time now) {
    if (known.running || known.suspended) ended(known, "REQUEUED", now);
    known.suspended = false;
    note_not_running(known);
    known.evolution.end();
    known.shows_last_size = true;
    // Slurm would keep that of the last run, which may have had other nodes.
    if (IS_JOB_PENDING(job)) job->billable_tres = NO_VAL;
    restore_limit(job, known);
}

// Slurm would show the size of its last run as that which the job asks for; it needs that itself
// until the job has left all of its nodes. It would also take the next run for one that began with
// the last resize of the one before, and account its end to the record of that if slurmdbd has not
// heard of the start yet.
void Observer::forget_last_run(job_record_t* job, Job& known) {
    if (!IS_JOB_PENDING(job) || IS_JOB_COMPLETING(job)) return;
    known.shows_last_size = false;
    job->total_nodes = job->node_cnt_wag = 0;
    job->resize_time = 0;
    forget_sizes_had(job);
    last_job_update = time(nullptr);
}

// The next run begins with the nodes and the time that its user asked for, unless somebody has
// given it another limit meanwhile.
void Observer::restore_limit(job_record_t* job, Job& known) {
    const std::uint32_t before = known.time.limit_of_next_run(job->time_limit);
    if (IS_JOB_PENDING(job) && before != 0) {
        log_info("job {}: time limit as before its last run, {} min", known.id, before);
        job->time_limit = before;
        last_job_update = time(nullptr);
    }
    known.time.end();
}

void Observer::suspended(Job& known, Time now) {
    negotiation_.job_suspended(known, now);
    outbox_.note(now, journal::End{known.id, "SUSPENDED", known.nodes});
    known.suspended = true;
    known.evolution.suspend(now);
    note_not_running(known);
}

void Observer::note_not_running(Job& known) {
    known.running = false;
    known.nodes = 0;
    known.node_list.clear();
}

void Observer::submitted(const job_record_t* job, Job& known, Time now) {
    journal::Submit submit;
    submit.job = job->job_id;
    submit.job_class = known.elastic ? core::class_name(known.annotation) : "rigid";
    submit.min = submit.pref = 1;
    if (known.elastic) {
        submit.min = known.annotation.min;
        submit.pref = known.annotation.pref;
        submit.max = known.annotation.max;
    } else if (job->details) {
        submit.min = submit.pref = static_cast<int>(std::max(1u, job->details->min_nodes));
        submit.max = static_cast<int>(job->details->max_nodes);
    }
    submit.limit = job->time_limit == INFINITE ? 0 : time_limit_of(job);
    submit.user = user_name(job->user_id);
    submit.name = text(job->name);
    outbox_.note(now, std::move(submit));
    known.submitted = true;
}

void Observer::started(const job_record_t* job, Time now) {
    Job& known = sync(state_.jobs, job);
    if (!known.submitted) submitted(job, known, now);
    outbox_.note(now, book_start(job, known, now));
    tell_initialisation(known, now);
    holders_.push_back(&known);
    if (!known.elastic || !job->details) return;
    // By Slurm's start time, which is in whole seconds, the gap of this job would end before the
    // gaps of jobs that were resized for it.
    known.history.last_resize = now;
    known.evolution.begin(now, known.annotation.profile);
    // Its limit is for the size it asked for.
    const int asked = static_cast<int>(job->details->min_nodes);
    known.time.begin_resized(now, limit_of(job), asked, known.nodes, known.annotation);
}

journal::Start Observer::book_start(const job_record_t* job, Job& known, Time now) {
    known.waited = waited(job, now);
    known.running = true;
    known.shows_last_size = false;
    known.restarts = static_cast<int>(job->restart_cnt);
    known.history = {};
    known.node_time = {};
    known.initialises.clear();
    known.participation.not_before = 0;
    known.believed = believed(known);
    known.annotation.speedup.believed = known.believed;
    resized(job, known);
    begin_time(job, known, now);
    known.evolution.begin(known.began, known.annotation.profile);
    return {known.id, known.node_list, known.nodes, known.shared, known.array};
}

bool Observer::learns() const {
    return config_.policy.belief == core::Belief::learned;
}

double Observer::believed(const Job& known) const {
    return learns() ? state_.experience.believed(known.program()) : 1;
}

// From jobs with nodes of their own that have come to a good end.
void Observer::learn(const job_record_t* job, const Job& known) {
    const std::uint32_t minutes = known.time.asked_minutes();
    const bool is_limited = minutes > 0 && minutes < NO_VAL;
    if (!learns() || !known.running || known.shared || known.evolution.exists() || !is_limited)
        return;
    core::Sizing sizing = known.annotation;
    if (!known.elastic) sizing.pref = known.nodes;
    core::WorkSeen seen;
    for (const auto& size : known.node_time.sizes()) seen.add(size.seconds, size.nodes, sizing);
    seen.add(std::max(0.0, time_had(job) - known.node_time.counted()), known.nodes, sizing);
    state_.experience.learn(known.program(), sizing.pref, minutes * 60.0, seen);
}

// The job goes on with the time that is left to it, and its last report of progress is no longer
// true.
journal::Start Observer::book_resume(const job_record_t* job, Job& known, Time now) {
    known.running = true;
    known.suspended = false;
    resized(job, known);
    begin_time(job, known, now);
    known.evolution.resume(now);
    return {known.id, known.node_list, known.nodes, known.shared, known.array};
}

// Slurm puts a job's time off while its nodes boot or PrologSlurmctld runs, in which the job does
// not run; any other change of its limit is somebody's will.
void Observer::follow_limit(const job_record_t* job, Job& known, Time now) {
    if (known.began == 0) return begin_time(job, known, now);
    const TimeLimit before = known.time.limit(), limit = limit_of(job);
    const Time began = std::exchange(known.began, time_began(job));
    if (began != known.began && before.minutes == limit.minutes) {
        known.time.put_off(began, now, limit);
        known.evolution.resume(now);
        known.scaling.interrupt();
    } else if (known.time.follow(now, limit, known.nodes, known.annotation)) {
        log_info(
            "job {}: its time limit was changed by others, from {} to {} min; it is kept from now "
            "on",
            known.id, before.minutes, job->time_limit);
    }
}

void Observer::begin_time(const job_record_t* job, Job& known, Time now) {
    known.began = time_began(job);
    known.time.begin(now, limit_of(job), known.nodes, known.annotation);
    known.scaling.interrupt();
}

void Observer::resized(const job_record_t* job, Job& known) {
    known.shared = !has_whole_nodes(job);
    known.nodes = static_cast<int>(job->node_cnt);
    known.node_list = text(job->nodes);
    known.nodes_in_order.clear();
    if (known.elastic && known.nodes > 1)
        for (int node : order_of_keeping(job).sorted(NodeSet(job->node_bitmap)))
            known.nodes_in_order.push_back(name_of(node));
    known.node_aliases = text(compat::aliases_of(job));
    known.batch_host = name_of(batch_host(job));
    fresh_ =
        state_.groups.use(known.node_list, known.group_key(), static_cast<Time>(time(nullptr)));
}

void Observer::tell_initialisation(Job& known, Time now, std::vector<journal::Event>& to) {
    if (fresh_.empty()) return;
    known.initialises += (known.initialises.empty() ? "" : ",") + fresh_;
    to.push_back({now, journal::Initialise{known.id, known.annotation.packet, fresh_}});
    fresh_.clear();
}

void Observer::note_resize(const job_record_t* job, Job& known, Time now) {
    std::string before = known.node_list;
    int from = known.nodes;
    known.count_nodes_until(now, from);
    resized(job, known);
    std::string gone = difference(before, known.node_list);
    std::string come = difference(known.node_list, before);
    int kept = from - (gone.empty() ? 0 : static_cast<int>(expand_hostlist(gone)->size()));
    if (!known.evolution.exists()) known.time.resize(now, known.nodes, 0);
    known.scaling.resize(now, from, known.nodes, 0);
    log_info("job {}: has {} instead of {}", known.id, known.node_list, before);
    if (!gone.empty()) note_resize(known, ResizeKind::shrink, from, gone, now);
    if (!come.empty()) note_resize(known, ResizeKind::expand, kept, come, now);
}

void Observer::note_resize(Job& known, ResizeKind kind, int from, const std::string& changed,
                           Time now) {
    int count = static_cast<int>(expand_hostlist(changed)->size());
    int to = from + (kind == ResizeKind::shrink ? -count : count);
    controller::Agreement* cause = cause_of(known, kind, changed);
    known.last_reason = cause ? cause->reason : "found: not by an agreement";
    journal::Event event{now, journal::Resize{known.id, cause ? cause->op : 0, kind, from, to,
                                              changed, known.last_reason}};
    auto& events = kind == ResizeKind::shrink ? outbox_.events : arrivals_;
    events.push_back(std::move(event));
    if (kind == ResizeKind::expand) tell_initialisation(known, now, arrivals_);
    if (kind == ResizeKind::shrink) known.left.add(changed, time(nullptr));
    if (cause) return negotiation_.applied(*cause, known, changed, now);
    outbox_.send(known.participation.connection,
                 protocol::Applied{0, kind, changed, known.node_list, known.nodes});
}

// When slurmctld dies between a resize and the saving of our state, Slurm's records may be ahead:
// then that agreement has been carried out.
controller::Agreement* Observer::cause_of(const Job& known, ResizeKind kind,
                                          const std::string& changed) {
    using controller::AgreementEvent, controller::AgreementState;
    controller::Agreement* agreement = state_.book.of_job(known.id);
    if (!agreement) return nullptr;
    if (agreement->kind == ResizeKind::shrink) {
        if (kind != ResizeKind::shrink || agreement->state != AgreementState::released ||
            changed != agreement->node_list)
            return nullptr;
    } else if (kind != ResizeKind::expand || agreement->state != AgreementState::accepted) {
        return nullptr;
    }
    (void)state_.book.advance(*agreement, AgreementEvent::apply);
    return agreement;
}

// Who was to initialise its nodes and has not come to a good end may not have come so far.
void Observer::ended(Job& known, const std::string& state, Time now) {
    if (state != "COMPLETED" && state != "REQUEUED") state_.groups.forget(known.initialises);
    if (job_record_t* job = find_job_record(known.id); job && IS_JOB_FINISHED(job)) {
        record_sizes_had(job, known);
        if (state == "COMPLETED") learn(job, known);
    }
    negotiation_.job_ended(known, now);
    outbox_.note(now, journal::End{known.id, state, known.running ? known.nodes : 0});
}

}  // namespace elastic::slurm

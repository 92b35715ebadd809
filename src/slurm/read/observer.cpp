// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm has no hook that tells a scheduler plugin of job events, so each pass compares all job
// records with the table.  A comparison is a few loads a job.
//
// Always holds after observe(): the table has an entry for exactly the jobs that are pending,
// running or suspended, and the journal has said of each what the table says.
#include "slurm/read/observer.hpp"

#include <algorithm>
#include <set>

#include "common/hostlist.hpp"
#include "common/log.hpp"
#include "slurm/batch.hpp"
#include "slurm/read/eligibility.hpp"

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

std::string name_of(int node) {
    return node < 0 ? "" : node_record_table_ptr[node]->name;
}

// Moved by what Slurm has not let the job run since.
Time time_began(const job_record_t* job) {
    return static_cast<Time>(job->start_time + job->tot_sus_time);
}

// The names in `left` that are not in `right`.
std::string difference(const std::string& left, const std::string& right) {
    auto names = expand_hostlist(left), others = expand_hostlist(right);
    if (!names || !others) return "";
    std::set<std::string> known(others->begin(), others->end());
    std::erase_if(*names, [&](const std::string& name) { return known.count(name) > 0; });
    return compress_hostlist(*names);
}

}  // namespace

// Slurm may have moved a node from one job to another since the last round: first everybody gives
// up, then everybody gets.
void Observer::observe(Time now) {
    if (nothing_changed()) return;
    ++round_;
    next_ = 0;
    ListIterator iterator = list_iterator_create(job_list);
    while (auto* job = static_cast<job_record_t*>(list_next(iterator))) {
        if (IS_JOB_FINISHED(job)) continue;
        Job& entry = entry_of(job);
        if (!still_waits(job, entry)) observe(job, entry, now);
        entry.observed = round_;
    }
    list_iterator_destroy(iterator);
    std::swap(known_, met_);
    met_.clear();
    if (state_.jobs.all().size() != known_.size()) forget_others(now);
    holders_.clear();
    for (const Known& known : known_)
        if (known.entry->running) holders_.push_back(known.entry);

    auto& events = outbox_.events;
    std::move(arrivals_.begin(), arrivals_.end(), std::back_inserter(events));
    arrivals_.clear();
}

void Observer::observe_holders(Time now) {
    const auto has_changed = [](const Job* entry) {
        const job_record_t* job = find_job_record(entry->id);
        return !job || !holds_nodes(job) || static_cast<int>(job->restart_cnt) != entry->restarts ||
               entry->node_list != (job->nodes ? job->nodes : "");
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
// round before, and its entry need not be looked up.
Job& Observer::entry_of(const job_record_t* job) {
    auto end = std::min(known_.size(), next_ + kLookAhead);
    for (std::size_t i = next_; i < end; ++i) {
        if (known_[i].record != job || known_[i].id != job->job_id) continue;
        next_ = i + 1;
        return *met_.emplace_back(known_[i]).entry;
    }
    return *met_.emplace_back(Known{job, job->job_id, &sync(state_.jobs, job)}).entry;
}

// Most jobs of a long queue.  Should its annotation change, the view sees that.
bool Observer::still_waits(const job_record_t* job, const Job& entry) {
    return IS_JOB_PENDING(job) && entry.submitted && !entry.running && !entry.suspended &&
           !entry.shows_last_size;
}

// The jobs that this round has not met are gone.
void Observer::forget_others(Time now) {
    auto& entries = state_.jobs.all();
    for (auto entry = entries.begin(); entry != entries.end();) {
        if (entry->second.observed == round_) {
            ++entry;
            continue;
        }
        const job_record_t* job = find_job_record(entry->first);
        ended(entry->second, job && IS_JOB_FINISHED(job) ? state_of(job) : "UNKNOWN", now);
        entry = entries.erase(entry);
    }
}

void Observer::observe(job_record_t* job, Job& entry, Time now) {
    sync(job, entry);
    if (!entry.submitted) submitted(job, entry, now);
    bool holds = holds_nodes(job);
    bool restarted = entry.restarts != static_cast<int>(job->restart_cnt);
    if (entry.running && !restarted && IS_JOB_SUSPENDED(job)) suspended(entry, now);
    if ((entry.running && !holds) || restarted) requeued(job, entry, now);
    entry.restarts = static_cast<int>(job->restart_cnt);
    if (entry.shows_last_size) forget_last_size(job, entry);
    if (!holds) return;
    repair_batch(job);
    if (entry.running) follow_limit(job, entry, now);
    if (!entry.running) {
        arrivals_.push_back(
            {now, entry.suspended ? book_resume(job, entry, now) : book_start(job, entry, now)});
        tell_initialisation(entry, now, arrivals_);
    } else if (entry.node_list != (job->nodes ? job->nodes : ""))
        note_resize(job, entry, now);
    else if (entry.batch_host.empty())  // not known since a restart
        entry.batch_host = name_of(batch_host(job));
}

void Observer::requeued(job_record_t* job, Job& entry, Time now) {
    if (entry.running || entry.suspended) ended(entry, "REQUEUED", now);
    entry.suspended = false;
    note_not_running(entry);
    entry.evolution.end();
    entry.shows_last_size = true;
    restore_limit(job, entry);
}

// Slurm would show the size of its last run as that which the job asks for; it needs that itself
// until the job has left all of its nodes.
void Observer::forget_last_size(job_record_t* job, Job& entry) {
    if (!IS_JOB_PENDING(job) || IS_JOB_COMPLETING(job)) return;
    entry.shows_last_size = false;
    job->total_nodes = job->node_cnt_wag = 0;
    last_job_update = time(nullptr);
}

// The next run begins with the nodes and the time that its user asked for, unless somebody has
// given it another limit meanwhile.
void Observer::restore_limit(job_record_t* job, Job& entry) {
    const std::uint32_t before = entry.time.limit_of_next_run(job->time_limit);
    if (IS_JOB_PENDING(job) && before != 0) {
        log_info("job {}: time limit as before its last run, {} min", entry.id, before);
        job->time_limit = before;
        last_job_update = time(nullptr);
    }
    entry.time.end();
}

void Observer::suspended(Job& entry, Time now) {
    negotiation_.job_suspended(entry, now);
    outbox_.note(now, journal::End{entry.id, "SUSPENDED", entry.nodes});
    entry.suspended = true;
    entry.evolution.suspend(now);
    note_not_running(entry);
}

void Observer::note_not_running(Job& entry) {
    entry.running = false;
    entry.nodes = 0;
    entry.node_list.clear();
}

void Observer::submitted(const job_record_t* job, Job& entry, Time now) {
    journal::Submit submit;
    submit.job = job->job_id;
    submit.job_class = entry.elastic ? core::class_name(entry.annotation) : "rigid";
    submit.min = submit.pref = 1;
    if (entry.elastic) {
        submit.min = entry.annotation.min;
        submit.pref = entry.annotation.pref;
        submit.max = entry.annotation.max;
    } else if (job->details) {
        submit.min = submit.pref = static_cast<int>(std::max(1u, job->details->min_nodes));
        submit.max = static_cast<int>(job->details->max_nodes);
    }
    submit.limit = job->time_limit == INFINITE ? 0 : time_limit_of(job);
    submit.user = user_name(job->user_id);
    submit.name = text(job->name);
    outbox_.note(now, std::move(submit));
    entry.submitted = true;
}

void Observer::started(const job_record_t* job, Time now) {
    Job& entry = sync(state_.jobs, job);
    if (!entry.submitted) submitted(job, entry, now);
    outbox_.note(now, book_start(job, entry, now));
    tell_initialisation(entry, now);
    holders_.push_back(&entry);
    if (!entry.elastic || !job->details) return;
    // By Slurm's start time, which is in whole seconds, the gap of this job would end before the
    // gaps of jobs that were resized for it.
    entry.history.last_resize = now;
    entry.evolution.begin(now, entry.annotation.profile);
    // Its limit is for the size it asked for.
    const int asked = static_cast<int>(job->details->min_nodes);
    entry.time.begin_resized(now, limit_of(job), asked, entry.nodes, entry.annotation);
}

journal::Start Observer::book_start(const job_record_t* job, Job& entry, Time now) {
    entry.running = true;
    entry.shows_last_size = false;
    entry.restarts = static_cast<int>(job->restart_cnt);
    entry.history = {};
    entry.node_time = {};
    entry.initialises.clear();
    entry.participation.not_before = 0;
    resized(job, entry);
    begin_time(job, entry, now);
    entry.evolution.begin(entry.began, entry.annotation.profile);
    return {entry.id, entry.node_list, entry.nodes, entry.shared, entry.array};
}

// The job goes on with the time that is left to it, and its last report of progress is no longer
// true.
journal::Start Observer::book_resume(const job_record_t* job, Job& entry, Time now) {
    entry.running = true;
    entry.suspended = false;
    resized(job, entry);
    begin_time(job, entry, now);
    entry.evolution.resume(now);
    return {entry.id, entry.node_list, entry.nodes, entry.shared, entry.array};
}

// Slurm puts a job's time off while its nodes boot or PrologSlurmctld runs, in which the job does
// not run; any other change of its limit is somebody's will.
void Observer::follow_limit(const job_record_t* job, Job& entry, Time now) {
    if (entry.began == 0) return begin_time(job, entry, now);
    const TimeLimit before = entry.time.limit(), limit = limit_of(job);
    const Time began = std::exchange(entry.began, time_began(job));
    if (began != entry.began && before.minutes == limit.minutes) {
        entry.time.put_off(began, now, limit);
        entry.evolution.resume(now);
        entry.scaling.interrupt();
    } else if (entry.time.follow(now, limit, entry.nodes, entry.annotation)) {
        log_info(
            "job {}: its time limit was changed by others, from {} to {} min; it is kept from now "
            "on",
            entry.id, before.minutes, job->time_limit);
    }
}

void Observer::begin_time(const job_record_t* job, Job& entry, Time now) {
    entry.began = time_began(job);
    entry.time.begin(now, limit_of(job), entry.nodes, entry.annotation);
    entry.scaling.interrupt();
}

void Observer::resized(const job_record_t* job, Job& entry) {
    entry.shared = !has_whole_nodes(job);
    entry.nodes = static_cast<int>(job->node_cnt);
    entry.node_list = text(job->nodes);
    entry.node_aliases = text(compat::aliases_of(job));
    entry.batch_host = name_of(batch_host(job));
    fresh_ =
        state_.groups.use(entry.node_list, entry.group_key(), static_cast<Time>(time(nullptr)));
}

void Observer::tell_initialisation(Job& entry, Time now, std::vector<journal::Event>& to) {
    if (fresh_.empty()) return;
    entry.initialises += (entry.initialises.empty() ? "" : ",") + fresh_;
    to.push_back({now, journal::Initialise{entry.id, entry.annotation.packet, fresh_}});
    fresh_.clear();
}

void Observer::note_resize(const job_record_t* job, Job& entry, Time now) {
    std::string before = entry.node_list;
    int from = entry.nodes;
    entry.count_nodes_until(now, from);
    resized(job, entry);
    std::string gone = difference(before, entry.node_list);
    std::string come = difference(entry.node_list, before);
    int kept = from - (gone.empty() ? 0 : static_cast<int>(expand_hostlist(gone)->size()));
    if (!entry.evolution.exists()) entry.time.resize(now, entry.nodes, 0);
    entry.scaling.resize(now, from, entry.nodes, 0);
    log_info("job {}: has {} instead of {}", entry.id, entry.node_list, before);
    if (!gone.empty()) note_resize(entry, ResizeKind::shrink, from, gone, now);
    if (!come.empty()) note_resize(entry, ResizeKind::expand, kept, come, now);
}

void Observer::note_resize(Job& entry, ResizeKind kind, int from, const std::string& changed,
                           Time now) {
    int count = static_cast<int>(expand_hostlist(changed)->size());
    int to = from + (kind == ResizeKind::shrink ? -count : count);
    controller::Agreement* cause = cause_of(entry, kind, changed);
    entry.last_reason = cause ? cause->reason : "found: not by an agreement";
    journal::Event event{now, journal::Resize{entry.id, cause ? cause->op : 0, kind, from, to,
                                              changed, entry.last_reason}};
    auto& events = kind == ResizeKind::shrink ? outbox_.events : arrivals_;
    events.push_back(std::move(event));
    if (kind == ResizeKind::expand) tell_initialisation(entry, now, arrivals_);
    if (kind == ResizeKind::shrink) entry.left.add(changed, time(nullptr));
    if (cause) return negotiation_.applied(*cause, entry, changed, now);
    outbox_.send(entry.participation.connection,
                 protocol::Applied{0, kind, changed, entry.node_list, entry.nodes});
}

// When slurmctld dies between a resize and the saving of our state, Slurm's records may be ahead:
// then that agreement has been carried out.
controller::Agreement* Observer::cause_of(const Job& entry, ResizeKind kind,
                                          const std::string& changed) {
    using controller::AgreementEvent, controller::AgreementState;
    controller::Agreement* agreement = state_.book.of_job(entry.id);
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
void Observer::ended(Job& entry, const std::string& state, Time now) {
    if (state != "COMPLETED" && state != "REQUEUED") state_.groups.forget(entry.initialises);
    negotiation_.job_ended(entry, now);
    outbox_.note(now, journal::End{entry.id, state, entry.running ? entry.nodes : 0});
}

}  // namespace elastic::slurm

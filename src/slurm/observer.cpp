// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm has no hook that tells a scheduler plugin of job events, so each pass
// compares all job records with the table.  A comparison is a few loads a job.
//
// Always holds after observe(): the table has an entry for exactly the jobs that
// are pending, running or suspended, and the journal has said of each what the
// table says.
#include "slurm/observer.hpp"

#include <set>

#include "common/hostlist.hpp"
#include "slurm/log.hpp"
#include "slurm/resize.hpp"

namespace elastic::slurm {

namespace {

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

// The names in `left` that are not in `right`.
std::string difference(const std::string& left, const std::string& right) {
    auto names = expand_hostlist(left), others = expand_hostlist(right);
    if (!names || !others) return "";
    std::set<std::string> known(others->begin(), others->end());
    std::erase_if(*names, [&](const std::string& name) { return known.count(name) > 0; });
    return compress_hostlist(*names);
}

}  // namespace

// Slurm may have moved a node from one job to another since the last round:
// first everybody gives up, then everybody gets.
void Observer::observe(Time now) {
    ++round_;
    ListIterator iterator = list_iterator_create(job_list);
    while (auto* job = static_cast<job_record_t*>(list_next(iterator)))
        if (!IS_JOB_FINISHED(job)) observe(job, now);
    list_iterator_destroy(iterator);

    auto& entries = context_.jobs.all();
    for (auto entry = entries.begin(); entry != entries.end();) {
        if (entry->second.observed == round_) {
            ++entry;
            continue;
        }
        const job_record_t* job = find_job_record(entry->first);
        ended(entry->second, job && IS_JOB_FINISHED(job) ? state_of(job) : "UNKNOWN", now);
        entry = entries.erase(entry);
    }
    auto& events = context_.outbox.events;
    std::move(arrivals_.begin(), arrivals_.end(), std::back_inserter(events));
    arrivals_.clear();
}

void Observer::observe(job_record_t* job, Time now) {
    JobEntry& entry = context_.jobs.sync(job);
    entry.observed = round_;
    if (!entry.submitted) submitted(job, entry, now);
    bool holds = holds_nodes(job);
    bool restarted = entry.restarts != static_cast<int>(job->restart_cnt);
    if (entry.running && !restarted && IS_JOB_SUSPENDED(job)) suspended(entry, now);
    if ((entry.running && !holds) || restarted) requeued(entry, now);
    entry.restarts = static_cast<int>(job->restart_cnt);
    if (!holds) return;
    repair_batch(job);
    if (!entry.running)
        arrivals_.push_back(
            {now, entry.suspended ? book_resume(job, entry, now) : book_start(job, entry, now)});
    else if (entry.node_list != (job->nodes ? job->nodes : ""))
        note_resize(job, entry, now);
    else if (entry.batch_host.empty())  // not known since a restart
        entry.batch_host = name_of(batch_host(job));
}

void Observer::requeued(JobEntry& entry, Time now) {
    if (entry.running || entry.suspended) ended(entry, "REQUEUED", now);
    entry.suspended = false;
    note_not_running(entry);
}

void Observer::suspended(JobEntry& entry, Time now) {
    negotiation_.job_suspended(entry, now);
    context_.outbox.note(now, journal::End{entry.id, "SUSPENDED", entry.nodes});
    entry.suspended = true;
    note_not_running(entry);
}

void Observer::note_not_running(JobEntry& entry) {
    entry.running = false;
    entry.nodes = 0;
    entry.node_list.clear();
}

void Observer::submitted(const job_record_t* job, JobEntry& entry, Time now) {
    journal::Submit submit;
    submit.job = job->job_id;
    submit.job_class = entry.elastic ? core::class_name(entry.annotation) : "rigid";
    int nodes = static_cast<int>(job->details ? job->details->min_nodes : job->total_nodes);
    submit.min = entry.elastic ? entry.annotation.min : nodes;
    submit.pref = entry.elastic ? entry.annotation.pref : nodes;
    submit.max = entry.elastic ? entry.annotation.max : nodes;
    submit.limit = job->time_limit == INFINITE ? 0 : time_limit_of(job);
    submit.user = user_name(job->user_id);
    submit.name = text(job->name);
    context_.outbox.note(now, std::move(submit));
    entry.submitted = true;
}

void Observer::started(const job_record_t* job, Time now) {
    JobEntry& entry = context_.jobs.sync(job);
    if (!entry.submitted) submitted(job, entry, now);
    context_.outbox.note(now, book_start(job, entry, now));
}

journal::Start Observer::book_start(const job_record_t* job, JobEntry& entry, Time now) {
    entry.running = true;
    entry.restarts = static_cast<int>(job->restart_cnt);
    entry.last_resize = entry.progress_end = entry.not_before = 0;
    entry.gain = entry.expansions = entry.resizes = 0;
    resized(job, entry);
    restart_ledger(job, entry, now);
    return {entry.id, entry.node_list, entry.nodes, !has_whole_nodes(job)};
}

// It goes on with what is left of its time, and what it said of its progress is no longer true.
journal::Start Observer::book_resume(const job_record_t* job, JobEntry& entry, Time now) {
    entry.running = true;
    entry.suspended = false;
    entry.progress_end = 0;
    resized(job, entry);
    restart_ledger(job, entry, now);
    return {entry.id, entry.node_list, entry.nodes, !has_whole_nodes(job)};
}

void Observer::restart_ledger(const job_record_t* job, JobEntry& entry, Time now) {
    double left = std::max(1.0, static_cast<double>(job->end_time) - now);
    entry.ledger =
        core::WorkLedger(now, left, entry.nodes, entry.annotation.speedup, entry.annotation.pref);
}

void Observer::resized(const job_record_t* job, JobEntry& entry) {
    entry.nodes = static_cast<int>(job->node_cnt);
    entry.node_list = text(job->nodes);
    entry.batch_host = name_of(batch_host(job));
}

void Observer::note_resize(const job_record_t* job, JobEntry& entry, Time now) {
    std::string before = entry.node_list;
    int from = entry.nodes;
    resized(job, entry);
    std::string gone = difference(before, entry.node_list);
    std::string come = difference(entry.node_list, before);
    int kept = from - (gone.empty() ? 0 : static_cast<int>(expand_hostlist(gone)->size()));
    entry.ledger.resize(now, entry.nodes, 0);
    log_info("job {}: has {} instead of {}", entry.id, entry.node_list, before);
    if (!gone.empty()) note_resize(entry, journal::Kind::shrink, from, gone, now);
    if (!come.empty()) note_resize(entry, journal::Kind::expand, kept, come, now);
}

void Observer::note_resize(JobEntry& entry, journal::Kind kind, int from,
                           const std::string& changed, Time now) {
    int count = static_cast<int>(expand_hostlist(changed)->size());
    int to = from + (kind == journal::Kind::shrink ? -count : count);
    core::Agreement* cause = cause_of(entry, kind, changed);
    entry.last_reason = cause ? cause->reason : "found: not by an agreement";
    journal::Event event{now, journal::Resize{entry.id, cause ? cause->op : 0, kind, from, to,
                                              changed, entry.last_reason}};
    auto& events = kind == journal::Kind::shrink ? context_.outbox.events : arrivals_;
    events.push_back(std::move(event));
    if (cause) return negotiation_.applied(*cause, entry, changed, now);
    context_.outbox.send(
        entry.connection,
        protocol::Applied{
            0, kind == journal::Kind::shrink ? protocol::Kind::shrink : protocol::Kind::expand,
            changed, entry.node_list, entry.nodes});
}

// When slurmctld dies between a resize and the saving of our state, Slurm's
// records may be ahead: then that agreement has been carried out.
core::Agreement* Observer::cause_of(const JobEntry& entry, journal::Kind kind,
                                    const std::string& changed) {
    using core::AgreementEvent, core::AgreementKind, core::AgreementState;
    core::Agreement* agreement = context_.book.of_job(entry.id);
    if (!agreement) return nullptr;
    if (agreement->kind == AgreementKind::shrink) {
        if (kind != journal::Kind::shrink || agreement->state != AgreementState::released ||
            changed != agreement->node_list)
            return nullptr;
    } else if (kind != journal::Kind::expand || agreement->state != AgreementState::accepted) {
        return nullptr;
    }
    (void)context_.book.advance(*agreement, AgreementEvent::apply);
    return agreement;
}

void Observer::ended(JobEntry& entry, const std::string& state, Time now) {
    negotiation_.job_ended(entry, now);
    context_.outbox.note(now, journal::End{entry.id, state, entry.running ? entry.nodes : 0});
}

}  // namespace elastic::slurm

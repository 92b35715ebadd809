// SPDX-License-Identifier: MIT
// One resize of the engine is an agreement of the journal, with its whole life in one instant, but
// for `ready`, which comes when the resize has been paid for.
#include "simulator/journal_observer.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "core/model/annotation/annotation.hpp"

namespace elastic::simulator {
namespace {

core::PoolCounts pool_sizes(const Workload& workload) {
    if (workload.pools.empty()) return {workload.nodes};
    core::PoolCounts sizes;
    for (const NodePool& pool : workload.pools) sizes.push_back(pool.nodes);
    return sizes;
}

bool are_journal_ids(const std::vector<Job>& jobs) {
    std::vector<std::int64_t> ids;
    ids.reserve(jobs.size());
    for (const Job& job : jobs) ids.push_back(job.id);
    std::sort(ids.begin(), ids.end());
    return ids.empty() || (ids.front() >= 1 && ids.back() <= std::numeric_limits<JobId>::max() &&
                           std::adjacent_find(ids.begin(), ids.end()) == ids.end());
}

}  // namespace

JournalObserver::JournalObserver(const Workload& workload, std::string_view policy, Sink sink)
    : workload_(workload),
      policy_(policy),
      sink_(std::move(sink)),
      nodes_(pool_sizes(workload), workload.jobs.size()),
      log_numbers_(are_journal_ids(workload.jobs)),
      last_resize_(workload.jobs.size(), 0) {}

JobId JournalObserver::id(std::size_t job) const {
    return static_cast<JobId>(log_numbers_ ? workload_.jobs[job].id : job + 1);
}

template <class What>
void JournalObserver::tell(Time now, What what) {
    if (!begun_) {
        begun_ = true;
        sink_({now, journal::Controller{journal::Controller::What::start, workload_.nodes,
                                        std::string(policy_)}});
    }
    tell_ready(now);
    now_ = now;
    sink_({now, std::move(what)});
}

void JournalObserver::tell_ready(Time until) {
    while (!ready_.empty() && ready_.front().at <= until) {
        const Ready ready = ready_.front();
        std::pop_heap(ready_.begin(), ready_.end());
        ready_.pop_back();
        if (last_resize_[ready.job] == ready.op)
            sink_({ready.at, journal::Ready{id(ready.job), ready.op}});
    }
}

void JournalObserver::arrived(Time now, std::size_t job) {
    const Job& submitted = workload_.jobs[job];
    journal::Submit submit;
    submit.job = id(job);
    submit.limit = submitted.estimate;
    core::Sizing elastic;
    elastic.min = elastic.pref = elastic.max = submitted.nodes;
    if (submitted.elasticity >= 0)
        elastic = workload_.elasticities[submitted.elasticity].annotation;
    submit.job_class = core::class_name(elastic);
    submit.min = elastic.min;
    submit.pref = elastic.pref;
    submit.max = elastic.max;
    tell(now, std::move(submit));
}

void JournalObserver::started(Time now, std::size_t job, const core::PoolCounts& nodes) {
    tell(now,
         journal::Start{id(job), to_string(nodes_.take(job, nodes)), core::total(nodes), false});
}

void JournalObserver::started_on_parts(Time now, std::size_t job,
                                       const std::vector<SharedNode>& nodes) {
    tell(now, journal::Start{id(job), to_string(nodes_.share(job, nodes)),
                             static_cast<int>(nodes.size()), true});
}

void JournalObserver::asked(Time now, std::size_t job, OpId op, int nodes, int least) {
    tell(now, journal::Request{id(job), op, ResizeKind::expand, nodes, least});
}

void JournalObserver::denied(Time now, std::size_t job, OpId op, int nodes, core::Reason reason) {
    tell(now,
         journal::Deny{id(job), op, ResizeKind::expand, nodes, std::string(to_string(reason))});
}

void JournalObserver::tell_agreement(Time now, const Resize& change, const NodeRanges& nodes) {
    const JobId job = id(change.job);
    const ResizeKind kind = change.to < change.from ? ResizeKind::shrink : ResizeKind::expand;
    const int count = std::abs(change.to - change.from);
    if (change.own_wish) {
        if (kind == ResizeKind::expand)
            tell(now, journal::Grant{job, change.op, kind, change.wanted, count});
    } else {
        journal::Offer offer;
        offer.job = job;
        offer.op = change.op;
        offer.kind = kind;
        offer.count = count;
        if (kind == ResizeKind::shrink) offer.nodes = to_string(nodes);
        if (change.for_somebody) offer.beneficiary = id(change.beneficiary);
        offer.reason = to_string(change.reason);
        tell(now, std::move(offer));
        tell(now, journal::Accept{job, change.op});
    }
    if (kind == ResizeKind::shrink) tell(now, journal::Release{job, change.op});
}

void JournalObserver::resized(Time now, const Resize& change) {
    const bool shrinks = change.to < change.from;
    const NodeRanges nodes = shrinks ? nodes_.give_back(change.job, change.nodes)
                                     : nodes_.take(change.job, change.nodes);
    tell_agreement(now, change, nodes);
    journal::Resize resize;
    resize.job = id(change.job);
    resize.op = change.op;
    resize.kind = shrinks ? ResizeKind::shrink : ResizeKind::expand;
    resize.from = change.from;
    resize.to = change.to;
    resize.nodes = to_string(nodes);
    resize.reason = to_string(change.reason);
    tell(now, std::move(resize));
    last_resize_[change.job] = change.op;
    if (shrinks) return;
    ready_.push_back({now + change.cost, change.job, change.op});
    std::push_heap(ready_.begin(), ready_.end());
}

void JournalObserver::stepped(Time now, std::size_t job, int number, int nodes, int held) {
    tell(now, journal::Step{id(job), number, nodes, held});
}

void JournalObserver::preempted(Time now, std::size_t job, int nodes) {
    left(now, job, nodes, "REQUEUED");
}

void JournalObserver::ended(Time now, std::size_t job, int nodes) {
    left(now, job, nodes, "COMPLETED");
}

void JournalObserver::left(Time now, std::size_t job, int nodes, const char* state) {
    nodes_.give_back_all(job);
    tell(now, journal::End{id(job), state, nodes});
    last_resize_[job] = 0;
}

void JournalObserver::finish() {
    if (!begun_) return;
    tell_ready(now_);
    sink_({now_, journal::Controller{journal::Controller::What::stop, workload_.nodes,
                                     std::string(policy_)}});
}

}  // namespace elastic::simulator

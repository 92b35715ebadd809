// SPDX-License-Identifier: GPL-2.0-or-later
// A group never waits for what is not its own: where Slurm refuses its next job on its nodes (a
// limit, a reservation) it is no group any more, its jobs stand in the queue again and its nodes
// are anybody's.  A job that is held, changed, cancelled or waits for another leaves, and the group
// goes on.
//
// Always holds: jobs start in the order of their group, and on its nodes alone; a node that goes
// down, is drained or is used by anybody else is not the group's any more.
#include "slurm/act/groups.hpp"

#include <algorithm>

#include "common/log.hpp"
#include "slurm/node_order.hpp"
#include "slurm/read/eligibility.hpp"
#include "slurm/records.hpp"

namespace elastic::slurm {

using controller::Group;
using controller::GroupJob;

namespace {

constexpr int kMostStarts = 50;

}  // namespace

void GroupRunner::advance(Time now) {
    if (state_.groups.all().empty() && state_.groups.beliefs().empty()) return;
    std::unordered_set<JobId> queue;
    for (const Queue::Place& place : reading_.queue.places()) queue.insert(place.job);
    {
        ControllerLock lock;
        observer_.observe(now);
        forget_rebooted();
    }
    auto& groups = state_.groups.all();
    for (std::size_t next = 0; next < groups.size();) {
        ControllerLock lock;
        observer_.observe_holders(now);
        while (next < groups.size() && lock.held() < kLongestHold)
            advance(groups[next++], queue, now);
    }
    state_.groups.forget_finished();
}

void GroupRunner::forget_rebooted() {
    std::vector<std::string> gone;
    for (const auto& [name, belief] : state_.groups.beliefs()) {
        const node_record_t* node = find_node_record(const_cast<char*>(name.c_str()));
        if (!node || static_cast<Time>(node->boot_time) > belief.since) gone.push_back(name);
    }
    for (const std::string& name : gone) state_.groups.forget(name);
}

void GroupRunner::advance(Group& group, const std::unordered_set<JobId>& queue, Time now) {
    NodeSet nodes = agreed_.of(group);
    leave_lost_nodes(group, nodes);
    keep(group, nodes);
    const auto has_left = [&](GroupJob& job) {
        const job_record_t* record = pending_job(job.id);
        if (!record || !queue.contains(job.id) || !belongs(record, group)) return true;
        job.duration = time_to_run(record, static_cast<time_t>(now));
        return false;
    };
    if (std::erase_if(group.waiting, has_left) > 0) outbox_.unsaved = true;
    start_jobs(group, nodes, now);
    give_back_unneeded(group, std::move(nodes));
}

// A node that does not respond, as after a start of slurmctld, is waited for until it is down.
void GroupRunner::leave_lost_nodes(const Group& group, NodeSet& nodes) const {
    const NodeSet before(nodes);
    before.for_each([&](int index) {
        const node_record_t* node = node_record_table_ptr[index];
        if (!node || IS_NODE_DOWN(node) || IS_NODE_DRAIN(node) || IS_NODE_FAIL(node))
            nodes.remove(index);
    });
    for_each_job([&](const job_record_t* job) {
        if (IS_JOB_RUNNING(job) && job->node_bitmap && !belongs(job, group))
            nodes -= NodeSet(job->node_bitmap);
    });
}

bool GroupRunner::belongs(const job_record_t* job, const Group& group) const {
    const controller::Job* known = state_.jobs.find(job->job_id);
    return known && known->elastic && known->group_key() == group.key && job->part_ptr &&
           group.partition == job->part_ptr->name;
}

Started GroupRunner::begin(const controller::WaitingGroup& waiting, const NodeSet& allowed,
                           int nodes, Time now) {
    const NodeSet own = prefer_initialised(waiting.group.key, allowed, nodes);
    Group& group = state_.groups.begin(waiting, own.text(), own.count());
    const std::size_t jobs = group.waiting.size();
    Started started = start_jobs(group, own, now);
    if (started.outcome == StartOutcome::started)
        log_info("group of {} jobs of type {} of {}: begins on {}", jobs, group.key.type,
                 user_name(group.key.user), own.text());
    give_back_unneeded(group, own);
    state_.groups.forget_finished();
    return started;
}

void GroupRunner::extend(JobId next, const NodeSet& allowed, int nodes, Time now) {
    Group* group = state_.groups.next_in(next);
    if (!group) return;
    const NodeSet more = prefer_initialised(group->key, allowed, nodes);
    NodeSet all = agreed_.of(*group);
    all |= more;
    log_info("group of type {} of {}: has {} as well", group->key.type, user_name(group->key.user),
             more.text());
    keep(*group, all);
    start_jobs(*group, all, now);
    give_back_unneeded(*group, std::move(all));
    state_.groups.forget_finished();
}

// As many as there is room for now, and as may be started in one hold of the lock; others are in
// the next pass.  How the first start went.
Started GroupRunner::start_jobs(Group& group, const NodeSet& nodes, Time now) {
    NodeSet free = idle_nodes();
    free &= nodes;
    Started first{StartOutcome::no_room, nullptr, "its group has no node free"};
    for (int starts = 0; starts < kMostStarts && !group.waiting.empty(); ++starts) {
        const int size = size_of(group.waiting.front(), nodes.count());
        if (size > free.count() && size <= nodes.count()) break;
        Started started = size > nodes.count()
                              ? Started{StartOutcome::no_room, nullptr, "its group is too small"}
                              : start_first(group, free, size, now);
        outbox_.unsaved = true;
        const bool goes_on = started.outcome == StartOutcome::started;
        if (!goes_on) {
            log_info("job {}: not started by its group, which ends: {}", group.waiting.front().id,
                     started.why);
            group.waiting.clear();
        }
        if (starts == 0) first = std::move(started);
    }
    return first;
}

Started GroupRunner::start_first(Group& group, NodeSet& free, int nodes, Time now) {
    GroupJob& next = group.waiting.front();
    job_record_t* job = pending_job(next.id);
    if (!job) return {StartOutcome::refused, nullptr, "it does not wait any more"};
    const Attempt attempt{group.partition, "", false};
    Started started = start_job(job, attempt, prefer_initialised(group.key, free, nodes), nodes);
    if (started.outcome == StartOutcome::no_room) started = start_job(job, attempt, free, nodes);
    if (started.outcome != StartOutcome::started) return started;
    if (controller::Job* known = state_.jobs.find(next.id)) known->promised = kNever;
    free -= NodeSet(started.job->node_bitmap);
    agreement_executor_.started(started.job, now);
    log_info("job {}: started on {} ({} nodes, by its group)", started.job->job_id,
             started.job->nodes, started.job->node_cnt);
    if (--next.copies == 0) group.waiting.erase(group.waiting.begin());
    return started;
}

// All nodes of the group, as far as the job can use them.
int GroupRunner::size_of(const GroupJob& job, int nodes) const {
    const controller::Job* known = state_.jobs.find(job.id);
    if (!known || job.least == job.most) return job.least;
    const int size = known->annotation.sizes.largest(job.least, std::min(job.most, nodes));
    return size > 0 ? size : job.least;
}

NodeSet GroupRunner::prefer_initialised(const controller::GroupKey& key, const NodeSet& allowed,
                                        int nodes) const {
    if (key.type.empty()) return allowed;
    NodeSet chosen;
    for (const auto& [name, since] : state_.groups.initialised_for(key)) {
        const node_record_t* node = find_node_record(const_cast<char*>(name.c_str()));
        if (node && allowed.has(node->index)) chosen.add(node->index);
    }
    if (chosen.count() >= nodes) return NodeOrder().first(chosen, nodes);
    NodeSet others(allowed);
    others -= chosen;
    return chosen |= NodeOrder().first(others, nodes - chosen.count());
}

// What the jobs that wait cannot use at the same time.
void GroupRunner::give_back_unneeded(Group& group, NodeSet nodes) {
    NodeSet free = idle_nodes();
    free &= nodes;
    const int needed = group.useful(free.count());
    if (needed < free.count()) {
        NodeSet unneeded(free);
        unneeded -= prefer_initialised(group.key, free, needed);
        nodes -= unneeded;
    }
    keep(group, nodes);
}

void GroupRunner::keep(Group& group, const NodeSet& nodes) {
    std::string list = nodes.text();
    if (list == group.node_list) return;
    group.node_list = std::move(list);
    state_.groups.changed();
    outbox_.unsaved = true;
}

}  // namespace elastic::slurm

// SPDX-License-Identifier: GPL-2.0-or-later
// Of the queue's entries those of one type that may be in one group are collected, and once the
// pools are known an entry of the group takes their place.  What a group is,
// controller/group_book.hpp says.
//
// Always holds: entries and their places in the queue stay beside each other.
#include "slurm/read/waiting_groups.hpp"

#include <algorithm>
#include <utility>

#include "slurm/read/limits.hpp"

namespace elastic::slurm {

WaitingGroups::WaitingGroups(const Knowledge& knowledge, View& view)
    : knowledge_(knowledge), view_(view), in_groups_(knowledge.groups.waiting_copies()) {}

int WaitingGroups::copies(JobId id) const {
    const auto found = in_groups_.find(id);
    return found == in_groups_.end() ? 0 : found->second;
}

void WaitingGroups::add_begun(core::PendingJob next, const Queue::Place& place) {
    if (const auto* group = knowledge_.groups.next_in(next.id))
        begun_.push_back({group, std::move(next), place});
}

// Where Slurm could start it in several ways, its size changes by itself, or not every node is
// cheap enough for it, it is in no group.
void WaitingGroups::add(job_record_t* job, const controller::Job& known,
                        const core::PendingJob& pending, const Queue::Place& place, int tasks) {
    const core::Annotation& annotation = known.annotation;
    const Attempt& attempt = knowledge_.queue.attempts()[place.attempt];
    if (knowledge_.config.starts == core::Starts::slurm) return;
    if (!known.elastic || annotation.packet.empty() || annotation.evolving) return;
    if (annotation.price >= 0) return;
    if (place.one_of_several || !attempt.reservation.empty() || attempt.preferred) return;
    if (pending.shares_nodes || pending.not_before > view_.snapshot.now) return;
    controller::GroupCandidate candidate;
    candidate.key = known.group_key();
    candidate.job.id = job->job_id;
    candidate.job.copies = tasks;
    candidate.job.least = pending.smallest_start();
    candidate.job.most = annotation.malleable ? pending.elastic.max : candidate.job.least;
    candidate.job.duration = pending.duration;
    candidate.job.asked = pending.elastic.pref;
    candidate.initialisation =
        annotation.init.time > 0 ? annotation.init.time : knowledge_.config.init_time;
    candidate.submit = pending.submit;
    candidate.claimed = knowledge_.claimed.contains(job->job_id);
    candidate.partition = attempt.partition;
    const std::uint32_t longest = job->part_ptr->max_time;
    candidate.longest = longest == INFINITE ? kNever : longest * 60.0;
    candidate.nodes = most_nodes(job);
    candidate.line = {pending.eligible, job->assoc_id, job->qos_id};
    candidate.place = view_.snapshot.pending.size();
    candidates_.push_back(std::move(candidate));
}

void WaitingGroups::moved(std::size_t at, std::size_t entries) {
    for (controller::GroupCandidate& candidate : candidates_)
        if (candidate.place >= at) candidate.place += entries;
}

void WaitingGroups::make() {
    if (candidates_.empty() && begun_.empty()) return;
    std::vector<int> totals;
    for (const core::Eligibility& pools : view_.snapshot.eligibilities) {
        int nodes = 0;
        for (const core::PoolId pool : pools) nodes += view_.snapshot.pools[pool].nodes;
        totals.push_back(nodes);
    }
    for (controller::GroupCandidate& candidate : candidates_)
        candidate.nodes = std::min(candidate.nodes, totals[candidate.line.front()]);
    auto groups =
        controller::make_groups(candidates_, knowledge_.config.scale_ratio, view_.snapshot.now);
    if (!groups.empty()) stand_for_jobs(std::move(groups));
    for (Begun& begun : begun_) extend(begun, totals[begun.next.eligible]);
}

// A group that began on fewer nodes than are worth it may have more that no waiting job can use:
// all of them stand before it in the queue.
void WaitingGroups::extend(Begun& begun, int nodes) {
    const controller::Group& group = *begun.group;
    const int owned = knowledge_.agreed.of(group).count();
    const int more =
        controller::node_threshold(group, nodes, knowledge_.config.scale_ratio) - owned;
    core::PendingJob& pending = begun.next;
    const int least = group.least();
    if (more < least) return;
    pending.elastic = {};
    pending.elastic.min = pending.elastic.pref = least;
    pending.elastic.max = more;
    pending.duration = group.initialisation + group.work() / (owned + least);
    view_.extended.insert(pending.id);
    view_.snapshot.pending.push_back(std::move(pending));
    view_.places.push_back(begun.place);
}

// Each group's entry takes the place that it was given; its jobs' own are left out.
void WaitingGroups::stand_for_jobs(std::vector<controller::WaitingGroup> groups) {
    std::vector<core::PendingJob> pending;
    std::vector<Queue::Place> places;
    std::vector<bool> is_grouped(view_.snapshot.pending.size());
    for (const auto& group : groups)
        for (const std::size_t place : group.places) is_grouped[place] = true;
    auto group = groups.begin();
    for (std::size_t place = 0; place < is_grouped.size(); ++place) {
        if (group != groups.end() && group->place == place) {
            pending.push_back(pending_of(*group));
            places.push_back(place_of(*group));
            view_.groups.emplace(group->lead, std::move(*group));
            ++group;
        } else if (!is_grouped[place]) {
            pending.push_back(std::move(view_.snapshot.pending[place]));
            places.push_back(view_.places[place]);
        }
    }
    view_.snapshot.pending = std::move(pending);
    view_.places = std::move(places);
}

std::size_t WaitingGroups::index_of_lead(const controller::WaitingGroup& group) const {
    for (const std::size_t place : group.places)
        if (view_.places[place].job == group.lead) return place;
    return group.places.front();
}

Queue::Place WaitingGroups::place_of(const controller::WaitingGroup& group) const {
    return view_.places[index_of_lead(group)];
}

// As a job without elasticity that takes between so many nodes, whatever is free: the paper's
// m_group.
core::PendingJob WaitingGroups::pending_of(const controller::WaitingGroup& group) const {
    const core::PendingJob& lead = view_.snapshot.pending[index_of_lead(group)];
    core::PendingJob pending;
    pending.id = group.lead;
    pending.eligible = lead.eligible;
    pending.submit = group.submit;
    pending.promised = lead.promised;
    pending.has_traded = lead.has_traded;
    const int least = group.group.least();
    pending.elastic.min = pending.elastic.pref = least;
    pending.elastic.max = group.most;
    pending.divisible = group.group.work() / least;
    pending.duration = group.group.initialisation + pending.divisible;
    if (pending.duration > group.longest) {  // Group::bound()
        pending.divisible = 0;
        pending.duration = group.longest;
    }
    return pending;
}

}  // namespace elastic::slurm

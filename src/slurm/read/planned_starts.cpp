// SPDX-License-Identifier: GPL-2.0-or-later
// A cycle of backfill begins by forgetting what is planned, and gives its locks away in between; so
// until it ends, what the cycle before has planned holds for jobs that it has not come to yet.
#include "slurm/read/planned_starts.hpp"

#include <set>

#include "slurm/read/view.hpp"

namespace elastic::slurm {

void PlannedStarts::read(const Knowledge& knowledge, View& view) {
    begin_look();
    std::set<JobId> seen;  // of those with several places
    for (const Queue::Place& place : knowledge.queue.places()) {
        if (place.one_of_several && !seen.insert(place.job).second) continue;
        const job_record_t* job = find_job_record(place.job);
        if (!job || !IS_JOB_PENDING(job)) continue;
        const SlurmsStart* start = of(job);
        if (!start) continue;
        const NodeSet& nodes = knowledge.agreed.of(start->node_list);
        const auto from = static_cast<Time>(start->from);
        view.snapshot.planned.push_back(
            {job->job_id, from, from + time_limit_of(job), view.count(nodes.get())});
        view.planned |= nodes;
    }
    end_look();
}

void PlannedStarts::begin_look() {
    ++look_;
    is_planning_ = slurmctld_diag_stats.bf_active != 0;
}

void PlannedStarts::end_look() {
    std::erase_if(noted_, [this](const auto& job) { return job.second.look != look_; });
}

// Where the pending job is to start, and when; null if nothing is planned for it.
const SlurmsStart* PlannedStarts::of(const job_record_t* job) {
    if (job->start_time && job->sched_nodes)
        noted_[job->job_id] = {{job->start_time, job->sched_nodes}, look_};
    const auto noted = noted_.find(job->job_id);
    if (noted == noted_.end()) return nullptr;
    if (is_planning_) noted->second.look = look_;
    return noted->second.look == look_ ? &noted->second.start : nullptr;
}

}  // namespace elastic::slurm

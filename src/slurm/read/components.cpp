// SPDX-License-Identifier: GPL-2.0-or-later
// A heterogeneous job stands in the queue where the last of its components does, so that none of
// them is before jobs of higher priority: Slurm's bf_hetjob_prio=min.  One of which a component is
// held, or waits for something else than nodes, is left out as a whole.
//
// Always holds: the leader's entries come first, and all of a job have room from one time on.
#include "slurm/read/components.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

namespace elastic::slurm {

namespace {

// What squeue shows in place of a reason.
constexpr char kIncomplete[] = "Waits for other components that cannot start";

void explain(const std::vector<core::PendingJob>& pending, bool is_complete) {
    for (const core::PendingJob& one : pending) {
        job_record_t* job = find_job_record(one.id);
        if ((xstrcmp(job->state_desc, kIncomplete) == 0) != is_complete) continue;
        xfree(job->state_desc);
        job->state_reason = WAIT_RESOURCES;
        if (!is_complete) job->state_desc = xstrdup(kIncomplete);
        last_job_update = time(nullptr);
    }
}

}  // namespace

void Components::add(const job_record_t* job, core::PendingJob&& pending, const Queue::Place& place,
                     const View& view) {
    Job& whole = jobs_[job->het_job_id];
    pending.together = job->het_job_id;
    whole.pending.push_back(std::move(pending));
    whole.places.push_back(place);
    if (whole.turn || !is_complete(whole, find_job_record(job->het_job_id))) return;
    whole.turn = ++complete_;
    whole.at = view.snapshot.pending.size();
}

// A component that runs already has been started by a controller that was ended before it could
// start the others.
bool Components::is_complete(const Job& job, const job_record_t* leader) {
    if (!leader || !leader->het_job_list) return false;
    bool complete = true;
    ListIterator iterator = list_iterator_create(leader->het_job_list);
    while (auto* component = static_cast<job_record_t*>(list_next(iterator)))
        complete = complete && (IS_JOB_RUNNING(component) ||
                                std::ranges::find(job.pending, component->job_id,
                                                  &core::PendingJob::id) != job.pending.end());
    list_iterator_destroy(iterator);
    return complete;
}

std::vector<Components::Insertion> Components::add_to(View& view) {
    std::vector<Job*> complete(complete_);
    for (auto& [leader, job] : jobs_) {
        explain(job.pending, job.turn > 0);
        if (job.turn) complete[job.turn - 1] = &job;
    }
    std::vector<Insertion> insertions;
    for (auto job = complete.rbegin(); job != complete.rend(); ++job) {
        insert(**job, view);
        insertions.push_back({(*job)->at, (*job)->places.size()});
    }
    return insertions;
}

void Components::insert(Job& job, View& view) {
    Time from = 0;
    for (const core::PendingJob& one : job.pending) from = std::max(from, one.not_before);
    std::vector<std::size_t> order(job.pending.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return job.pending[i].id; });
    std::vector<core::PendingJob> pending;
    std::vector<Queue::Place> places;
    for (const std::size_t i : order) {
        job.pending[i].not_before = from;
        pending.push_back(std::move(job.pending[i]));
        places.push_back(job.places[i]);
    }
    const auto at = static_cast<std::ptrdiff_t>(job.at);
    view.snapshot.pending.insert(view.snapshot.pending.begin() + at,
                                 std::make_move_iterator(pending.begin()),
                                 std::make_move_iterator(pending.end()));
    view.places.insert(view.places.begin() + at, places.begin(), places.end());
}

}  // namespace elastic::slurm

// SPDX-License-Identifier: GPL-2.0-or-later
// One pass over Slurm's job list.  A job that shares its nodes is no job of the snapshot: only
// until when it needs them counts.
//
// Always holds: the view's running jobs and the records kept here stay beside each other.
#include "slurm/read/running_reader.hpp"

#include <algorithm>

#include "controller/job_sizes.hpp"
#include "slurm/batch.hpp"
#include "slurm/read/limits.hpp"

namespace elastic::slurm {

void RunningReader::read() {
    read_jobs();
    for (const controller::Group& group : knowledge_.groups.all()) read_group(group);
}

void RunningReader::read_jobs() {
    for_each_job([this](job_record_t* job) {
        if (IS_JOB_RUNNING(job) && job->node_bitmap) read_job(job);
    });
    knowledge_.answers.share(std::move(sharers_));
}

void RunningReader::read_job(job_record_t* job) {
    const Time end = static_cast<Time>(job->end_time);
    if (!has_whole_nodes(job)) {
        use_.share(job->node_bitmap, end);
        sharers_.push_back(job->job_id);
        return;
    }
    const controller::Job& known = sync(knowledge_.jobs, job);
    core::RunningJob running;
    running.id = job->job_id;
    running.start = static_cast<Time>(job->start_time);
    running.limit_end = end;
    running.duration =
        known.running ? time_limit_of(job, known.time.asked_minutes()) : time_limit_of(job);
    running.estimated_end = known.running ? known.time.estimated_end(knowledge_.now) : end;
    if (known.elastic) {
        add_elastic(job, known, running);
    } else {
        running.elastic.min = running.elastic.pref = running.elastic.max =
            static_cast<int>(job->node_cnt);
        running.eligible = eligibilities_.none();
    }
    use_.hold(job->node_bitmap, running.estimated_end, running.elastic.malleable);
    view_.snapshot.running.push_back(std::move(running));
    records_.push_back(job);
}

void RunningReader::add_elastic(job_record_t* job, const controller::Job& known,
                                core::RunningJob& running) {
    const Time now = knowledge_.now;
    const int size = static_cast<int>(job->node_cnt);
    running.elastic = known.annotation;
    const bool may_grow = known.participation.grow_after <= now;
    // Who may not have more time for fewer nodes keeps them.
    if (known.time.is_law() && !known.evolution.exists())
        running.elastic.min = std::max(running.elastic.min, size);
    controller::bound_sizes(running.elastic, may_grow ? most_nodes(job) : size, size);
    running.elastic.profile = known.evolution.remaining(now, size, running.elastic);
    running.elastic.cost = known.cost();
    running.elastic.speedup = known.scaling.model(known.annotation.speedup);
    running.rescale_time = known.rescale.seconds();
    running.eligible = eligibilities_.of(job);
    running.gain = known.history.gain;
    running.expansions = known.history.expansions;
    running.shrinks = known.history.resizes - known.history.expansions;
    running.last_resize = std::max(known.history.last_resize, running.start);
    running.not_before = known.participation.not_before;
}

// To others the nodes of a group are in use until its last job has ended.
void RunningReader::read_group(const controller::Group& group) {
    const NodeSet& nodes = knowledge_.agreed.of(group);
    std::vector<controller::RunOnGroup> runs;
    for_each_on(nodes,
                [&](const core::RunningJob& running, const job_record_t&, const NodeSet& held) {
                    runs.push_back({running.estimated_end, held.count()});
                });
    const Time end = controller::estimated_end(group, nodes.count(), runs, knowledge_.now);
    use_.own(nodes, end);
    for_each_on(nodes, [&](core::RunningJob& running, const job_record_t&, const NodeSet&) {
        running.estimated_end = std::max(running.estimated_end, end);
        view_.in_groups.insert(running.id);
    });
}

void RunningReader::count_held(const core::PoolMap& pools) {
    for (std::size_t i = 0; i < records_.size(); ++i) {
        core::RunningJob& running = view_.snapshot.running[i];
        running.held = view_.count(records_[i]->node_bitmap);
        const int keep = batch_host(records_[i]);
        if (keep >= 0) running.batch_host_pool = pools.pool_of(static_cast<std::size_t>(keep));
    }
}

}  // namespace elastic::slurm

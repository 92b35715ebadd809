// SPDX-License-Identifier: MIT
// By what jobs have said of themselves, whatever Slurm's records say: so it is known at once, not
// from the next reading of them on.
#include "controller/askable_jobs.hpp"

namespace elastic::controller {

namespace {

// A job may say hello before its start, and so its size, has been read.
bool may_have_more_than_least(const Job& job) {
    return !job.running || job.nodes > job.annotation.min;
}

bool is_askable(const Job& job, const core::Config& config, Time now) {
    return job.elastic && job.annotation.malleable &&
           job.participation.is_present(now, grace_of(config, job)) &&
           job.participation.not_before <= now && may_have_more_than_least(job);
}

}  // namespace

std::unordered_set<JobId> askable_jobs(const State& state, const core::Config& config, Time now) {
    std::unordered_set<JobId> askable;
    for (const auto& [id, job] : state.jobs.all())
        if (is_askable(job, config, now)) askable.insert(id);
    for (const auto& [op, agreement] : state.book.all())
        if (agreement.open()) askable.insert(agreement.job);
    return askable;
}

}  // namespace elastic::controller

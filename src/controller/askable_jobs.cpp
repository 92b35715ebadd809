// SPDX-License-Identifier: MIT
// By what jobs have said of themselves, whatever Slurm's records say: so it is known at once, not
// from the next reading of them on.
#include "controller/askable_jobs.hpp"

namespace elastic::controller {

namespace {

bool is_askable(const Job& job, const core::Config& config, Time now) {
    return job.annotation.malleable && job.takes_part(now, grace_of(config, job)) &&
           job.participation.not_before <= now && job.nodes > job.annotation.min;
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

// SPDX-License-Identifier: MIT
// Each line says what to do about it, since only a person can: a batch script cannot move, so its
// job keeps a node that is to be left.
#include "controller/warnings.hpp"

#include "common/log.hpp"

namespace elastic::controller {

void Warnings::name_who_cannot_leave(const core::Snapshot& snapshot) {
    site_.bound.clear();
    for (const core::RunningJob& job : snapshot.running) {
        const core::Pool& pool = snapshot.pools[job.batch_host_pool];
        if (!job.elastic.malleable || !pool.failing) continue;
        const Job* entry = state_.jobs.find(job.id);
        if (!entry || entry->batch_host.empty()) continue;
        site_.bound.emplace(job.id, entry->batch_host);
        if (!bound_.begins(job.id)) continue;
        log_info(
            "job {0}: cannot leave {1}, which is {2}: its batch script runs there; wait for its "
            "end, or `scontrol requeue {0}`",
            entry->label(), entry->batch_host,
            pool.maintained ? "reserved for maintenance" : "drained or failing");
    }
    bound_.end_look();
}

}  // namespace elastic::controller

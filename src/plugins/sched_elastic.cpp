// SPDX-License-Identifier: GPL-2.0-or-later
// sched/elastic: Slurm's entry points, and nothing else.
#include "common/log.hpp"
#include "slurm/log.hpp"
#include "slurm/preemption.hpp"
#include "slurm/scheduler.hpp"

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT const char plugin_name[] = "Elastic scheduler, built for Slurm " SLURM_VERSION_STRING;
EXPORT const char plugin_type[] = "sched/elastic";
EXPORT const uint32_t plugin_version = SLURM_VERSION_NUMBER;

namespace {

// Never destroyed but by fini(): Slurm's fatal() calls exit() while it holds the locks for which
// the scheduler's thread waits.
std::unique_ptr<elastic::slurm::Scheduler>& scheduler =
    *new std::unique_ptr<elastic::slurm::Scheduler>();
bool has_run = false;

elastic::slurm::Start how_it_starts() {
    const bool goes_on =
        has_run || elastic::slurm::compat::is_executed_anew() || !slurmctld_primary;
    return goes_on ? elastic::slurm::Start::again : elastic::slurm::Start::first;
}

}  // namespace

EXPORT int init(void) try {
    if (scheduler) return SLURM_SUCCESS;
    elastic::slurm::log_to_slurm();
    auto made = std::make_unique<elastic::slurm::Scheduler>();
    if (auto started = made->start(how_it_starts()); !started) {
        elastic::log_error("not started: {}", started.error().message);
        return SLURM_ERROR;
    }
    scheduler = std::move(made);
    has_run = true;
    return SLURM_SUCCESS;
} catch (const std::exception& exception) {
    elastic::log_error("not started: {}", exception.what());
    return SLURM_ERROR;
}

EXPORT int fini(void) try {
    scheduler.reset();
    return SLURM_SUCCESS;
} catch (const std::exception& exception) {
    elastic::log_error("while stopping: {}", exception.what());
    return SLURM_ERROR;
}

EXPORT int sched_p_reconfig(void) try {
    if (scheduler) scheduler->reconfigure();
    return SLURM_SUCCESS;
} catch (const std::exception& exception) {
    elastic::log_error("while reconfiguring: {}", exception.what());
    return SLURM_ERROR;
}

EXPORT bool elastic_admits_preemption(job_record_t* preemptor,
                                      elastic::slurm::MayPreempt may_preempt) try {
    return elastic::slurm::admits_preemption(preemptor, may_preempt);
} catch (const std::exception& exception) {
    elastic::log_error("while a job preempts: {}", exception.what());
    return true;
}

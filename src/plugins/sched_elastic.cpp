// SPDX-License-Identifier: GPL-2.0-or-later
// sched/elastic: Slurm's entry points, and nothing else.
#include "common/log.hpp"
#include "slurm/log.hpp"
#include "slurm/scheduler.hpp"

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT const char plugin_name[] = "Elastic scheduler, built for Slurm " SLURM_VERSION_STRING;
EXPORT const char plugin_type[] = "sched/elastic";
EXPORT const uint32_t plugin_version = SLURM_VERSION_NUMBER;

namespace {
std::unique_ptr<elastic::slurm::Scheduler> scheduler;
}

EXPORT int init(void) try {
    if (scheduler) return SLURM_SUCCESS;
    elastic::slurm::log_to_slurm();
    auto made = std::make_unique<elastic::slurm::Scheduler>();
    if (auto started = made->start(); !started) {
        elastic::log_error("not started: {}", started.error().message);
        return SLURM_ERROR;
    }
    scheduler = std::move(made);
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

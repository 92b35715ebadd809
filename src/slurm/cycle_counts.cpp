// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm's own loops write these counters without a lock of their own, and with Starts=elastic they
// do not run.  So nobody else writes them then, and with Starts=slurm nobody calls this.
#include "slurm/cycle_counts.hpp"

#include <algorithm>

#include "slurm/compat/compat.hpp"

namespace elastic::slurm {

namespace {

diag_stats_t& shown() {
    return slurmctld_diag_stats;
}

void count_as_main(const Cycle& cycle, std::uint32_t length) {
    shown().schedule_cycle_max = std::max(shown().schedule_cycle_max, length);
    shown().schedule_cycle_last = length;
    shown().schedule_cycle_sum += length;
    ++shown().schedule_cycle_counter;
    shown().schedule_cycle_depth += static_cast<std::uint32_t>(cycle.looked_at);
    shown().schedule_queue_len = static_cast<std::uint32_t>(cycle.queue);
}

void count_as_backfill(const Cycle& cycle, std::uint32_t length) {
    shown().bf_cycle_max = std::max(shown().bf_cycle_max, length);
    shown().bf_cycle_last = length;
    shown().bf_cycle_sum += length;
    ++shown().bf_cycle_counter;
    shown().bf_when_last_cycle = time(nullptr);
    shown().bf_last_depth = static_cast<std::uint32_t>(cycle.looked_at);
    shown().bf_depth_sum += shown().bf_last_depth;
    shown().bf_last_depth_try = static_cast<std::uint32_t>(cycle.decided);
    shown().bf_depth_try_sum += shown().bf_last_depth_try;
    shown().bf_queue_len = static_cast<std::uint32_t>(cycle.queue);
    shown().bf_queue_len_sum += shown().bf_queue_len;
    shown().bf_table_size = static_cast<std::uint32_t>(cycle.reserved);
    shown().bf_table_size_sum += shown().bf_table_size;
}

}  // namespace

void Cycle::count(const core::Plan& plan) {
    const auto of = [&](core::ActionKind kind) {
        return static_cast<std::size_t>(
            std::ranges::count(plan.actions, kind, &core::Action::kind));
    };
    reserved = of(core::ActionKind::reserve);
    decided = reserved + of(core::ActionKind::start);
}

void count_cycle(const Cycle& cycle) {
    const auto microseconds = static_cast<std::uint32_t>(cycle.length * 1e6);
    count_as_main(cycle, microseconds);
    count_as_backfill(cycle, microseconds);
    compat::count_end_of_cycle(shown());
}

void count_backfilled() {
    ++shown().backfilled_jobs;
    ++shown().last_backfilled_jobs;
}

}  // namespace elastic::slurm

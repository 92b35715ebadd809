// SPDX-License-Identifier: GPL-2.0-or-later
// What users are told of jobs that wait: when they start, and where (squeue --start, SchedNodeList,
// the state PLANNED of nodes), as Slurm's backfill tells it.
#pragma once

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "controller/expected_nodes.hpp"
#include "core/pass/forecast.hpp"
#include "slurm/read/cluster_reader.hpp"

namespace elastic::slurm {

class Forecaster {
  public:
    using Clock = std::chrono::steady_clock;

    Forecaster(const core::Config& config, Reading& reading) : config_(config), reading_(reading) {}

    // Locks.  Nobody is expected to start any more, and no node is planned.
    void clear();

    // After a pass: begins a forecast of what it has read, if one is due, and has the data of jobs
    // staged in of which a start is expected.
    void begin_if_due();
    // Works for a while, and tells what was found when that is all, or ForecastTime is over: then
    // it locks.
    void advance();
    // When it is to go on; never if there is nothing to do.
    Clock::time_point next() const { return is_at_work_ ? next_ : Clock::time_point::max(); }

  private:
    bool is_due() const;
    void begin();
    void tell();
    void tell_jobs(const std::vector<std::vector<int>>& nodes);
    void forget_others() const;
    void stage_in();
    void show_planned(const std::vector<std::vector<int>>& nodes);
    std::vector<std::pair<JobId, std::size_t>> first_starts() const;

    const core::Config& config_;
    Reading& reading_;
    core::Forecast forecast_;
    bool is_at_work_ = false, shows_any_ = false;
    std::optional<Clock::time_point> begun_;
    Clock::time_point next_{};
    Clock::duration worked_{};
    Clock::time_point staged_{};
    // Of the forecast that is being made: what it is made of, jobs that an entry stands for besides
    // its own, and the nodes by pool.
    core::Snapshot snapshot_;
    std::vector<std::pair<JobId, std::uint32_t>> members_;
    std::vector<std::vector<controller::PoolNode>> pools_;
    int node_records_ = 0;
};

}  // namespace elastic::slurm

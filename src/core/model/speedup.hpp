// SPDX-License-Identifier: MIT
// How a job's run time depends on its size.
#pragma once

#include "common/time.hpp"

namespace elastic::core {

// The models of the papers.  All are used as ratios only: what takes `left` seconds at one size
// takes rescale(left) at another.
struct SpeedupModel {
    enum class Kind {
        // [mebf] section 2.2: rho >= 0, 0 being linear, of which the paper gives only a plot. Read
        // as the serial share of Amdahl's law, T(n) = T(1) * (rho + (1 - rho) / n), ...
        rho,
        // ... or as an exponent, T(n) = T(1) * n^(rho - 1).
        power,
        // [lina] section 3: of the run time at the preferred size p, the share x is parallel
        // overhead and grows as n / p, the rest is computation and shrinks as p / n.
        overhead,
        // Downey's model (the reference [6] of [lina]): average parallelism A and its coefficient
        // of variance sigma; no speed-up beyond A.
        downey,
    } kind = Kind::rho;
    double a = 0;  // rho (of both models), x (0 to 1) or A (from 1)
    double b = 0;  // sigma (from 0); else 0
    // What is believed of it: this share of the speed-up beyond the preferred size (0 to 1).
    double believed = 1;

    // Run time at `nodes` in units of an arbitrary size; `pref` is the preferred one.
    double relative_time(int nodes, int pref) const;
    bool linear() const { return kind != Kind::downey && a == 0; }
    friend bool operator==(const SpeedupModel&, const SpeedupModel&) = default;

  private:
    double declared_time(int nodes, int pref) const;
};

// Run time left at `to` nodes of what takes `left` at `from` nodes.
Duration rescale(Duration left, int from, int to, const SpeedupModel&, int pref);

// Follows how much work a job has left by its time limit, over any number of resizes.  A job that
// gives up nodes runs longer and must not be killed for it, but growing and shrinking in turn must
// not earn it time: so the limit follows the work, not the resizes.
class WorkLedger {
  public:
    WorkLedger() = default;
    // At `now` the job has `left` seconds to run at `nodes` nodes.
    WorkLedger(Time now, Duration left, int nodes, const SpeedupModel&, int pref);

    Time estimated_end() const;
    // Books the work done since and continues at another size; `cost` seconds are added for the
    // resize itself, during which no work is done.  A `now` before the last one counts as the last
    // one.
    void resize(Time now, int nodes, Duration cost);
    // No work was done in between.
    void stand_still(Time from, Time to);

  private:
    Time at_ = 0;
    Duration left_ = 0;      // at nodes_
    Duration overhead_ = 0;  // of resizes, to pass before the work goes on; the same at any size
    int nodes_ = 1;
    SpeedupModel model_;
    int pref_ = 1;
};

}  // namespace elastic::core

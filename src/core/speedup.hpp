// SPDX-License-Identifier: MIT
// How a job's run time depends on its size.
#pragma once

#include "common/time.hpp"

namespace elastic::core {

// [mebf] section 2.2 gives a parameter rho >= 0 (0 is linear) and only a plot of
// its effect.  Read here as the serial share of Amdahl's law, which has the
// plotted shape: T(n) = T(1) * (rho + (1 - rho) / n).
double speedup(int nodes, double rho);

// Run time left at `to` nodes of what takes `left` at `from` nodes.
Duration rescale(Duration left, int from, int to, double rho);

// Follows how much work a job has left by its time limit, over any number of
// resizes.  A job that gives up nodes runs longer and must not be killed for it,
// but growing and shrinking in turn must not earn it time: so the limit follows
// the work, not the resizes.
class WorkLedger {
  public:
    WorkLedger() = default;
    // At `now` the job has `left` seconds to run at `nodes` nodes.
    WorkLedger(Time now, Duration left, int nodes, double rho);

    Time estimated_end() const;
    // Books the work done since and continues at another size; `cost` seconds
    // are added for the resize itself, during which no work is done.  A `now`
    // before the last one counts as the last one.
    void resize(Time now, int nodes, Duration cost);

  private:
    Time at_ = 0;
    Duration left_ = 0;      // at nodes_
    Duration overhead_ = 0;  // of resizes, to pass before the work goes on; the same at any size
    int nodes_ = 1;
    double rho_ = 0;
};

}  // namespace elastic::core

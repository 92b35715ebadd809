// SPDX-License-Identifier: GPL-2.0-or-later
// Idle nodes that Slurm's own loops (Starts=slurm) are to give to nobody, since a job is to have
// them together with those that its victims leave.
#pragma once

#include <functional>
#include <vector>

#include "slurm/nodes.hpp"

namespace elastic::slurm {

// Only to be used by the thread that plans and acts, inside ControllerLock.
class WithheldNodes {
  public:
    using Choose = std::function<NodeSet()>;

    // Who says at the end of each hold of the lock which they are; an empty function: none.
    void choose_by(Choose choose) { choose_ = std::move(choose); }

    // Slurm's records are as they are.
    void show();
    // Slurm's records say that the nodes are completing.
    void hide();

  private:
    Choose choose_;
    std::vector<int> hidden_;
};

WithheldNodes& withheld_nodes();

}  // namespace elastic::slurm

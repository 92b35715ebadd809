// SPDX-License-Identifier: MIT
// Where a node is among a job's nodes, and its first core among their cores, before and after the
// job's nodes change. Slurm keeps by these places what jobs and steps have of each node.
#pragma once

#include <vector>

namespace elastic::controller {

class Places {
  public:
    // A node that is there before and after.
    struct Kept {
        int before, after;            // its place
        int core_before, core_after;  // the place of its first core
        int cores;
    };

    // The next node, in Slurm's order, with so many cores: whether the job had it before, and has
    // it after.
    void add(int cores, bool was, bool is) {
        if (was && is)
            kept_.push_back({nodes_before_, nodes_after_, cores_before_, cores_after_, cores});
        nodes_before_ += was, cores_before_ += was ? cores : 0;
        nodes_after_ += is, cores_after_ += is ? cores : 0;
    }

    // In the order of the nodes.
    template <class Function>
    void for_each_kept(Function&& function) const {
        for (const Kept& kept : kept_) function(kept);
    }

    int nodes_before() const { return nodes_before_; }
    int nodes_after() const { return nodes_after_; }
    int cores_before() const { return cores_before_; }
    int cores_after() const { return cores_after_; }

  private:
    int nodes_before_ = 0, nodes_after_ = 0, cores_before_ = 0, cores_after_ = 0;
    std::vector<Kept> kept_;
};

}  // namespace elastic::controller

// SPDX-License-Identifier: GPL-2.0-or-later
// Which nodes are in use as of one reading, how, and until when by the estimates.
//
// All of this needs ControllerLock, that of the reading.
#pragma once

#include <algorithm>
#include <vector>

#include "common/time.hpp"
#include "slurm/nodes.hpp"

namespace elastic::slurm {

class NodeUse {
  public:
    NodeUse();

    // A job shares these nodes with others, or has them whole, until then; it may yield them if it
    // is malleable.
    void share(bitstr_t* nodes, Time end);
    void hold(bitstr_t* nodes, Time end, bool may_yield);
    // A group owns them, whether a job runs there or not.
    void own(const NodeSet& nodes, Time end);

    // Nodes that a job has whole.
    const NodeSet& held() const { return held_; }
    // When the last job that shares the node has ended, and the group that owns it; -1: nobody.
    Time shared_until(int node) const {
        return std::max(shared_until_[index(node)], owned_until_[index(node)]);
    }
    // When the nodes that a job requires can be had, of those that nobody yields; `shares`: beside
    // others. 0: they are free.
    Time required_from(bitstr_t* required, bool shares, Time now) const;
    // When the first of those in use comes free; kNever if none is in use.
    Time next_coming_free(const NodeSet&, Time now) const;

    // When it comes free, whoever has it; -1: nobody.
    Time until(int node) const { return std::max(held_until_[index(node)], shared_until(node)); }

  private:
    static std::size_t index(int node) { return static_cast<std::size_t>(node); }

    // By node, -1: by nobody.
    std::vector<Time> shared_until_, owned_until_, held_until_;
    NodeSet held_;
    NodeSet yielding_;  // of those, a job may give them up
};

}  // namespace elastic::slurm

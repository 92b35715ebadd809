// SPDX-License-Identifier: GPL-2.0-or-later
// Where a node is among a job's nodes, and its first core among their cores, before and after the
// job's nodes change. Slurm keeps by these places what jobs and steps have of each node.
#pragma once

#include <vector>

#include "slurm/nodes.hpp"

namespace elastic::slurm {

class Places {
  public:
    // A node that is there before and after.
    struct Kept {
        int before, after;            // its place
        int core_before, core_after;  // the place of its first core
        int cores;
    };

    Places(const NodeSet& before, const NodeSet& after)
        : nodes_before_(before.count()), nodes_after_(after.count()) {
        int place_before = 0, place_after = 0;
        NodeSet all(before);
        all |= after;
        all.for_each([&](int node) {
            const int cores = node_record_table_ptr[node]->tot_cores;
            const bool was = before.has(node), is = after.has(node);
            if (was && is)
                kept_.push_back({place_before, place_after, cores_before_, cores_after_, cores});
            place_before += was, cores_before_ += was ? cores : 0;
            place_after += is, cores_after_ += is ? cores : 0;
        });
    }

    template <class Function>
    void for_each_kept(Function&& function) const {
        for (const Kept& kept : kept_) function(kept);
    }

    int nodes_before() const { return nodes_before_; }
    int nodes_after() const { return nodes_after_; }
    int cores_before() const { return cores_before_; }
    int cores_after() const { return cores_after_; }

  private:
    int nodes_before_, nodes_after_, cores_before_ = 0, cores_after_ = 0;
    std::vector<Kept> kept_;
};

// The bits of a kept node's cores.
inline void copy_cores(bitstr_t* from, bitstr_t* to, const Places::Kept& kept) {
    if (!from || !to) return;
    for (int core = 0; core < kept.cores; ++core)
        if (bit_test(from, kept.core_before + core)) bit_set(to, kept.core_after + core);
}

}  // namespace elastic::slurm

// SPDX-License-Identifier: GPL-2.0-or-later
// The places of a job's nodes and cores in Slurm's bitmaps, before and after its nodes change.
#pragma once

#include "controller/places.hpp"
#include "slurm/nodes.hpp"

namespace elastic::slurm {

using controller::Places;

// Needs ControllerLock.
inline Places places_of(const NodeSet& before, const NodeSet& after) {
    Places places;
    NodeSet all(before);
    all |= after;
    all.for_each([&](int node) {
        places.add(node_record_table_ptr[node]->tot_cores, before.has(node), after.has(node));
    });
    return places;
}

// The bits of a kept node's cores.
inline void copy_cores(bitstr_t* from, bitstr_t* to, const Places::Kept& kept) {
    if (!from || !to) return;
    for (int core = 0; core < kept.cores; ++core)
        if (bit_test(from, kept.core_before + core)) bit_set(to, kept.core_after + core);
}

}  // namespace elastic::slurm

// SPDX-License-Identifier: GPL-2.0-or-later
// While nobody of this plugin looks, such nodes are to Slurm what nodes are whose job is just
// leaving: in use, and free in a moment.  So its main loop keeps the order of the queue, as it does
// for a job that waits for nodes in use, and its backfill plans with them for a second later, where
// nodes that are not available would be missing in all of its plan.
//
// Always holds: in a hold of ControllerLock nothing is hidden, and what the state of a node says,
// which Slurm may change at any time, decides what is shown of it again.
#include "slurm/withheld_nodes.hpp"

namespace elastic::slurm {

namespace {

bool is_idle(int node) {
    return bit_test(idle_node_bitmap, node) && !bit_test(cg_node_bitmap, node);
}

}  // namespace

void WithheldNodes::show() {
    for (const int node : hidden_) {
        const node_record_t* record =
            node < node_record_count ? node_record_table_ptr[node] : nullptr;
        if (!record || IS_NODE_COMPLETING(record)) continue;
        bit_clear(cg_node_bitmap, node);
        if (!IS_NODE_ALLOCATED(record)) bit_set(idle_node_bitmap, node);
    }
    hidden_.clear();
}

void WithheldNodes::hide() {
    if (!choose_) return;
    choose_().for_each([this](int node) {
        if (!is_idle(node)) return;
        bit_clear(idle_node_bitmap, node);
        bit_set(cg_node_bitmap, node);
        hidden_.push_back(node);
    });
}

WithheldNodes& withheld_nodes() {
    static WithheldNodes nodes;
    return nodes;
}

}  // namespace elastic::slurm

// SPDX-License-Identifier: GPL-2.0-or-later
// By Slurm's own bitmaps, a word at a time, since it is done at each pass under slurmctld's locks;
// names, which cost far more, are made where a set has changed.
//
// Always holds: each node is counted once, and names are of nodes that exist.
#include "slurm/read/node_states.hpp"

namespace elastic::slurm {

namespace {

NodeSet existing_nodes() {
    NodeSet all;
    for (int node = 0; node < node_record_count; ++node)
        if (node_record_table_ptr[node]) all.add(node);
    return all;
}

// Those of `some` that are in that bitmap of Slurm's.
NodeSet among(const NodeSet& some, bitstr_t* bits) {
    NodeSet both(some);
    bit_and(both.get(), bits);
    return both;
}

NodeSet not_among(const NodeSet& some, bitstr_t* bits) {
    NodeSet rest(some);
    bit_and_not(rest.get(), bits);
    return rest;
}

}  // namespace

void NodeStates::read(int existing) {
    private_ = (slurm_conf.private_data & PRIVATE_DATA_NODES) != 0;
    const bool is_known = named_ && records_ == node_record_count && existing_ == existing &&
                          configured_ == slurm_conf.last_update;
    const NodeSet all = is_known ? named_->all : existing_nodes();
    const NodeSet up = among(all, up_node_bitmap), usable = among(up, avail_node_bitmap);
    const NodeSet down = not_among(all, up_node_bitmap);
    const NodeSet unavailable = not_among(up, avail_node_bitmap);
    const NodeSet completing = among(usable, cg_node_bitmap);
    const int idle = not_among(among(usable, idle_node_bitmap), cg_node_bitmap).count();
    counts_ = {down.count(), unavailable.count(), completing.count(), idle, 0};
    counts_.in_use = usable.count() - counts_.completing - idle;
    if (is_known && named_->down.equals(down) && named_->unavailable.equals(unavailable)) return;
    if (!is_known) names_.all = all.text();
    names_.down = down.text();
    names_.unavailable = unavailable.text();
    named_ = {all, down, unavailable};
    records_ = node_record_count;
    existing_ = existing;
    configured_ = slurm_conf.last_update;
    ++revision_;
}

}  // namespace elastic::slurm

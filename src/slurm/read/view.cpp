// SPDX-License-Identifier: GPL-2.0-or-later
// The parts of a reading, each in its file, in the order in which one needs the other: which nodes
// running jobs have, which jobs wait, and then pools out of all constraints that these have shown.
// The cost is linear in jobs and nodes; masks are made once for each different set of constraints,
// not once a job.  All of it happens under slurmctld's locks: nothing is allocated for a job that
// is like others, and sets of nodes are handled a word at a time.
//
// Always holds for the snapshot: what core/model/snapshot.hpp promises.
#include "slurm/read/view.hpp"

#include <algorithm>
#include <utility>

#include "slurm/read/node_conditions.hpp"
#include "slurm/read/pending_reader.hpp"
#include "slurm/read/running_reader.hpp"
#include "slurm/read/view_pools.hpp"

namespace elastic::slurm {

namespace {

// With MaxNodeCount the table has places for nodes that `scontrol create` may make.
int existing_nodes() {
    auto end = node_record_table_ptr + node_record_count;
    return static_cast<int>(
        std::count_if(node_record_table_ptr, end, [](auto* n) { return n != nullptr; }));
}

// The room of a long list is not given back: free() of more than 64 KB has the C library join all
// small pieces that Slurm's threads have freed, which took a third of a pass.
template <class List>
void keep_room(List& list, List& last) {
    list = std::move(last);
    list.clear();
}

// Keeps how far the queue has been looked at, too.
void begin_reading(View& view, Time now) {
    View last = std::exchange(view, {});
    keep_room(view.snapshot.pending, last.snapshot.pending);
    keep_room(view.snapshot.running, last.snapshot.running);
    keep_room(view.places, last.places);
    keep_room(view.free_from, last.free_from);
    view.looked_at = last.looked_at;
    view.snapshot.now = now;
    view.node_records = node_record_count;
    view.nodes_in_all = existing_nodes();
    view.private_jobs = (slurm_conf.private_data & PRIVATE_DATA_JOBS) != 0;
    view.read = time(nullptr);
}

bool is_idle(int node) {
    return bit_test(idle_node_bitmap, node) && !bit_test(cg_node_bitmap, node) &&
           bit_test(share_node_bitmap, node);
}

void count_idle_and_shared(const NodeUse& use, const NodeSet& usable, const core::PoolMap& pools,
                           core::Snapshot& snapshot) {
    std::map<std::pair<core::PoolId, Time>, int> shared;
    for (int node = 0; node < node_record_count; ++node) {
        if (use.held().has(node) || !usable.has(node)) continue;
        const core::PoolId pool = pools.pool_of(static_cast<std::size_t>(node));
        const Time until = use.shared_until(node);
        if (until < 0 && is_idle(node))
            ++snapshot.pools[pool].idle;
        else
            ++shared[{pool, std::max(until, snapshot.now)}];
    }
    for (const auto& [where, nodes] : shared)
        snapshot.shared_until.push_back({where.first, nodes, where.second});
}

void find_free_from(const NodeUse& use, const NodeSet& usable, View& view) {
    const Time now = view.snapshot.now;
    for (int node = 0; node < node_record_count; ++node) {
        const bool is_there = usable.has(node) || use.held().has(node);
        const Time until =
            use.until(node) < 0 && is_idle(node) ? 0 : std::max(use.until(node), now);
        view.free_from.push_back(is_there ? until : kNever);
    }
}

}  // namespace

void View::split_claimed() {
    auto& pending = snapshot.pending;
    for (std::size_t index = 0; index < pending.size(); ++index) {
        if (!pending[index].claimed || pending[index].copies == 1) continue;
        core::PendingJob others = pending[index];
        others.claimed = false;
        --others.copies;
        pending[index].copies = 1;
        const auto behind = static_cast<std::ptrdiff_t>(index) + 1;
        pending.insert(pending.begin() + behind, std::move(others));
        places.insert(places.begin() + behind, Queue::Place(places[index]));
    }
}

std::optional<std::size_t> View::index_of(JobId id) const {
    const auto& pending = snapshot.pending;
    const auto job = std::ranges::find(pending, id, &core::PendingJob::id);
    if (job == pending.end()) return std::nullopt;
    return static_cast<std::size_t>(job - pending.begin());
}

NodeSet View::nodes_of(const core::PoolCounts& counts) const {
    NodeSet result;
    for (std::size_t pool = 0; pool < counts.size(); ++pool)
        if (counts[pool] > 0) result |= pools[pool];
    return result;
}

NodeSet View::nodes_of(core::EligibilityId id) const {
    NodeSet result;
    for (core::PoolId pool : snapshot.eligibilities[id]) result |= pools[pool];
    return result;
}

core::PoolCounts View::count(bitstr_t* nodes) const {
    core::PoolCounts counts(pools.size(), 0);
    for (std::size_t pool = 0; pool < pools.size(); ++pool)
        counts[pool] = bit_overlap(nodes, pools[pool].get());
    return counts;
}

void read_cluster(const Knowledge& knowledge, View& view) {
    begin_reading(view, knowledge.now);
    view.snapshot.window = knowledge.parameters.window;
    Eligibilities eligibilities;
    NodeUse use;
    RunningReader running(knowledge, eligibilities, use, view);
    running.read();
    PendingReader pending(knowledge, eligibilities, use, view);
    pending.read();
    SupplySets supply = find_supply(knowledge.terms);
    view.supply = std::move(supply.sets);
    view.supply_errors = std::move(supply.errors);
    const NodeConditions conditions =
        find_conditions(knowledge, running, use, eligibilities.usable());
    const core::PoolMap pools = make_pools(eligibilities, conditions, view);
    pending.make_groups();
    running.count_held(pools);
    find_free_from(use, eligibilities.usable(), view);
    count_idle_and_shared(use, eligibilities.usable(), pools, view.snapshot);
    if (knowledge.config.starts == core::Starts::slurm) knowledge.planned.read(knowledge, view);
}

}  // namespace elastic::slurm

// SPDX-License-Identifier: GPL-2.0-or-later
// All nodes of a pool are alike to every job known (read/view.hpp), so it does not matter to the
// plan which of them an action takes, only that it takes no more of a pool than planned.  Where a
// job starts within one pool, Slurm chooses, with all its own rules (weights, topology); of several
// pools exactly the planned numbers are handed to it.
//
// A growth has to be possible in fact before it is offered: limits of accounting, and room for the
// job on each node (nodes of a pool may differ in what other jobs need, too), are asked for here,
// and what is left is offered.
#include "slurm/act/placement.hpp"

#include <algorithm>

#include "controller/planned_actions.hpp"
#include "core/pass/placement.hpp"
#include "slurm/act/prolog.hpp"
#include "slurm/act/resize.hpp"
#include "slurm/batch.hpp"
#include "slurm/read/eligibility.hpp"
#include "slurm/read/limits.hpp"

namespace elastic::slurm {

namespace {

NodeSet required_nodes(const job_record_t* job) {
    return NodeSet(job->details->req_node_bitmap);
}

NodeSet with_room(job_record_t* job, const NodeSet& candidates) {
    NodeSet result;
    candidates.for_each([&](int node) {
        NodeSet one;
        one.add(node);
        if (has_room(job, one)) result.add(node);
    });
    return result;
}

}  // namespace

NodeSet Placement::take(const core::PoolCounts& counts, const NodeSet& last) {
    NodeSet preferred = last.complement();
    preferred -= view_.planned;
    return core::place(counts, view_.pools, agreed_.free(), preferred);
}

NodeSet Placement::for_start(const job_record_t* job, const core::Action& action) {
    const core::PendingJob& pending = view_.snapshot.pending[action.place];
    const NodeSet free = agreed_.free_for(action.job);
    const auto take = [&] {
        return core::place(action.nodes, view_.pools, free, required_nodes(job));
    };
    if (pending.shares_nodes) return with_partly_used(pending, take());
    // Slurm might take more of a pool than a budget leaves.
    if (!controller::is_one_pool(action.nodes) || !view_.snapshot.budgets.empty()) return take();
    NodeSet allowed = view_.nodes_of(action.nodes);
    return allowed &= free;
}

NodeSet Placement::for_start_anywhere(const core::Action& action) {
    const core::PendingJob& pending = view_.snapshot.pending[action.place];
    NodeSet allowed = view_.nodes_of(pending.eligible);
    allowed &= agreed_.free_for(action.job);
    return pending.shares_nodes ? with_partly_used(pending, allowed) : allowed;
}

// Constraints that the plan does not know (counts of features, topology) may want other nodes than
// those it took of several pools.  Nobody before the job in the queue is to be protected from that
// if it starts in order.
bool Placement::may_start_anywhere(const core::Action& action) const {
    return action.reason == core::Reason::fits && view_.snapshot.budgets.empty();
}

NodeSet Placement::room_for(const core::PendingJob& pending) {
    NodeSet room = agreed_.room_for(pending.id, pending.shares_nodes);
    return room &= view_.nodes_of(pending.eligible);
}

NodeSet Placement::with_partly_used(const core::PendingJob& pending, const NodeSet& idle) const {
    NodeSet allowed = view_.nodes_of(pending.eligible);
    allowed -= idle_nodes();
    return allowed |= idle;
}

NodeSet Placement::for_shrink(const job_record_t* job, const core::Action& action) {
    NodeSet held(job->node_bitmap);
    if (const int keep = batch_host(job); keep >= 0) held.remove(keep);
    NodeSet leaving;
    for (std::size_t pool = 0; pool < action.nodes.size(); ++pool) {
        if (action.nodes[pool] == 0) continue;
        NodeSet here(held);
        here &= view_.pools[pool];
        // Jobs grow at the end, so what was gained last is given up and what is kept stays compact.
        leaving |= here.last(action.nodes[pool]);
    }
    return leaving.count() == core::total(action.nodes) ? leaving : NodeSet();
}

NodeSet Placement::beside_victims(const core::Action& action, const core::Plan& plan,
                                  const NodeSet& last) {
    return take(controller::beside_victims(plan, action), last);
}

NodeSet Placement::beside(const NodeSet& nodes, const core::PoolCounts& counts) {
    return take(controller::excess(counts, view_.count(nodes.get())));
}

Growth Placement::for_growth(job_record_t* job, const controller::Job& known,
                             const core::Action& action) {
    NodeSet candidates = take(action.nodes, just_left(known));
    candidates &= eligible_nodes(job, usable_nodes());
    const int size = static_cast<int>(job->node_cnt);
    return largest(job, known, candidates, size + 1, size + core::total(action.nodes));
}

// A slurmd refuses a job's steps after the job has left its node until a step comes whose
// credential is of a later second than the departure; for up to two seconds more it remembers that
// the job's prolog has run, and would not run it anew. A front end is never left.
//
// The end of the second also lets the slurmd hear of the departure, of which slurmctld does not
// learn when that is, and begin the epilog: an earlier step would be ended with what ran before.
NodeSet Placement::just_left(const controller::Job& job) {
    if (front_end_mode()) return NodeSet();
    const time_t seconds = runs_prolog_at_allocation() ? 3 : 1;
    return agreed_.of(job.left, time(nullptr) - seconds + 1);
}

Growth Placement::agreed_growth(job_record_t* job, const controller::Job& known,
                                const controller::Agreement& agreement, const NodeSet& freed) {
    const bool is_anywhere = agreement.node_list.empty() && freed.empty();
    NodeSet candidates = is_anywhere ? agreed_.free() : agreed_.of(agreement);
    candidates |= freed;
    candidates &= idle_nodes();
    candidates &= eligible_nodes(job, usable_nodes());
    NodeSet later = just_left(known);
    later &= candidates;
    candidates -= later;
    const int size = static_cast<int>(job->node_cnt);
    const int least = agreement.requested ? size + agreement.least : size + 1;
    Growth growth = largest(job, known, candidates, least,
                            std::min(known.annotation.max, size + agreement.coming()));
    growth.later = std::move(later);
    return growth;
}

// The largest allowed size for which there is room on the candidates, within the limits of
// accounting.
Growth Placement::largest(job_record_t* job, const controller::Job& known,
                          const NodeSet& candidates, int least, int most) {
    Growth growth;
    NodeSet nodes(candidates);
    bool is_checked = false;  // each of `nodes` has room for the job
    const int size = static_cast<int>(job->node_cnt);
    const core::SizeRule& sizes = known.annotation.sizes;
    for (int to = most;; --to) {
        to = sizes.largest(least, std::min(to, size + nodes.count()));
        if (to <= size) break;
        growth.joining = nodes.first(to - size);
        if (to > most_nodes_by_partition(job)) {
            growth.obstacle = fmt::format("its partition allows no {} nodes", to);
            continue;
        }
        if (auto limit = limit_on_growth(job, growth.joining, known.node_time)) {
            growth.obstacle = "limit of accounting: " + *limit;
            continue;
        }
        if (has_room(job, growth.joining)) return growth;
        growth.obstacle = "Slurm finds no room for it on " + growth.joining.text();
        if (std::exchange(is_checked, true)) continue;
        nodes = with_room(job, nodes);
        ++to;
    }
    growth.joining = NodeSet();
    return growth;
}

}  // namespace elastic::slurm

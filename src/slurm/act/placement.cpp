// SPDX-License-Identifier: GPL-2.0-or-later
// All nodes of a pool are alike to every job known (read/view.hpp), so it does not matter to the
// plan which of them an action takes, only that it takes no more of a pool than planned.  Where a
// job starts, Slurm chooses, with all its own rules (weights, topology, how tasks are spread),
// among as many nodes of each pool as the plan leaves to it: those that are planned, and those that
// are spare.  What is not Slurm's choice goes by NodeOrder: a growth takes nodes of the job's own
// switches first, a shrink gives back those of others first.
//
// A growth has to be possible in fact before it is offered: limits of accounting, and room for the
// job on each node (nodes of a pool may differ in what other jobs need, too), are asked for here,
// and what is left is offered.
#include "slurm/act/placement.hpp"

#include <algorithm>
#include <limits>

#include "controller/planned_actions.hpp"
#include "core/pass/placement.hpp"
#include "slurm/act/prolog.hpp"
#include "slurm/act/resize.hpp"
#include "slurm/act/start.hpp"
#include "slurm/batch.hpp"
#include "slurm/read/eligibility.hpp"
#include "slurm/read/limits.hpp"

namespace elastic::slurm {

namespace {

NodeSet required_nodes(const job_record_t* job) {
    return NodeSet(job->details->req_node_bitmap);
}

// Whether there are such of pools that the plan does not use.
bool has_spare_beside(const core::PoolCounts& counts, const core::PoolCounts& spare) {
    for (std::size_t pool = 0; pool < spare.size(); ++pool)
        if (counts[pool] == 0 && spare[pool] > 0) return true;
    return false;
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

NodeSet Placement::take(const core::PoolCounts& counts, const NodeOrder& order) {
    return core::place(counts, view_.pools, agreed_.free(), order);
}

NodeSet Placement::take_best(const core::PoolCounts& counts, const core::Action& action,
                             const NodeOrder& order) {
    const int size = core::total(counts);
    const NodeSet taken = order.first(choice(counts, action, size, agreed_.free(), order), size);
    stray(taken, counts);
    return taken;
}

NodeOrder Placement::order_of_start() const {
    return NodeOrder({view_.planned.complement()});
}

NodeOrder Placement::order_of_growth(const job_record_t* job, const controller::Job& known) {
    NodeSet ready = just_left(known).complement();
    ready -= view_.planned;
    return NodeOrder({std::move(ready), with_neighbours(NodeSet(job->node_bitmap), job)});
}

NodeSet Placement::for_start(const job_record_t* job, const core::Action& action, int size) {
    const core::PendingJob& pending = view_.snapshot.pending[action.place];
    const NodeSet allowed = choice(action.nodes, action, size, agreed_.free_for(action.job),
                                   NodeOrder({required_nodes(job)}));
    return pending.shares_nodes ? with_partly_used(pending, action.parts, allowed) : allowed;
}

// Of pools that the plan does not use only what is better: where all are as good, the plan has
// chosen by how many others want them.
NodeSet Placement::choice(const core::PoolCounts& counts, const core::Action& action, int size,
                          const NodeSet& free, const NodeOrder& order) const {
    NodeSet allowed = view_.nodes_of(counts);
    allowed &= free;
    if (has_spare_beside(counts, action.spare))
        allowed |= order.better(free, core::place(counts, view_.pools, free, order));
    return core::place(most_of_pools(counts, action, size), view_.pools, allowed, order);
}

// All where the job takes no more in any case.
core::PoolCounts Placement::most_of_pools(const core::PoolCounts& counts,
                                          const core::Action& action, int size) const {
    core::PoolCounts most = counts;
    for (std::size_t pool = 0; pool < most.size(); ++pool) {
        const int spare = action.spare.empty() ? 0 : action.spare[pool];
        const int strayed = strayed_.empty() ? 0 : strayed_[pool];
        most[pool] += std::max(0, spare - strayed);
        if (size != kAsRequested && size <= most[pool])
            most[pool] = std::numeric_limits<int>::max();
    }
    return most;
}

void Placement::started(const job_record_t* job, const core::Action& action, const NodeSet& idle) {
    NodeSet taken(job->node_bitmap);
    stray(taken &= idle, action.nodes);
}

void Placement::stray(const NodeSet& taken, const core::PoolCounts& planned) {
    const core::PoolCounts more = controller::excess(view_.count(taken.get()), planned);
    strayed_ = strayed_.empty() ? more : core::sum(strayed_, more);
}

NodeSet Placement::for_start_anywhere(const core::Action& action) {
    const core::PendingJob& pending = view_.snapshot.pending[action.place];
    NodeSet allowed = view_.nodes_of(pending.eligible);
    allowed &= agreed_.free_for(action.job);
    return pending.shares_nodes ? with_partly_used(pending, {}, allowed) : allowed;
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

// And all that are partly used, of pools of which it may take some.
NodeSet Placement::with_partly_used(const core::PendingJob& pending, const core::PoolCounts& parts,
                                    const NodeSet& idle) const {
    NodeSet allowed = view_.nodes_of(pending.eligible);
    if (!parts.empty()) allowed &= view_.nodes_of(parts);
    allowed -= idle_nodes();
    return allowed |= idle;
}

NodeSet Placement::for_shrink(const job_record_t* job, const core::Action& action) {
    NodeSet held(job->node_bitmap);
    if (const int keep = batch_host(job); keep >= 0) held.remove(keep);
    const NodeOrder order = order_of_keeping(job);
    NodeSet leaving;
    for (std::size_t pool = 0; pool < action.nodes.size(); ++pool) {
        if (action.nodes[pool] == 0) continue;
        NodeSet here(held);
        here &= view_.pools[pool];
        leaving |= order.last(here, action.nodes[pool]);
    }
    return leaving.count() == core::total(action.nodes) ? leaving : NodeSet();
}

NodeSet Placement::beside_victims(const core::Action& action, const core::Plan& plan) {
    return take(controller::beside_victims(plan, action), order_of_start());
}

NodeSet Placement::beside_victims(const job_record_t* job, const controller::Job& known,
                                  const core::Action& action, const core::Plan& plan) {
    return take_best(controller::beside_victims(plan, action), action, order_of_growth(job, known));
}

NodeSet Placement::rest_of(const NodeSet& nodes, const core::PoolCounts& counts) {
    return take(controller::excess(counts, view_.count(nodes.get())), order_of_start());
}

Growth Placement::for_growth(job_record_t* job, const controller::Job& known,
                             const core::Action& action) {
    NodeSet candidates = take_best(action.nodes, action, order_of_growth(job, known));
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
    const NodeOrder order = order_of_growth(job, known);
    const core::SizeRule& sizes = known.annotation.sizes;
    for (int to = most;; --to) {
        to = sizes.largest(least, std::min(to, size + nodes.count()));
        if (to <= size) break;
        growth.joining = order.first(nodes, to - size);
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

// SPDX-License-Identifier: MIT
// What the scheduler decides: a list of actions, each with its reason, to be carried out in order.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/json.hpp"
#include "common/names.hpp"
#include "core/model/types.hpp"

namespace elastic::core {

enum class ActionKind {
    start,     // a pending job begins on `nodes`
    shrink,    // a running job gives up `nodes`, for `beneficiary` if there is one
    expand,    // a running job gets `nodes`
    reserve,   // a blocked job will begin at `time` on `nodes`; informs, changes nothing
    deny,      // the request `op` is refused for good
    withdraw,  // the offer `op` is taken back: the queue needs its nodes
    trade,     // what a running job gives up by `op` is for `beneficiary` from now on, which leaves
               // `nodes` that are there for it to the job that starts instead
    preempt,   // a running job is ended, and waits again if it may: its `nodes` are wanted by
               // `beneficiary`, at `place`
};

enum class Reason {
    // start
    fits,             // in order, on idle nodes
    backfilled,       // ahead of a reservation that it does not delay
    by_shrinking,     // nodes come from victims
    nodes_came_free,  // claimed nodes of a victim, but idle ones suffice now
    by_trading,       // claimed nodes of a victim, but others are there now
    // shrink
    for_pending_job,
    for_evolving_job,
    instead_of_preemption,
    leaves_failing,     // [gupta] section VII-A: its nodes are drained or about to fail
    leaves_maintained,  // ... or reserved for maintenance soon
    leaves_dear,        // [gupta] section VII-B: its nodes cost more than it takes nodes for
    over_budget,        // more nodes are in use than may be
    // expand
    nobody_can_use,  // idle nodes that no pending job can use
    lent,            // ... until they are needed for a reservation
    evolving_request,
    replaces,  // nodes in place of others, which it can leave only then
    // reserve
    head_of_queue,
    // deny
    beyond_maximum,  // the job's own max
    no_nodes,        // none idle, no victim, deadline reached
    not_allowed_size,
    // withdraw
    queue_needs_nodes,
    // trade
    starts_sooner,
    // preempt
    has_precedence,
};

constexpr auto names(ActionKind) {
    return std::to_array<std::string_view>(
        {"start", "shrink", "expand", "reserve", "deny", "withdraw", "trade", "preempt"});
}
// Short phrases for logs and for the reasons that are told.
constexpr auto names(Reason) {
    return std::to_array<std::string_view>({
        "fits on idle nodes",
        "delays no reservation",
        "nodes come from shrunk jobs",
        "idle nodes came free",
        "nodes that others were promised are there",
        "a pending job needs the nodes",
        "an evolving job needs the nodes",
        "a job that may preempt it needs the nodes",
        "the nodes are drained or failing",
        "the nodes are reserved for maintenance",
        "the nodes cost more than its price",
        "more nodes are in use than the cap allows",
        "no pending job can use the nodes",
        "lent until a reserved job can start",
        "the job asked for the nodes",
        "in place of nodes that it is to leave",
        "head of the queue",
        "beyond the job's maximum",
        "not enough nodes until the deadline",
        "no size that the job allows",
        "the queue needs the nodes",
        "another job can start on what is there",
        "a job that has precedence needs the nodes",
    });
}
using elastic::to_string;

struct Action {
    ActionKind kind = ActionKind::start;
    Reason reason = Reason::fits;
    JobId job = 0;
    OpId op = 0;  // deny, withdraw, trade, and expand for a request
    // By pool.  For a pending job that shares nodes these may be fewer than size_after: the rest is
    // to be found on partly used nodes, if Slurm can.
    PoolCounts nodes;
    // start, expand: some of `nodes` are those of shrinks in this plan or in flight whose
    // beneficiary is this job; to be done when all of those are released.
    bool deferred = false;
    JobId beneficiary = 0;  // shrink, trade, preempt
    // start, reserve, preempt: in the queue, an index into Snapshot::pending; expand: into
    // Snapshot::running.
    std::uint32_t place = 0;
    Time time = 0;       // reserve: when
    bool anew = false;   // reserve: in place of what the job was promised before
    int size_after = 0;  // start, shrink, expand: the job's nodes then
    // start, expand: by pool, what the job could have until its end besides `nodes`, since nobody
    // else is planned there.  So it may have some of these in place of as many of `nodes`.  Empty
    // if it may not.  Not recorded.
    PoolCounts spare;
    // start of a job that shares nodes: by pool, how many of its partly used nodes the job may take
    // besides, so that it delays no reservation; empty: as many as it likes.  Not recorded.
    PoolCounts parts;
};

struct Plan {
    std::vector<Action> actions;

    void clear() { actions.clear(); }
};

Json to_json(const Action&);
Json to_json(const Plan&);
// For people, e.g. "job 7: shrink to 4 nodes, 2 fewer, for job 9 (a pending job needs the nodes)";
// times are counted from `now`.
std::string describe(const Action&, Time now);

}  // namespace elastic::core

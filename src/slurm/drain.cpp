// SPDX-License-Identifier: GPL-2.0-or-later
// Draining and looking who is there are one hold of the lock, so that nobody can come in between:
// who is not named in the answer is not there and will not be.
//
// Slurm lets administrators drain nodes, and so does this; operators may empty what is drained.
#include "slurm/drain.hpp"

#include "common/hostlist.hpp"
#include "common/log.hpp"
#include "slurm/lock.hpp"
#include "slurm/nodes.hpp"
#include "slurm/records.hpp"

namespace elastic::slurm {

using controller::Emptying;
using controller::Occupant;

namespace {

Result<NodeSet> existing_nodes(const std::string& list) {
    auto names = expand_hostlist(list);
    if (!names) return elastic::error("{}: {}", list, names.error().message);
    if (names->empty()) return elastic::error("no node is named");
    NodeSet nodes;
    std::vector<std::string> unknown;
    for (std::string& name : *names)
        if (node_record_t* node = find_node_record2(name.data()))
            nodes.add(static_cast<int>(node->index));
        else
            unknown.push_back(std::move(name));
    if (!unknown.empty())
        return elastic::error("Slurm knows no node {}; nothing was done",
                              compress_hostlist(std::move(unknown)));
    return nodes;
}

NodeSet in_service(const NodeSet& nodes) {
    NodeSet result;
    nodes.for_each([&](int node) {
        if (!IS_NODE_DRAIN(node_record_table_ptr[node])) result.add(node);
    });
    return result;
}

Occupant::State state_of(const job_record_t* job) {
    if (IS_JOB_COMPLETING(job)) return Occupant::State::completing;
    return IS_JOB_SUSPENDED(job) ? Occupant::State::suspended : Occupant::State::running;
}

std::vector<Occupant> occupants(const NodeSet& nodes) {
    std::vector<Occupant> found;
    for_each_job([&](const job_record_t* job) {
        const bool is_there =
            IS_JOB_RUNNING(job) || IS_JOB_SUSPENDED(job) || IS_JOB_COMPLETING(job);
        const bitstr_t* held =
            IS_JOB_COMPLETING(job) && job->node_bitmap_cg ? job->node_bitmap_cg : job->node_bitmap;
        if (!is_there || !held) return;
        NodeSet here(held);
        here &= nodes;
        if (here.empty()) return;
        const std::string name = array_name(job);
        found.push_back({job->job_id, name.empty() ? std::to_string(job->job_id) : name,
                         here.text(), state_of(job)});
    });
    return found;
}

}  // namespace

Result<Emptying> drain(const std::string& list, uid_t uid) {
    Emptying emptying;
    {
        ControllerLock lock;
        auto nodes = existing_nodes(list);
        if (!nodes) return nodes.error();
        const NodeSet fresh = in_service(*nodes);
        if (!fresh.empty() && uid != 0 && !validate_super_user(uid))
            return elastic::error(
                "Slurm lets administrators drain nodes, and {} is not drained; nothing was done",
                fresh.text());
        emptying.drained = fresh.text();
        std::string reason = "evacuated by selastic";
        if (!fresh.empty()) drain_nodes(emptying.drained.data(), reason.data(), uid);
        emptying.occupants = occupants(*nodes);
    }
    if (emptying.drained.empty()) return emptying;
    schedule_node_save();
    log_info("{} drained by {} to be evacuated", emptying.drained, user_name(uid));
    return emptying;
}

}  // namespace elastic::slurm

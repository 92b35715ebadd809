// SPDX-License-Identifier: GPL-2.0-or-later
// Only nodes that jobs hold can be failing here: Slurm gives the others to nobody.
#include "slurm/read/node_conditions.hpp"

#include <algorithm>

namespace elastic::slurm {

namespace {

using core::LeaveNodes;

NodeSet find_failing(LeaveNodes leave, const NodeSet& held, const NodeSet& usable) {
    NodeSet failing, out_of_service(held);
    out_of_service -= usable;
    out_of_service.for_each([&](int node) {
        const node_record_t* record = node_record_table_ptr[node];
        const bool is_drained = leave >= LeaveNodes::drained && IS_NODE_DRAIN(record);
        if (is_drained || IS_NODE_FAIL(record)) failing.add(node);
    });
    return failing;
}

// To answer and to move data, first for other nodes and then for leaving.
constexpr Duration longest_departure(Duration grace) {
    return 4 * grace;
}

// Nodes that a reservation is to have for maintenance, as long before it begins as the job that
// has them may take to leave them.
class Maintenance {
  public:
    Maintenance(const Knowledge& knowledge, const RunningReader& running)
        : knowledge_(knowledge), running_(running) {}

    NodeSet find() const {
        NodeSet maintained;
        const auto now = static_cast<time_t>(knowledge_.now);
        ListIterator iterator = list_iterator_create(resv_list);
        while (auto* reservation = static_cast<slurmctld_resv_t*>(list_next(iterator)))
            if (compat::is_maintenance(reservation, now)) find(reservation, maintained);
        list_iterator_destroy(iterator);
        return maintained;
    }

  private:
    void find(const slurmctld_resv_t* reservation, NodeSet& maintained) const {
        const auto begin =
            static_cast<Time>(compat::begin_of(reservation, static_cast<time_t>(knowledge_.now)));
        const Duration left = begin - knowledge_.now;
        const core::Config& config = knowledge_.config;
        if (left > longest_departure(std::max(config.grace_time, config.max_grace_time))) return;
        running_.for_each_on(
            NodeSet(reservation->node_bitmap),
            [&](const core::RunningJob& running, const job_record_t& job, const NodeSet& held) {
                const bool is_over = running.limit_end <= begin;
                if (running.elastic.malleable && job.resv_ptr != reservation && !is_over &&
                    left <= longest_departure(grace_of(running.id)))
                    maintained |= held;
            });
    }

    Duration grace_of(JobId id) const {
        return controller::grace_of(knowledge_.config, *knowledge_.jobs.find(id));
    }

    const Knowledge& knowledge_;
    const RunningReader& running_;
};

}  // namespace

NodeConditions find_conditions(const Knowledge& knowledge, const RunningReader& running,
                               const NodeUse& use, const NodeSet& usable) {
    NodeConditions found;
    const LeaveNodes leave = knowledge.config.leave_nodes;
    if (leave >= LeaveNodes::failing) found.failing = find_failing(leave, use.held(), usable);
    if (leave >= LeaveNodes::maintenance) {
        found.maintained = Maintenance(knowledge, running).find();
        found.maintained -= found.failing;
        found.failing |= found.maintained;
    }
    found.asleep |= NodeSet(compat::powered_down_nodes());
    found.asleep |= NodeSet(booting_node_bitmap);
    return found;
}

}  // namespace elastic::slurm

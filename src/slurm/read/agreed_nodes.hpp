// SPDX-License-Identifier: GPL-2.0-or-later
// The nodes that agreements and claims name, as Slurm's sets, and which idle nodes are promised to
// nobody.
//
// All functions need ControllerLock.
#pragma once

#include <string>
#include <unordered_map>

#include "controller/agreement.hpp"
#include "controller/group_book.hpp"
#include "controller/left_nodes.hpp"
#include "slurm/nodes.hpp"

namespace elastic::slurm {

class AgreedNodes {
  public:
    AgreedNodes(const controller::AgreementBook& book, const controller::GroupBook& groups)
        : book_(book), groups_(groups) {}

    // Valid until the next call.
    const NodeSet& of(const controller::Agreement& agreement) { return of(agreement.node_list); }
    const NodeSet& of(const controller::Claim& claim) { return of(claim.node_list); }
    const NodeSet& of(const controller::Group& group) { return of(group.node_list); }
    const NodeSet& of(const std::string& list);
    // All that was left in that second or later.
    NodeSet of(const controller::LeftNodes&, time_t second);

    // What jobs are to have besides that which their victims leave.
    NodeSet beside_victims();
    // Idle nodes that no growth and no claim in flight names and no group owns.
    NodeSet free();
    // And those that are kept for this pending job.
    NodeSet free_for(JobId pending);
    // And, if it shares nodes, those that are in use but may be shared.
    NodeSet room_for(JobId pending, bool shares);

  private:
    const NodeSet& promised();
    void forget_if_stale();

    const controller::AgreementBook& book_;
    const controller::GroupBook& groups_;
    std::unordered_map<std::string, NodeSet> sets_;  // by text
    time_t made_ = 0;                                // sets_ is of Slurm's table as of then
    NodeSet promised_;
    std::uint64_t revision_ = 0;  // of the books that promised_ was made of, both grow; 0 none
};

}  // namespace elastic::slurm

// SPDX-License-Identifier: GPL-2.0-or-later
// To make a set of a text costs a look at each name, with slurmctld's lock held, and settling a
// hundred victims asks for theirs again and again; so each text is read once.
//
// Always holds: after slurm.conf was read anew, when indices may mean other nodes, all sets are
// made anew.
#include "slurm/read/agreed_nodes.hpp"

#include "slurm/read/eligibility.hpp"

namespace elastic::slurm {

namespace {

constexpr std::size_t kMostSets =
    4096;  // then those of agreements long over are forgotten with the rest

}  // namespace

// Slurm's mark has a resolution of one second: what was made within that second may be older.
void AgreedNodes::forget_if_stale() {
    if (made_ > slurm_conf.last_update && sets_.size() < kMostSets) return;
    sets_.clear();
    revision_ = 0;
    made_ = time(nullptr);
}

const NodeSet& AgreedNodes::of(const std::string& list) {
    forget_if_stale();
    auto found = sets_.find(list);
    if (found == sets_.end()) found = sets_.emplace(list, NodeSet::from_text(list)).first;
    return found->second;
}

NodeSet AgreedNodes::of(const controller::LeftNodes& left, time_t second) {
    NodeSet nodes;
    for (const std::string& list : left.since(second)) nodes |= of(list);
    return nodes;
}

const NodeSet& AgreedNodes::promised() {
    forget_if_stale();
    const std::uint64_t revision = book_.revision() + groups_.revision();
    if (revision_ == revision) return promised_;
    promised_ = NodeSet();
    for (const auto& [op, agreement] : book_.all())
        if (agreement.open() && agreement.kind == ResizeKind::expand &&
            !agreement.node_list.empty())
            promised_ |= of(agreement);
    for (const auto& [job, claim] : book_.claims()) promised_ |= of(claim);
    for (const controller::Group& group : groups_.all()) promised_ |= of(group);
    revision_ = revision;
    return promised_;
}

NodeSet AgreedNodes::beside_victims() {
    NodeSet nodes;
    for (const auto& [job, claim] : book_.claims()) nodes |= of(claim);
    for (const auto& [op, agreement] : book_.all())
        if (agreement.open() && agreement.state == controller::AgreementState::queued)
            nodes |= of(agreement);
    return nodes;
}

NodeSet AgreedNodes::free() {
    NodeSet idle = idle_nodes();
    idle -= promised();
    return idle;
}

NodeSet AgreedNodes::free_for(JobId pending) {
    NodeSet nodes = free();
    const controller::Claim* claim = book_.claim_of(pending);
    if (!claim) return nodes;
    NodeSet own = of(*claim);
    own &= idle_nodes();
    nodes |= own;
    return nodes;
}

NodeSet AgreedNodes::room_for(JobId pending, bool shares) {
    NodeSet room = free_for(pending);
    if (!shares) return room;
    NodeSet in_use = open_nodes();
    in_use -= idle_nodes();
    return room |= in_use;
}

}  // namespace elastic::slurm

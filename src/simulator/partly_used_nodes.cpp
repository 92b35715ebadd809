// SPDX-License-Identifier: MIT
// Best fit keeps nodes whole for jobs that want whole ones.  Slurm's own choice hangs on its
// options; none of them leaves more nodes idle.
#include "simulator/partly_used_nodes.hpp"

#include <algorithm>
#include <tuple>

namespace elastic::simulator {

namespace {

void add(NodePart& used, const NodePart& part, int sign) {
    used.processors += sign * part.processors;
    used.memory += sign * part.memory;
    used.gpus += sign * part.gpus;
}

}  // namespace

bool fits(const NodePart& part, const NodePart& used, const NodePart& each) {
    constexpr double kRounding = 1e-6;  // three thirds are a little more than one
    const auto has = [](double want, double in_use, double all) {
        return want <= 0 || in_use + want <= all + kRounding;
    };
    return (each.processors <= 0 || has(part.processors, used.processors, each.processors)) &&
           (each.memory <= 0 || has(part.memory, used.memory, each.memory)) &&
           has(part.gpus, used.gpus, each.gpus);
}

std::vector<PartlyUsedNodes::Choice> PartlyUsedNodes::with_room(
    const NodePart& part, const core::Eligibility& eligible) const {
    std::vector<Choice> found;
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
        const Node& node = nodes_[i];
        if (node.guests.empty() || std::ranges::count(eligible, node.pool) == 0) continue;
        const NodePart& each = pools_[node.pool].each;
        if (fits(part, node.used, each))
            found.push_back({each.processors - node.used.processors - part.processors, i});
    }
    std::ranges::sort(found);
    return found;
}

std::optional<Time> PartlyUsedNodes::end_of(const Node& node) {
    const auto last = std::ranges::max_element(node.guests, {}, &Guest::end);
    return last == node.guests.end() ? std::nullopt : std::optional(last->end);
}

std::uint32_t PartlyUsedNodes::new_node(core::PoolId pool) {
    auto place = std::ranges::find_if(nodes_, [](const Node& node) { return node.guests.empty(); });
    if (place == nodes_.end()) place = nodes_.insert(place, Node());
    *place = {pool, {}, {}};
    return static_cast<std::uint32_t>(place - nodes_.begin());
}

void PartlyUsedNodes::add(Node& node, const Guest& guest) {
    const std::optional<Time> before = end_of(node);
    simulator::add(node.used, guest.part, +1);
    node.guests.push_back(guest);
    changed_(node.pool, before, end_of(node));
}

// The first of them that the start may have; how many more nodes of each pool it may have then.
core::PoolCounts PartlyUsedNodes::keep(std::vector<Choice>& choices, int nodes,
                                       const core::Action& start) const {
    core::PoolCounts left = start.parts.empty() ? core::PoolCounts(start.nodes.size(), nodes)
                                                : core::sum(start.nodes, start.parts);
    std::vector<Choice> kept;
    for (const Choice& choice : choices) {
        if (kept.size() == static_cast<std::size_t>(nodes)) break;
        int& of_pool = left[nodes_[choice.node].pool];
        if (of_pool == 0) continue;
        --of_pool;
        kept.push_back(choice);
    }
    choices = std::move(kept);
    return left;
}

bool PartlyUsedNodes::take(std::uint32_t job, const NodePart& part, int nodes,
                           const core::Eligibility& eligible, const core::Action& start, Time end) {
    std::vector<Choice> choices = with_room(part, eligible);
    const core::PoolCounts left = keep(choices, nodes, start);
    int missing = nodes - static_cast<int>(choices.size());
    core::PoolCounts fresh(start.nodes.size(), 0);
    for (const core::PoolId pool : eligible) {
        if (!fits(part, {}, pools_[pool].each)) continue;
        fresh[pool] = std::min({start.nodes[pool], left[pool], missing});
        missing -= fresh[pool];
    }
    if (missing > 0) return false;
    std::vector<std::uint32_t>& places = places_[job];
    for (const Choice& choice : choices) {
        places.push_back(choice.node);
        add(nodes_[choice.node], {job, part, end});
    }
    for (core::PoolId pool = 0; pool < fresh.size(); ++pool)
        for (int i = 0; i < fresh[pool]; ++i) {
            places.push_back(new_node(pool));
            add(nodes_[places.back()], {job, part, end});
        }
    return true;
}

void PartlyUsedNodes::leave(std::uint32_t job) {
    const auto own = places_.find(job);
    for (const std::uint32_t place : own->second) {
        Node& node = nodes_[place];
        const std::optional<Time> before = end_of(node);
        const auto guest = std::ranges::find(node.guests, job, &Guest::job);
        simulator::add(node.used, guest->part, -1);
        node.guests.erase(guest);
        changed_(node.pool, before, end_of(node));
    }
    places_.erase(own);
}

std::vector<Observer::SharedNode> PartlyUsedNodes::nodes_of(std::uint32_t job) const {
    std::vector<Observer::SharedNode> nodes;
    for (const std::uint32_t place : places_.at(job)) nodes.push_back({place, nodes_[place].pool});
    return nodes;
}

Time PartlyUsedNodes::next_end(const core::Eligibility& eligible) const {
    Time next = kNever;
    for (const Node& node : nodes_)
        if (!node.guests.empty() && std::ranges::count(eligible, node.pool) > 0)
            next = std::min(next, *end_of(node));
    return next;
}

}  // namespace elastic::simulator

// SPDX-License-Identifier: MIT
// Nodes of which jobs have parts: processors, memory and GPUs, as Slurm's select/cons_tres counts
// them.  A node is here from its first such job to its last.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "common/time.hpp"
#include "core/model/plan.hpp"
#include "simulator/observer.hpp"
#include "simulator/site/machine.hpp"

namespace elastic::simulator {

class PartlyUsedNodes {
  public:
    // A node of the pool is free of such jobs, by their estimates, at `after` and no more at
    // `before`; nothing where it is idle.
    using Changed =
        std::function<void(core::PoolId, std::optional<Time> before, std::optional<Time> after)>;

    PartlyUsedNodes(const std::vector<NodePool>& pools, Changed changed)
        : pools_(pools), changed_(std::move(changed)) {}

    // Finds room for a part on each of so many nodes: of those partly used the ones that are
    // fullest after it, the others idle ones, of each pool at most those that the start has there.
    // Takes nothing and says no if there is none.
    bool take(std::uint32_t job, const NodePart&, int nodes, const core::Eligibility&,
              const core::Action& start, Time end);
    void leave(std::uint32_t job);
    // When the next of these nodes is free of such jobs, by their estimates; kNever: there is none.
    Time next_end(const core::Eligibility&) const;
    // Those of a job that has taken some.
    std::vector<Observer::SharedNode> nodes_of(std::uint32_t job) const;

  private:
    struct Guest {
        std::uint32_t job = 0;
        NodePart part;
        Time end = 0;
    };
    struct Node {
        core::PoolId pool = 0;
        NodePart used;
        std::vector<Guest> guests;  // empty: the place is free for another node
    };
    struct Choice {
        double left = 0;  // processors
        std::uint32_t node = 0;
        auto operator<=>(const Choice&) const = default;
    };

    std::vector<Choice> with_room(const NodePart&, const core::Eligibility&) const;
    core::PoolCounts keep(std::vector<Choice>&, int nodes, const core::Action& start) const;
    static std::optional<Time> end_of(const Node&);
    std::uint32_t new_node(core::PoolId);
    void add(Node&, const Guest&);

    const std::vector<NodePool>& pools_;
    Changed changed_;
    std::vector<Node> nodes_;
    std::map<std::uint32_t, std::vector<std::uint32_t>> places_;  // by job
};

}  // namespace elastic::simulator

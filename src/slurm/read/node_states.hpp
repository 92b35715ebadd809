// SPDX-License-Identifier: GPL-2.0-or-later
// Which nodes there are, and which of them cannot be used, for those who watch.
#pragma once

#include <cstdint>
#include <optional>

#include "controller/site.hpp"
#include "slurm/nodes.hpp"

namespace elastic::slurm {

class NodeStates {
  public:
    // Needs ControllerLock.  `existing`: how many there are.
    void read(int existing);

    bool are_private() const { return private_; }  // PrivateData has "nodes"
    const controller::NodeCounts& counts() const { return counts_; }
    const controller::NodeNames& names() const { return names_; }
    // Another one whenever there are other names.
    std::uint64_t revision() const { return revision_; }

  private:
    struct Sets {
        NodeSet all, down, unavailable;
    };

    bool private_ = true;
    controller::NodeCounts counts_;
    controller::NodeNames names_;
    std::uint64_t revision_ = 0;
    // What the names were made of.
    std::optional<Sets> named_;
    int records_ = 0, existing_ = 0;
    time_t configured_ = 0;
};

}  // namespace elastic::slurm

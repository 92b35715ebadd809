// SPDX-License-Identifier: MIT
// Tells the journal of the controller itself: when it starts and stops, its policy, and how many
// nodes there are.
//
// Always holds: nobody holds a node before the journal has said that it exists.
#pragma once

#include "controller/outbox.hpp"
#include "controller/site.hpp"
#include "core/model/config.hpp"

namespace elastic::controller {

class Announcer {
  public:
    Announcer(const core::Config& config, const Site& site, Outbox& outbox)
        : config_(config), site_(site), outbox_(outbox) {}

    void announce(journal::Controller::What, Time now);
    // If there are more or fewer than the journal was told last.
    void announce_other_nodes(Time now);

  private:
    const core::Config& config_;
    const Site& site_;
    Outbox& outbox_;
    int nodes_ = 0;  // as announced last
};

}  // namespace elastic::controller

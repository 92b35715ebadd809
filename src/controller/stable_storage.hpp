// SPDX-License-Identifier: MIT
// What survives a crash of the controller: its state file and the journal, one behind the other.
#pragma once

#include <string>
#include <vector>

#include "controller/outage.hpp"
#include "controller/site.hpp"
#include "controller/state.hpp"
#include "core/model/config.hpp"

namespace elastic::controller {

class StableStorage {
  public:
    StableStorage(const core::Config& config, State& state, Site& site)
        : config_(config), state_(state), site_(site) {}

    // Restores the state of the controller before from a folder, in which it is saved from then on,
    // and goes on with its journal.  A state that cannot be read is given up, as the log says; an
    // error is of the journal, which save() then tries to open again.
    Result<void> open(const std::string& directory);

    // The journal that the configuration names now, or the same path again, for logrotate.  With an
    // error the one that was open stays in use.
    Result<void> open_journal();

    // Saves the state, then tells the journal the events.  What fails is said in the log.
    void save(const std::vector<journal::Event>&, Time now);

  private:
    std::string state_file() const { return directory_ + "/elastic_state"; }
    Result<void> save_state();

    const core::Config& config_;
    State& state_;
    Site& site_;
    // StateSaveLocation as of the start: a change of it needs a restart.
    std::string directory_;
    journal::Writer journal_;
    Outage outage_{"agreements would not survive a restart", "state is saved again"};
    Outage no_journal_{"events are lost until that works", "the journal is written again"};
};

}  // namespace elastic::controller

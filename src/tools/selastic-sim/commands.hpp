// SPDX-License-Identifier: MIT
// The commands of selastic-sim(1): each adds itself and its options to the command line, and puts
// itself into `chosen` if it is the one that the user has named.
#pragma once

#include "program.hpp"

namespace elastic::tools {

void add_run(CLI::App&, Command& chosen);
void add_generate(CLI::App&, Command& chosen);
void add_sweep(CLI::App&, Command& chosen);
void add_reproduce(CLI::App&, Command& chosen);
void add_tune(CLI::App&, Command& chosen);
void add_advise(CLI::App&, Command& chosen);
void add_replay_snapshot(CLI::App&, Command& chosen);

}  // namespace elastic::tools

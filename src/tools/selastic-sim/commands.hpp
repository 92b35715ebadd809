// SPDX-License-Identifier: MIT
// The commands of selastic-sim(1): each adds itself and its options to the command line.
#pragma once

#include "command_parser.hpp"

namespace elastic::tools {

void add_run(CommandParser);
void add_generate(CommandParser);
void add_sweep(CommandParser);
void add_reproduce(CommandParser);
void add_tune(CommandParser);
void add_trust(CommandParser);
void add_advise(CommandParser);
void add_replay_snapshot(CommandParser);

}  // namespace elastic::tools

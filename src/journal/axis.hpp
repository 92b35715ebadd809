// SPDX-License-Identifier: MIT
// What both drawings need: a time axis and texts about jobs.
#pragma once

#include <string>

#include "journal/gantt.hpp"

namespace elastic::journal {

// A round number of seconds, minutes, hours or days, so that at most `most` such steps fit into
// `span`.
Duration tick_step(Duration span, int most);

std::string tick_label(Duration seconds);  // "0", "45s", "1m30s", "2h", "1d12h"

// "4 -> 2 -> 6"; the middle left out where there are many.
std::string sizes_text(const JobHistory&, std::string_view arrow);

// When the timeline begins: "2026-11-21 10:49:48 UTC", or "" where time does not count from the
// epoch (a simulation).
std::string begin_text(const Timeline&);

}  // namespace elastic::journal

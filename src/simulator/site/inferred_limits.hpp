// SPDX-License-Identifier: MIT
// Limits that nobody has told, by what the log's jobs waited for.
#pragma once

#include <string_view>

#include "simulator/logs/log.hpp"
#include "simulator/site/node_table.hpp"
#include "simulator/site/site.hpp"

namespace elastic::simulator {

// Adds to Site::limits and Site::limits_of, and says in a note what it has found; nodes are
// divided, and partitions, reservations and outages known.
void infer_limits(const Log&, const NodeTable&, Site&);

// Whether a note says what has been looked for.
bool is_of_inferred_limits(std::string_view note);

}  // namespace elastic::simulator

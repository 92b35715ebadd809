// SPDX-License-Identifier: MIT
// Commands for scripts inside a job: each is a short process that does one step of an agreement.
// The controller keeps the agreement between them and tells every new process how far it is.  Each
// prints and returns an exit code.
#pragma once

#include <cstdint>
#include <string>

#include "common/json.hpp"
#include "libelastic/elastic.h"
#include "selastic/controller_commands.hpp"

namespace elastic::tools {

// Lines NAME=value that a shell can eval: ELASTIC_EVENT, _KIND, _OP, _NODES, _NODELIST, _SIZE,
// _DEADLINE, _OUTCOME, _REASON; all of them, so that none keeps the value of an earlier event.
std::string assignments(const elastic_event&);

// The same as an object: event, kind, op, nodes, node_list, size, deadline, outcome, reason.
Json to_json(const elastic_event&);

// The environment of a job that now has these nodes, for eval, or as an object: set, unset.
std::string environment(const JobSize&);
Json environment_json(const JobSize&);

// What the commands below print is JSON from now on.
void print_json();

// `timeout` in seconds, < 0: for ever.  `op` 0: the one in flight.  What is only told again of
// operation `after` or an earlier one is passed over.
int wait_for_event(double timeout, std::int64_t after);
int accept_offer(std::int64_t op, int size, double timeout);  // `size` 0: all nodes
int decline_offer(std::int64_t op, const std::string& reason, double timeout);
int report_done(std::int64_t op, double timeout);
int request_nodes(int nodes, int least, double timeout);
int release_nodes(const std::string& what, double timeout);  // a number or a node list
// The next step begins in `in` seconds with `nodes` nodes (0: as planned); if it begins now, waits
// up to `timeout` for the nodes that come or are to go.
int plan_step(int nodes, double in, double timeout);
int print_environment();
int print_nodes(const std::string& node_list);  // "": the job's

}  // namespace elastic::tools

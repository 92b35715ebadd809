// SPDX-License-Identifier: MIT
// Options that several commands of selastic-sim have, or that are alike.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "command_parser.hpp"
#include "simulator/make_workload.hpp"
#include "simulator/site/site.hpp"

namespace elastic::tools {

// An option "LO:HI" within `limits`.
Option add_range(CommandParser, const char* name, simulator::Range limits, const char* text,
                 std::function<void(simulator::Range)> set);
// An option of bytes, "16G", or, if `type` has a colon, of a range of them, "1G:64G".
Option add_bytes(CommandParser, const char* name, const char* type, const char* text,
                 std::function<void(simulator::Range)> set);
Option add_seed(CommandParser, std::uint64_t& seed, const char* text);
// An option that names a file or a folder.
Option add_path(CommandParser, const char* name, std::string& path, const std::string& text);
Option add_nodes(CommandParser, std::int64_t& nodes, const char* text);
Option add_procs_per_node(CommandParser, std::int64_t& procs, const char* text);
// `names` as in "-j,--threads"; `what` is done at a time.
Option add_threads(CommandParser, const char* names, int& threads, const char* what);

// Which jobs of a log, on which machine, where no more is said of them.
void add_machine(CommandParser, bool& lenient, simulator::WorkloadOptions&,
                 const char* group = "Options");

// --slurm-conf, --qos and --order.
void add_site(CommandParser, simulator::SiteFiles&, const char* group = "");

}  // namespace elastic::tools

// SPDX-License-Identifier: MIT
// Options that several commands of selastic-sim have, or that are alike.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <string>

#include "simulator/make_workload.hpp"

namespace elastic::tools {

// An option "LO:HI" within `limits`.
CLI::Option* add_range(CLI::App*, const char* name, simulator::Range limits, const char* text,
                       std::function<void(simulator::Range)> set);
// An option of bytes, "16G", or, if `type` has a colon, of a range of them, "1G:64G".
CLI::Option* add_bytes(CLI::App*, const char* name, const char* type, const char* text,
                       std::function<void(simulator::Range)> set);
CLI::Option* add_seed(CLI::App*, std::uint64_t& seed, const char* text);
// An option that names a file or a folder.
CLI::Option* add_path(CLI::App*, const char* name, std::string& path, const std::string& text);
CLI::Option* add_nodes(CLI::App*, std::int64_t& nodes, const char* text);
CLI::Option* add_procs_per_node(CLI::App*, std::int64_t& procs, const char* text);
// `names` as of CLI11, "-j,--threads"; `what` is done at a time.
CLI::Option* add_threads(CLI::App*, const char* names, int& threads, const char* what);

// Which jobs of a log, on which machine, where no more is said of them.
void add_machine(CLI::App*, bool& lenient, simulator::WorkloadOptions&,
                 const char* group = "Options");

}  // namespace elastic::tools

// SPDX-License-Identifier: MIT
// selastic-sim generate: a log out of a workload model, on standard output.
#pragma once

#include <string_view>

#include "common/result.hpp"
#include "simulator/workload.hpp"

namespace elastic::tools {

// `model` goes into the log's header.
int print_log(const Result<simulator::Log>&, std::string_view model);

}  // namespace elastic::tools

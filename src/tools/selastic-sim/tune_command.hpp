// SPDX-License-Identifier: MIT
// selastic-sim tune: settings for a site's own workload.
#pragma once

#include "studies/packet/tuning.hpp"

namespace elastic::tools {

// Without --out the folder is "tune-packet".
int tune_packet(studies::TuneOptions, bool json);

}  // namespace elastic::tools

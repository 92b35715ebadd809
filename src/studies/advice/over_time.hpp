// SPDX-License-Identifier: MIT
// What is in use and what waits over time, before and after.
#pragma once

#include "studies/advice/advice.hpp"

namespace elastic::studies {

// `then` has segments; under easy jobs keep their size.
OverTime over_time(const simulator::Workload&, const simulator::Outcome& easy,
                   const simulator::Outcome& then);

}  // namespace elastic::studies

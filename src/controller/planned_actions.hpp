// SPDX-License-Identifier: MIT
// What the actions of a plan are to each other: nodes that one shrinks and another takes, the time
// at which one reserves what another has until then.
#pragma once

#include "core/model/plan.hpp"

namespace elastic::controller {

// Whether the action's job starts later than now.
bool waits(const core::Action&);

// The start of that job; null if the plan has none.  Lives as long as the plan.
const core::Action* start_of(const core::Plan&, JobId);

// When the first reservation begins on pools that the start uses; kNever if none does.
Time end_of_hole(const core::Plan&, const core::Action& start);

// What of some nodes goes beyond others, pool by pool.
core::PoolCounts excess(const core::PoolCounts&, const core::PoolCounts& others);

// What of the action's nodes does not come from the victims that the plan shrinks for it. Victims
// may free more than is used of theirs (an allowed size).
core::PoolCounts beside_victims(const core::Plan&, const core::Action&);

}  // namespace elastic::controller

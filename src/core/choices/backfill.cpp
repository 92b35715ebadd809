// SPDX-License-Identifier: MIT
// Backfill.  With `none` the queue is first come first served; with `easy` a job
// may start ahead of a blocked one that it does not delay.  Whether it does is
// for the profile to say, in which the blocked job's reservation stands.
#include "core/choices/choices.hpp"

namespace elastic::core::choices {

bool may_overtake(const Policy& policy) {
    return policy.backfill != Backfill::none;
}

}  // namespace elastic::core::choices

// SPDX-License-Identifier: MIT
// Nodes that are down or switched off never report, and ten thousand take their time: so what ends
// the roll call is not its length but that no further node has reported for a while.
#include "controller/roll_call.hpp"

#include "common/log.hpp"

namespace elastic::controller {

namespace {

constexpr Duration kPatience = 5;  // slurmd reports within a second of being asked

}  // namespace

void RollCall::note(int missing, Time now) {
    if (is_over_) return;
    if (latest_ == 0 && missing > 0)
        log_info(
            "{} nodes have not reported yet: no job is asked to resize, or starts on fewer nodes "
            "than it asks for, until they have, or none has for {} s",
            missing, kPatience);
    if (missing < missing_) latest_ = now;
    missing_ = missing;
    is_over_ = missing == 0 || now - latest_ >= kPatience;
    if (is_over_ && missing > 0)
        log_info("{} nodes do not report: jobs are asked without them", missing);
}

}  // namespace elastic::controller

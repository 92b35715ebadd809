// SPDX-License-Identifier: MIT
// An expansion earns time as long as the job keeps its new size.  Nobody knows for how long that
// will be, so a job counts on being left alone for as long again as it has been.  Where resizes are
// cheap that allows nearly all of them, where they are dear it makes them rare enough to be earned.
//
// Always holds: the longer a job has been left alone, the more expansions pay.
#include "core/model/payback.hpp"

namespace elastic::core {

Duration expected_rest(Time last_resize, Time now) {
    return now - last_resize;
}

Duration earned_by_expansion(const Sizing& job, int from, int to, Duration time) {
    return time - rescale(time, from, to, job) - job.cost.seconds(from, to);
}

Time pays_from(const Sizing& job, int from, int to, Time last_resize) {
    const double share_saved = 1 - rescale(1, from, to, job);
    if (share_saved <= 0) return kNever;
    // A hundredth later than it pays for itself: by then it earns something.
    return last_resize + 1.01 * job.cost.seconds(from, to) / share_saved;
}

}  // namespace elastic::core

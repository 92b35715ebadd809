// SPDX-License-Identifier: MIT
// Backfill.  With `none` the queue is first come first served; with `easy` a job may start ahead of
// a blocked one that it does not delay; with `conservative` it may delay none of the jobs before
// it.  Whether it does is for the availability profile to say, in which the reservations stand.
//
// Of [lina] algorithm 3 there are two readings.  Its text says EASY; its listing, `first-fit`, is a
// loop that starts whoever fits, and a large job may wait as long as smaller ones come.
#include <cmath>

#include "core/pass/choices/choices.hpp"

namespace elastic::core::choices {

bool may_overtake(const Policy& policy) {
    return policy.backfill != Backfill::none;
}

bool reserves(const Policy& policy) {
    return policy.backfill != Backfill::first_fit;
}

bool reserves_for_all(const Policy& policy) {
    return policy.backfill == Backfill::conservative;
}

// Where nobody is malleable, nothing makes up for being overtaken: plain EASY.  A policy that never
// resizes has nothing that makes up for it in any case, so who sets an order there means it.
bool backfills_in_order(const Policy& policy, const SnapshotIndex& index) {
    return policy.backfill_order == BackfillOrder::queue ||
           (policy.resizes() && index.malleable_waiting + index.malleable_running == 0);
}

double backfill_rank(const Policy& policy, int nodes, Duration duration) {
    switch (policy.backfill_order) {
        case BackfillOrder::queue:
            return 0;
        case BackfillOrder::shortest:
            return duration;
        case BackfillOrder::lightest:
            return duration * std::sqrt(nodes);
    }
    return 0;
}

}  // namespace elastic::core::choices

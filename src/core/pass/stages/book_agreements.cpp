// SPDX-License-Identifier: MIT
// Takes what agreements in flight have promised: the idle nodes of an accepted growth, and those
// that a claimed job needs besides its victims' nodes.  It comes before all other stages, since
// whoever came later must not undo a promise.  An offer that nobody has accepted is not booked: its
// nodes count as free until withdraw_offers.
#include "core/pass/choices/choices.hpp"
#include "core/pass/stages/stages.hpp"

namespace elastic::core {

void book_agreements(Pass& pass) {
    pass.claims.collect(pass.schedule);
    if (choices::lends_reserved_nodes(pass.schedule.policy())) pass.schedule.count_on_returns();
    pass.claims.book(pass.schedule);
}

}  // namespace elastic::core

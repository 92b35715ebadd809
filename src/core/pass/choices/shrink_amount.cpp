// SPDX-License-Identifier: MIT
// Shrink amount.  `needed` is [lina] algorithm 8: what is needed if the victim
// has it, else all it has.  `share` is [mebf] algorithm 2: a fixed share of what
// the victim holds, be it more or less than is needed.
#include <algorithm>

#include "core/pass/choices/choices.hpp"

namespace elastic::core::choices {

int shrink_amount(const Outlook& outlook, const RunningJob& job, int needed, int shrinkable) {
    const int size = total(job.held);
    switch (outlook.policy().shrink_amount) {
        case ShrinkAmount::needed:
            return std::min(needed, shrinkable);
        case ShrinkAmount::share:
            return std::min(static_cast<int>(outlook.policy().shrink_share * size), shrinkable);
        case ShrinkAmount::equal_share:
            return std::min({needed, shrinkable, std::max(0, size - outlook.equal_share())});
    }
    return 0;
}

}  // namespace elastic::core::choices

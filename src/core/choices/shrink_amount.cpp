// SPDX-License-Identifier: MIT
// Shrink amount.  `needed` is [lina] algorithm 8: what is needed if the victim
// has it, else all it has.
#include <algorithm>

#include "core/choices/choices.hpp"

namespace elastic::core::choices {

int shrink_amount(const Policy& policy, int needed, int shrinkable) {
    switch (policy.shrink_amount) {
        case ShrinkAmount::needed:
            return std::min(needed, shrinkable);
    }
    return 0;
}

}  // namespace elastic::core::choices

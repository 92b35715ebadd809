// SPDX-License-Identifier: MIT
// Shrink guard.  `default` is [lina] algorithm 5: it looks at neither the system
// nor the applications and always lets jobs be shrunk.
#include "core/choices/choices.hpp"

namespace elastic::core::choices {

bool may_shrink(const SystemState& state) {
    switch (state.policy().shrink_guard) {
        case ShrinkGuard::never:
            return false;
        case ShrinkGuard::by_default:
            return true;
    }
    return false;
}

}  // namespace elastic::core::choices

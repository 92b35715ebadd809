// SPDX-License-Identifier: MIT
// Starts on: what a job that waits for victims need not wait for.  What was promised to it is there
// in the end under each choice; they differ in what does as well until then.
#include "core/pass/choices/choices.hpp"

namespace elastic::core::choices {

bool may_start_on_idle_nodes(const Policy& policy) {
    return policy.starts_on == StartsOn::idle || policy.starts_on == StartsOn::pool;
}

}  // namespace elastic::core::choices

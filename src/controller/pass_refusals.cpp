// SPDX-License-Identifier: MIT
// Asked of every job of a long queue with slurmctld's locks held: without refusals each answer is a
// look into an empty set.
#include "controller/pass_refusals.hpp"

#include <algorithm>

namespace elastic::controller {

bool PassRefusals::limit(const Account& account, int nodes) {
    const auto [found, is_new] = limited_.try_emplace(account, nodes);
    const bool is_less = nodes < found->second;
    found->second = std::min(found->second, nodes);
    return is_new || is_less;
}

bool PassRefusals::bars(const Account& account, int nodes) const {
    const auto found = limited_.find(account);
    return found != limited_.end() && nodes >= found->second;
}

}  // namespace elastic::controller

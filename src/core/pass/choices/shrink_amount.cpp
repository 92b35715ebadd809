// SPDX-License-Identifier: MIT
// Shrink amount.  `needed` is [lina] algorithm 8: what is needed if the victim has it, else all it
// has.  `share` is [mebf] algorithm 2: a fixed share of what the victim holds, be it more or less
// than is needed.
//
// `even` and `preferred-first` are [wagomu]'s AVERAGE and PREF: they ask victims first for what is
// above a floor, and for all they can give only where that does not suffice.
//
// `each` is [lina] to the letter.  The loops of its algorithms 5 to 7 have no break, and algorithm
// 8 begins with the whole p_r at each victim: what one has given is not counted for the next.
#include <algorithm>

#include "core/pass/choices/choices.hpp"
#include "core/pass/state/even_use.hpp"

namespace elastic::core::choices {
namespace {

// How many nodes the job can give and keep an allowed size that is no less than its preferred one.
int above_preferred(const RunningJob& job) {
    const int size = total(job.held);
    const int kept = job.elastic.sizes.smallest(job.elastic.pref, size);
    return kept > 0 ? std::max(0, size - kept) : 0;
}

}  // namespace

int shrink_amount(const SystemState& state, const RunningJob& job, int needed, int shrinkable) {
    const int size = total(job.held);
    switch (state.policy().shrink_amount) {
        case ShrinkAmount::needed:
        case ShrinkAmount::even:
        case ShrinkAmount::preferred_first:
        case ShrinkAmount::each:
            return std::min(needed, shrinkable);
        case ShrinkAmount::share:
            return std::min(static_cast<int>(state.policy().shrink_share * size), shrinkable);
        case ShrinkAmount::equal_share:
            return std::min({needed, shrinkable, std::max(0, size - state.equal_share())});
        case ShrinkAmount::to_preferred:
            return std::min({needed, shrinkable, above_preferred(job)});
    }
    return 0;
}

bool asks_every_victim(const Policy& policy) {
    return policy.shrink_amount == ShrinkAmount::each;
}

bool has_first_floor(const Policy& policy) {
    return policy.shrink_amount == ShrinkAmount::even ||
           policy.shrink_amount == ShrinkAmount::preferred_first;
}

Floor first_floor(const SystemState& state, const std::vector<std::uint32_t>& victims, int needed) {
    if (state.policy().shrink_amount == ShrinkAmount::preferred_first) return {true, 0};
    return {false, even_use_of_victims(state.snapshot().running, victims, needed)};
}

int size_at(const Floor& floor, const RunningJob& job) {
    return floor.is_preferred ? total(job.held) - above_preferred(job)
                              : size_at_use(job, floor.use);
}

}  // namespace elastic::core::choices

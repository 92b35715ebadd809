// SPDX-License-Identifier: MIT
// What takes more than one part to answer.
//
// Always holds: no question changes an answer to another.
#include "core/pass/state/system_state.hpp"

#include "core/pass/state/equal_share.hpp"
#include "core/pass/state/even_use.hpp"

namespace elastic::core {

void SystemState::begin(const Snapshot& snapshot, const SnapshotIndex& index,
                        const Policy& policy) {
    snapshot_ = &snapshot;
    index_ = &index;
    policy_ = &policy;
    nodes_.begin(snapshot, index);
    times_.begin(snapshot.now, availability().soon(), policy);
    running_.begin(snapshot, times_);
    queue_.begin(snapshot, index);
    reservations_.begin(snapshot.pending.size());
    equal_share_ = -1;
    even_use_ = -1;
}

bool SystemState::may_grow(std::uint32_t running, const PoolCounts& more) const {
    for (PoolId pool = 0; pool < pools(); ++pool)
        if (more[pool] > availability().free_now(pool)) return false;
    if (reservations_.falls().empty()) return true;
    const Holding before = running_.holding(running), after = running_.holding_after(running, more);
    for (const Time from : reservations_.falls())
        for (PoolId pool = 0; pool < pools(); ++pool) {
            const int lost = before.free_at(pool, from) + more[pool] - after.free_at(pool, from);
            if (availability().free_at(pool, from) < lost) return false;
        }
    return true;
}

double SystemState::even_use() const {
    if (even_use_ < 0) even_use_ = even_use_of_growing(*this);
    return even_use_;
}

int SystemState::equal_share() const {
    if (equal_share_ < 0) equal_share_ = core::equal_share(*this, ranges_);
    return equal_share_;
}

}  // namespace elastic::core

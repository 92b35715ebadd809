// SPDX-License-Identifier: MIT
// Counts over the pools of an eligibility; what changes in a pass is the availability profile.
#include "core/pass/state/nodes.hpp"

#include <algorithm>

namespace elastic::core {

void Nodes::begin(const Snapshot& snapshot, const SnapshotIndex& index) {
    snapshot_ = &snapshot;
    index_ = &index;
    idle_.resize(pools());
    for (PoolId pool = 0; pool < pools(); ++pool) idle_[pool] = snapshot.pools[pool].idle;
    availability_.begin(snapshot.now, idle_, index.vacancies);
    shared_.assign(pools(), 0);
    for (const SharedNodes& shared : snapshot.shared_until) shared_[shared.pool] += shared.nodes;
}

FreeNodes Nodes::available(EligibilityId id, int nodes, Time end) const {
    FreeNodes found{0, PoolCounts(pools(), 0)};
    found.count = choose(
        eligible(id), nodes, [&](PoolId pool) { return availability_.free_until(pool, end); },
        found.by_pool);
    return found;
}

int Nodes::free_now(EligibilityId id) const {
    int nodes = 0;
    for (PoolId pool : eligible(id)) nodes += availability_.free_now(pool);
    return nodes;
}

int Nodes::idle() const {
    int nodes = 0;
    for (PoolId pool = 0; pool < pools(); ++pool) nodes += availability_.free_now(pool);
    return nodes;
}

int Nodes::count(EligibilityId id) const {
    int nodes = 0;
    for (PoolId pool : eligible(id)) nodes += snapshot_->pools[pool].nodes;
    return nodes;
}

int Nodes::count() const {
    int nodes = 0;
    for (const Pool& pool : snapshot_->pools) nodes += pool.nodes;
    return nodes;
}

Time Nodes::next_end() const {
    const std::vector<Vacancy>& vacancies = index_->vacancies.entries();
    return vacancies.empty() ? kNever : std::max(vacancies.front().at, availability_.soon());
}

Time Nodes::free_without_shrinking(EligibilityId id, int nodes) const {
    int missing = nodes - free_now(id);
    if (missing <= 0) return snapshot_->now;
    const Eligibility& pools = eligible(id);
    for (const Vacancy& vacancy : index_->vacancies.entries()) {
        if (vacancy.at < snapshot_->now) continue;
        if (std::find(pools.begin(), pools.end(), vacancy.pool) == pools.end()) continue;
        missing -= vacancy.nodes;
        if (missing <= 0) return std::max(vacancy.at, availability_.soon());
    }
    return kNever;
}

}  // namespace elastic::core

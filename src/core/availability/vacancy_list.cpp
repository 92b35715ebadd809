// SPDX-License-Identifier: MIT
// A sorted array.  Even with thousands of running jobs an insertion moves some ten kilobytes, which
// is faster than what a tree costs at each look at it, and it is looked at far more often than
// changed.
#include "core/availability/vacancy_list.hpp"

#include <algorithm>
#include <cassert>

namespace elastic::core {
namespace {

struct Earlier {
    bool operator()(const Vacancy& a, const Vacancy& b) const { return a.at < b.at; }
    bool operator()(const Vacancy& a, Time at) const { return a.at < at; }
    bool operator()(Time at, const Vacancy& a) const { return at < a.at; }
};

}  // namespace

void VacancyList::append(Time at, PoolId pool, int nodes) {
    if (nodes != 0 && at < kNever) entries_.push_back({at, pool, nodes});
}

void VacancyList::append(Time at, const PoolCounts& nodes) {
    for (PoolId pool = 0; pool < nodes.size(); ++pool) append(at, pool, nodes[pool]);
}

void VacancyList::sort() {
    std::sort(entries_.begin(), entries_.end(), Earlier());
}

void VacancyList::insert(Time at, const PoolCounts& nodes) {
    if (at >= kNever) return;
    for (PoolId pool = 0; pool < nodes.size(); ++pool) {
        if (nodes[pool] == 0) continue;
        const auto place = std::upper_bound(entries_.begin(), entries_.end(), at, Earlier());
        entries_.insert(place, {at, pool, nodes[pool]});
    }
}

void VacancyList::remove(Time at, const PoolCounts& nodes) {
    if (at >= kNever) return;
    for (PoolId pool = 0; pool < nodes.size(); ++pool) {
        if (nodes[pool] == 0) continue;
        auto entry = std::lower_bound(entries_.begin(), entries_.end(), at, Earlier());
        while (entry != entries_.end() && (entry->pool != pool || entry->nodes != nodes[pool]))
            ++entry;
        assert(entry != entries_.end() && entry->at == at);
        entries_.erase(entry);
    }
}

}  // namespace elastic::core

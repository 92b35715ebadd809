// SPDX-License-Identifier: MIT
// Jobs that need the same nodes are of a kind, and a long queue has few kinds.  Those of one kind
// stand in a heap by duration: while the heap is walked from its root, all that is below a job that
// cannot start is left out, since it would stay longer on as many nodes.
#include "core/availability/rank_index.hpp"

#include "common/limits.hpp"

namespace elastic::core {
namespace {

constexpr int kBits = 21;
static_assert(kMaxNodes + 1 < 1 << kBits);

std::uint64_t key_of(const QueueDemand& demand) {
    const auto bits = [](int nodes) { return static_cast<std::uint64_t>(nodes); };
    return bits(demand.least) << 2 * kBits | bits(demand.size) << kBits | bits(demand.pref);
}

}  // namespace

void RankIndex::clear() {
    for (const auto& [key, kind] : order_) kinds_[kind].entries.clear();
    order_.clear();
}

std::uint32_t RankIndex::kind_of(const QueueDemand& demand) {
    const std::uint64_t key = key_of(demand);
    const auto known =
        std::ranges::lower_bound(order_, key, {}, [](const auto& of) { return of.first; });
    if (known != order_.end() && known->first == key) return known->second;
    const auto kind = static_cast<std::uint32_t>(order_.size());
    order_.insert(known, {key, kind});
    if (kind == kinds_.size()) kinds_.emplace_back();
    kinds_[kind].size = demand.size;
    kinds_[kind].least = demand.least;
    kinds_[kind].pref = demand.pref;
    return kind;
}

void RankIndex::put(std::uint32_t kind, std::uint32_t entry, const Entry& what) {
    kinds_[kind].entries[entry] = what;
    whereabouts_[what.place] = {kind, entry};
}

// Moves an entry to where it belongs.
void RankIndex::sift(std::uint32_t kind, std::uint32_t entry) {
    const std::vector<Entry>& entries = kinds_[kind].entries;
    const Entry own = entries[entry];
    for (; entry > 0 && own < entries[(entry - 1) / 2]; entry = (entry - 1) / 2)
        put(kind, entry, entries[(entry - 1) / 2]);
    for (std::uint32_t below; (below = 2 * entry + 1) < entries.size(); entry = below) {
        if (below + 1 < entries.size() && entries[below + 1] < entries[below]) ++below;
        if (own <= entries[below]) break;
        put(kind, entry, entries[below]);
    }
    put(kind, entry, own);
}

void RankIndex::insert(std::uint32_t place, const QueueDemand& demand) {
    if (whereabouts_.size() <= place) whereabouts_.resize(place + 1);
    const std::uint32_t kind = kind_of(demand);
    std::vector<Entry>& entries = kinds_[kind].entries;
    entries.push_back({demand.duration, place});
    sift(kind, static_cast<std::uint32_t>(entries.size() - 1));
}

void RankIndex::remove(std::uint32_t place) {
    const auto [kind, entry] = whereabouts_[place];
    std::vector<Entry>& entries = kinds_[kind].entries;
    const Entry last = entries.back();
    entries.pop_back();
    if (entry == entries.size()) return;
    put(kind, entry, last);
    sift(kind, entry);
}

}  // namespace elastic::core

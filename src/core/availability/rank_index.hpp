// SPDX-License-Identifier: MIT
// Finds in a long queue the jobs that could start, the one of the lowest rank first, without a look
// at those that cannot.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "common/time.hpp"

namespace elastic::core {

// What a job needs at least.  `size` is what it starts with on idle nodes, `least` the smallest it
// can start with at all, no more than `size`; `duration` is how long it stays.  By `pref` and
// `duration` it has its rank; one that needs nothing may have any.
struct QueueDemand {
    int size = 0;
    int least = 0;
    int pref = 0;
    Duration duration = 0;
};

class RankIndex {
  public:
    // What is still to be searched: a job and those of its kind that stay longer.
    struct Part {
        double rank = 0;          // the job's
        std::uint32_t place = 0;  // likewise; ties go to the place
        std::uint32_t kind = 0, entry = 0;
        friend auto operator<=>(const Part&, const Part&) = default;
    };

    void clear();
    void insert(std::uint32_t place, const QueueDemand&);
    void remove(std::uint32_t place);  // which has been inserted

    // See QueueIndex::visit_by_rank.
    template <class Wanted, class RankOf, class Rank, class Visit>
    void visit(std::uint32_t from, std::vector<Part>& parts, const Wanted&, RankOf rank_of,
               Rank rank, Visit visit) const;

  private:
    struct Entry {
        Duration duration;
        std::uint32_t place;
        friend auto operator<=>(const Entry&, const Entry&) = default;
    };
    struct Kind {
        int size = 0, least = 0, pref = 0;
        std::vector<Entry> entries;  // a heap: none before the one at half its index
    };
    struct Whereabouts {
        std::uint32_t kind = 0, entry = 0;
    };

    static constexpr std::uint32_t kAnyRank = UINT32_MAX;  // a part's kind: this one job alone

    // So many one after the other are taken as a sign that most of what is left is unwanted, too.
    static constexpr int kManyUnwanted = 8;

    std::uint32_t kind_of(const QueueDemand&);
    void put(std::uint32_t kind, std::uint32_t entry, const Entry&);
    void sift(std::uint32_t kind, std::uint32_t entry);

    std::vector<Kind> kinds_;  // the first order_.size() of them are in use
    std::vector<std::pair<std::uint64_t, std::uint32_t>> order_;  // by `least`; which kind
    std::vector<Whereabouts> whereabouts_;                        // by place
};

template <class Wanted, class RankOf, class Rank, class Visit>
void RankIndex::visit(std::uint32_t from, std::vector<Part>& parts, const Wanted& wanted,
                      RankOf rank_of, Rank rank, Visit visit) const {
    using By = decltype(wanted.by());
    const bool by_size = wanted.by() == By::size;
    const auto fits = [&](const Kind& kind, const Entry& entry) {
        return wanted.fits(by_size ? kind.size : kind.least, entry.duration);
    };
    const auto add = [&](std::uint32_t number, std::uint32_t index) {
        const Kind& kind = kinds_[number];
        if (index >= kind.entries.size() || !fits(kind, kind.entries[index])) return false;
        const Entry& entry = kind.entries[index];
        parts.push_back({rank(kind.pref, entry.duration), entry.place, number, index});
        return true;
    };
    const auto add_to_heap = [&](std::uint32_t number, std::uint32_t index) {
        if (add(number, index)) std::push_heap(parts.begin(), parts.end(), std::greater());
    };
    const auto is_wanted = [&](const Part& part) {
        return part.kind == kAnyRank ||
               fits(kinds_[part.kind], kinds_[part.kind].entries[part.entry]);
    };
    parts.clear();
    for (const auto& [key, number] : order_) {
        const Kind& kind = kinds_[number];
        if (kind.least > wanted.most_nodes()) break;
        if (kind.pref > 0) {
            add(number, 0);
            continue;
        }
        for (const Entry& entry : kind.entries)
            parts.push_back({rank_of(entry.place), entry.place, kAnyRank});
    }
    std::make_heap(parts.begin(), parts.end(), std::greater());
    int unwanted = 0;
    while (!parts.empty()) {
        std::pop_heap(parts.begin(), parts.end(), std::greater());
        const Part part = parts.back();
        parts.pop_back();
        if (!is_wanted(part)) {  // nor are those that stay longer
            if (++unwanted < kManyUnwanted) continue;
            unwanted = 0;
            std::erase_if(parts, std::not_fn(is_wanted));
            std::make_heap(parts.begin(), parts.end(), std::greater());
            continue;
        }
        if (part.kind != kAnyRank) {
            add_to_heap(part.kind, 2 * part.entry + 1);
            add_to_heap(part.kind, 2 * part.entry + 2);
        }
        if (part.place >= from) visit(part.place);
    }
}

}  // namespace elastic::core

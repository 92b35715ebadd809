// SPDX-License-Identifier: MIT
// Finds in a long queue the jobs that could start, in the order of the queue or by rank, without a
// look at those that cannot: a tournament tree over the places of the queue, and an index by rank.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/limits.hpp"
#include "common/time.hpp"
#include "core/availability/rank_index.hpp"

namespace elastic::core {

class QueueIndex {
  public:
    using Demand = QueueDemand;
    using Part = RankIndex::Part;
    // Which of the sizes counts.
    enum class By { size, least };
    // What there is: `free` nodes for jobs that stay no longer than `window`, `extra` of them for
    // any.
    struct Supply {
        int free = 0;
        int extra = 0;
        Duration window = 0;

        bool suffices(int nodes, Duration duration) const {
            return nodes <= free && (duration <= window || nodes <= extra);
        }
    };
    // A new queue: what it has to be filled with, in its order, before build().
    std::vector<Demand>& begin_anew();
    void build();
    void push_back(const Demand&);
    void change(std::uint32_t place, const Demand&);  // of one that is occupied
    void remove(std::uint32_t place);

    // One past the last place.
    std::uint32_t end() const { return end_; }
    // The first occupied place from `from` on, or end().
    std::uint32_t next(std::uint32_t from) const;
    // ... that is wanted.  A `Wanted` has by(), most_nodes() and fits(nodes, duration), which holds
    // for any smaller and shorter demand if it does for one, and for none of more than
    // most_nodes().
    template <class Wanted>
    std::uint32_t next(std::uint32_t from, const Wanted&) const;
    // Visits the wanted places from `from` on, the one of the lowest rank first, which is
    // `rank(pref, duration)`, no less for more of either, or `rank_of(place)` where nothing is
    // demanded.  What is wanted may become less meanwhile.  `parts` is scratch.
    template <class Wanted, class RankOf, class Rank, class Visit>
    void visit_by_rank(std::uint32_t from, std::vector<Part>& parts, const Wanted& wanted,
                       RankOf rank_of, Rank rank, Visit visit) const {
        if (!is_ranked_) index_by_rank();
        ranks_.visit(from, parts, wanted, rank_of, rank, visit);
    }
    // Whether anybody is content with so many nodes.
    bool any_within(int nodes) const;

  private:
    // Sizes of a class differ by less than a factor of two.  Class 0 is no nodes.
    static constexpr int kClasses = std::bit_width(static_cast<unsigned>(kMaxNodes)) + 1;
    static constexpr std::uint32_t kBlock = 16;  // places to a leaf of the tree

    // What a search has to know of a part of the queue to leave it out: the shortest duration,
    // rounded down, of the jobs of each class by size and by least.
    struct Summary {
        std::array<std::array<float, kClasses>, 2> shortest;

        float& of(By by, int size_class) { return shortest[static_cast<int>(by)][size_class]; }
        float of(By by, int size_class) const { return shortest[static_cast<int>(by)][size_class]; }
    };

    static constexpr float kNobody = std::numeric_limits<float>::infinity();
    static Summary nobody();
    static int class_of(int nodes) { return std::bit_width(static_cast<unsigned>(nodes)); }
    static int least_of(int size_class) { return size_class == 0 ? 0 : 1 << (size_class - 1); }
    static int nodes_of(const Demand& demand, By by) {
        return by == By::size ? demand.size : demand.least;
    }
    static bool is_taken(const Demand& demand) { return demand.least <= kMaxNodes; }

    template <class Wanted>
    static bool matches(const Demand& demand, const Wanted& wanted) {
        return is_taken(demand) && wanted.fits(nodes_of(demand, wanted.by()), demand.duration);
    }
    // Whether somebody of these may be wanted.
    template <class Wanted>
    static bool may_match(const Summary&, const Wanted&);
    std::uint32_t block_end(std::uint32_t block) const {
        return std::min(end_, (block + 1) * kBlock);
    }
    Summary summary_of_block(std::uint32_t block) const;
    Summary summary_of_children(std::uint32_t node) const;
    void index_by_rank() const;
    void skip_removed();
    void note_arrival(std::uint32_t place, const Demand&);
    void note_departure(std::uint32_t place, const Demand&);
    float shortest_of(std::uint32_t block, By, int size_class) const;
    void set_shortest(std::uint32_t block, By, int size_class, float shortest);

    std::vector<Demand> demands_;  // by place; those from end_ on nobody's
    std::vector<Summary> tree_;    // node 1 is the root, the leaves begin at leaves_
    std::uint32_t leaves_ = 0;     // a power of two
    std::uint32_t first_ = 0;      // occupied place, or end_
    std::uint32_t end_ = 0;
    // Kept from the first search by rank on: most policies have none.
    mutable RankIndex ranks_;
    mutable bool is_ranked_ = false;
};

template <class Wanted>
bool QueueIndex::may_match(const Summary& summary, const Wanted& wanted) {
    const int last = class_of(std::min(wanted.most_nodes(), kMaxNodes));
    for (int size_class = 0; size_class <= last; ++size_class) {
        const float duration = summary.of(wanted.by(), size_class);
        if (duration != kNobody && wanted.fits(least_of(size_class), duration)) return true;
    }
    return false;
}

// Up from the leaf of `from` until a subtree to the right may match, then down into it.
template <class Wanted>
std::uint32_t QueueIndex::next(std::uint32_t from, const Wanted& wanted) const {
    from = std::max(from, first_);
    if (from >= end_ || wanted.most_nodes() < 0) return end_;
    if (matches(demands_[from], wanted)) return from;
    std::uint32_t node = leaves_ + from / kBlock;
    while (true) {
        if (may_match(tree_[node], wanted)) {
            if (node < leaves_) {
                node = 2 * node;
                continue;
            }
            const std::uint32_t block = node - leaves_;
            for (std::uint32_t i = std::max(from, block * kBlock); i < block_end(block); ++i)
                if (matches(demands_[i], wanted)) return i;
        }
        while (node & 1) node /= 2;  // a right child: its parent has been searched
        if (node == 0) return end_;
        ++node;
    }
}

}  // namespace elastic::core

// SPDX-License-Identifier: MIT
// Finds in a long queue the jobs that could start, in the order of the queue or by rank, without a
// look at those that cannot: a tournament tree over the places of the queue.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <compare>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "common/limits.hpp"
#include "common/time.hpp"

namespace elastic::core {

class QueueIndex {
  public:
    // What a job needs at least.  `size` is what it starts with on idle nodes,
    // `least` the smallest it can start with at all, `duration` how long it stays.
    struct Demand {
        int size = 0;
        int least = 0;
        Duration duration = 0;
    };
    // Which of the sizes counts.
    enum class By { size, least };
    // What there is: `free` nodes for jobs that stay no longer than `window`,
    // `extra` of them for any.
    struct Supply {
        int free = 0;
        int extra = 0;
        Duration window = 0;

        bool suffices(int nodes, Duration duration) const {
            return nodes <= free && (duration <= window || nodes <= extra);
        }
    };
    // What is still to be searched by rank: a part of the queue or, with node 0, one job.
    struct Part {
        double rank = 0;          // no job of it has a lower one
        std::uint32_t first = 0;  // its first place; ties go to the place
        std::uint32_t node = 0;
        friend auto operator<=>(const Part&, const Part&) = default;
    };

    // A new queue: what it has to be filled with, in its order, before build().
    std::vector<Demand>& begin_anew();
    void build();
    void push_back(const Demand&);
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
    // Visits the wanted places from `from` on, the one of the lowest rank first.  A job that stays
    // as long on as many nodes, or longer or on more, has no lower rank than `bound(nodes,
    // duration)`.  What is wanted may become less meanwhile.  `parts` is scratch.
    template <class Wanted, class Bound, class Rank, class Visit>
    void visit_by_rank(std::uint32_t from, std::vector<Part>& parts, const Wanted&, Bound bound,
                       Rank rank, Visit visit) const;
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
    // Calls `with(nodes, duration)` for each class in which somebody may be wanted, the least of
    // each, until it says that this is enough.
    template <class Wanted, class With>
    static void for_classes(const Summary&, const Wanted&, With with);
    std::uint32_t block_end(std::uint32_t block) const {
        return std::min(end_, (block + 1) * kBlock);
    }
    // The first place of a node's part of the queue, and how many there are.
    std::uint32_t width_of(std::uint32_t node) const {
        return leaves_ / std::bit_floor(node) * kBlock;
    }
    std::uint32_t first_of(std::uint32_t node) const {
        return (node - std::bit_floor(node)) * width_of(node);
    }
    Summary summary_of_block(std::uint32_t block) const;
    Summary summary_of_children(std::uint32_t node) const;
    void update(std::uint32_t place, const Demand&);
    void update(std::uint32_t block, By, int size_class);

    std::vector<Demand> demands_;  // by place
    std::vector<Summary> tree_;    // node 1 is the root, the leaves begin at leaves_
    std::uint32_t leaves_ = 0;     // a power of two
    std::uint32_t end_ = 0;
};

template <class Wanted, class With>
void QueueIndex::for_classes(const Summary& summary, const Wanted& wanted, With with) {
    const int last = class_of(std::min(wanted.most_nodes(), kMaxNodes));
    for (int size_class = 0; size_class <= last; ++size_class) {
        const float duration = summary.of(wanted.by(), size_class);
        if (duration == kNobody) continue;
        const int nodes = least_of(size_class);
        if (wanted.fits(nodes, duration) && with(nodes, duration)) return;
    }
}

// Up from the leaf of `from` until a subtree to the right may match, then down into it.
template <class Wanted>
std::uint32_t QueueIndex::next(std::uint32_t from, const Wanted& wanted) const {
    if (from >= end_ || wanted.most_nodes() < 0) return end_;
    std::uint32_t node = leaves_ + from / kBlock;
    while (true) {
        bool may_match = false;
        for_classes(tree_[node], wanted, [&](int, Duration) { return may_match = true; });
        if (may_match) {
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

// Best first: the part with the lowest bound is divided until it is a single job.
template <class Wanted, class Bound, class Rank, class Visit>
void QueueIndex::visit_by_rank(std::uint32_t from, std::vector<Part>& parts, const Wanted& wanted,
                               Bound bound, Rank rank, Visit visit) const {
    parts.clear();
    const auto add = [&](const Part& part) {
        parts.push_back(part);
        std::push_heap(parts.begin(), parts.end(), std::greater());
    };
    const auto add_node = [&](std::uint32_t node) {
        const std::uint32_t first = first_of(node);
        if (first >= end_ || first + width_of(node) <= from) return;
        double lowest = kNobody;
        for_classes(tree_[node], wanted, [&](int nodes, Duration duration) {
            lowest = std::min(lowest, bound(nodes, duration));
            return false;
        });
        if (lowest < kNobody) add({lowest, first, node});
    };
    if (from < end_ && wanted.most_nodes() >= 0) add_node(1);
    while (!parts.empty()) {
        std::pop_heap(parts.begin(), parts.end(), std::greater());
        const Part part = parts.back();
        parts.pop_back();
        if (part.node == 0) {
            if (matches(demands_[part.first], wanted)) visit(part.first);
        } else if (part.node < leaves_) {
            add_node(2 * part.node);
            add_node(2 * part.node + 1);
        } else {
            const std::uint32_t end = block_end(part.node - leaves_);
            for (std::uint32_t i = std::max(from, part.first); i < end; ++i)
                if (matches(demands_[i], wanted)) add({rank(i), i, 0});
        }
    }
}

}  // namespace elastic::core

// SPDX-License-Identifier: MIT
// A complete binary tree in an array.  The least size and the least duration of a
// subtree may be those of two different jobs, so a match of an inner node is only
// a promise; the search goes back when it finds nothing below.  Removed places
// hold a demand that nothing satisfies.
//
// An update stops at the first inner node that it does not change.
#include "core/availability/queue_index.hpp"

#include <algorithm>

#include "core/model/types.hpp"

namespace elastic::core {
namespace {

constexpr QueueIndex::Demand kNobody{kMaxNodes + 1, kMaxNodes + 1, kNever};

QueueIndex::Demand lower(const QueueIndex::Demand& a, const QueueIndex::Demand& b) {
    return {std::min(a.size, b.size), std::min(a.least, b.least), std::min(a.duration, b.duration)};
}

bool fits(int nodes, Duration duration, const QueueIndex::Supply& supply) {
    return nodes <= supply.free && (duration <= supply.window || nodes <= supply.extra);
}

}  // namespace

void QueueIndex::clear() {
    std::fill(tree_.begin(), tree_.end(), kNobody);
    end_ = 0;
}

void QueueIndex::push_back(const Demand& demand) {
    if (end_ == leaves_) grow();
    tree_[leaves_ + end_] = demand;
    update(end_++);
}

void QueueIndex::remove(std::uint32_t place) {
    tree_[leaves_ + place] = kNobody;
    update(place);
}

void QueueIndex::grow() {
    const std::uint32_t leaves = std::max(64U, 2 * leaves_);
    std::vector<Demand> tree(2 * leaves, kNobody);
    std::copy(tree_.begin() + leaves_, tree_.end(), tree.begin() + leaves);
    tree_ = std::move(tree);
    leaves_ = leaves;
    for (std::uint32_t node = leaves_ - 1; node > 0; --node)
        tree_[node] = lower(tree_[2 * node], tree_[2 * node + 1]);
}

void QueueIndex::update(std::uint32_t place) {
    for (std::uint32_t node = (leaves_ + place) / 2; node > 0; node /= 2) {
        const Demand least = lower(tree_[2 * node], tree_[2 * node + 1]);
        Demand& known = tree_[node];
        if (least.size == known.size && least.least == known.least &&
            least.duration == known.duration)
            return;
        known = least;
    }
}

// Up from the leaf of `from` until a subtree to the right matches, then down into it.
template <class Matches>
std::uint32_t QueueIndex::find(std::uint32_t from, Matches matches) const {
    if (from >= end_) return end_;
    std::uint32_t node = leaves_ + from;
    while (true) {
        if (matches(tree_[node])) {
            if (node >= leaves_) return node - leaves_;
            node = 2 * node;
            continue;
        }
        while (node & 1) node /= 2;  // a right child: its parent has been searched
        if (node == 0) return end_;
        ++node;
    }
}

std::uint32_t QueueIndex::next(std::uint32_t from) const {
    return find(from, [](const Demand& demand) { return demand.size <= kMaxNodes; });
}

std::uint32_t QueueIndex::next_by_size(std::uint32_t from, const Supply& supply) const {
    return find(from,
                [&](const Demand& demand) { return fits(demand.size, demand.duration, supply); });
}

std::uint32_t QueueIndex::next_by_least(std::uint32_t from, const Supply& supply) const {
    return find(from,
                [&](const Demand& demand) { return fits(demand.least, demand.duration, supply); });
}

int QueueIndex::smallest_least() const {
    return end_ == 0 ? kNobody.least : tree_[1].least;
}

}  // namespace elastic::core

// SPDX-License-Identifier: MIT
// A complete binary tree in an array, its leaves being blocks of places.  The least size and the
// least duration of a part of the queue may be those of two different jobs, so that a match of a
// node is only a promise; the search goes back when it finds nothing below.  As short large jobs
// and long small ones are what a long queue consists of, a node knows the least duration for each
// class of sizes.  Removed places hold a demand that nothing satisfies.
//
// An update stops at the first inner node that it does not change.
#include "core/availability/queue_index.hpp"

#include <cmath>
#include <utility>

namespace elastic::core {
namespace {

constexpr QueueIndex::Demand kNoDemand{kMaxNodes + 1, kMaxNodes + 1, kMaxNodes + 1, kNever};

struct NoLarger {
    int nodes;

    QueueIndex::By by() const { return QueueIndex::By::least; }
    int most_nodes() const { return nodes; }
    bool fits(int least, Duration) const { return least <= nodes; }
};

float rounded_down(Duration duration) {
    const auto rounded = static_cast<float>(duration);
    return rounded > duration ? std::nextafter(rounded, 0.0F) : rounded;
}

}  // namespace

QueueIndex::Summary QueueIndex::nobody() {
    Summary summary;
    for (auto& shortest : summary.shortest) shortest.fill(kNobody);
    return summary;
}

std::vector<QueueIndex::Demand>& QueueIndex::begin_anew() {
    demands_.clear();
    return demands_;
}

void QueueIndex::build() {
    end_ = static_cast<std::uint32_t>(demands_.size());
    first_ = 0;
    leaves_ = std::bit_ceil(std::max(1U, (end_ + kBlock - 1) / kBlock));
    demands_.resize(leaves_ * kBlock, kNoDemand);
    tree_.assign(2 * leaves_, nobody());
    const std::uint32_t blocks = (end_ + kBlock - 1) / kBlock;
    for (std::uint32_t block = 0; block < blocks; ++block)
        tree_[leaves_ + block] = summary_of_block(block);
    for (std::uint32_t node = leaves_ - 1; node > 0; --node)
        tree_[node] = summary_of_children(node);
    is_ranked_ = false;
    skip_removed();
}

void QueueIndex::skip_removed() {
    while (first_ < end_ && !is_taken(demands_[first_])) ++first_;
}

void QueueIndex::index_by_rank() const {
    ranks_.clear();
    for (std::uint32_t place = 0; place < end_; ++place)
        if (is_taken(demands_[place])) ranks_.insert(place, demands_[place]);
    is_ranked_ = true;
}

void QueueIndex::push_back(const Demand& demand) {
    if (end_ == demands_.size()) {
        demands_.push_back(demand);
        return build();
    }
    demands_[end_] = demand;
    if (is_ranked_) ranks_.insert(end_, demand);
    note_arrival(end_++, demand);
}

void QueueIndex::change(std::uint32_t place, const Demand& demand) {
    const Demand before = std::exchange(demands_[place], demand);
    if (is_ranked_) {
        ranks_.remove(place);
        ranks_.insert(place, demand);
    }
    note_departure(place, before);
    note_arrival(place, demand);
}

void QueueIndex::remove(std::uint32_t place) {
    const Demand demand = std::exchange(demands_[place], kNoDemand);
    if (is_ranked_) ranks_.remove(place);
    skip_removed();
    note_departure(place, demand);
}

QueueIndex::Summary QueueIndex::summary_of_block(std::uint32_t block) const {
    Summary summary = nobody();
    for (std::uint32_t place = block * kBlock; place < (block + 1) * kBlock; ++place) {
        const Demand& demand = demands_[place];
        if (!is_taken(demand)) continue;
        for (const By by : {By::size, By::least}) {
            float& shortest = summary.of(by, class_of(nodes_of(demand, by)));
            shortest = std::min(shortest, rounded_down(demand.duration));
        }
    }
    return summary;
}

QueueIndex::Summary QueueIndex::summary_of_children(std::uint32_t node) const {
    Summary summary = tree_[2 * node];
    const Summary& right = tree_[2 * node + 1];
    for (const By by : {By::size, By::least})
        for (int size_class = 0; size_class < kClasses; ++size_class)
            summary.of(by, size_class) =
                std::min(summary.of(by, size_class), right.of(by, size_class));
    return summary;
}

// It stands at this place now.
void QueueIndex::note_arrival(std::uint32_t place, const Demand& demand) {
    const std::uint32_t block = place / kBlock;
    const float duration = rounded_down(demand.duration);
    for (const By by : {By::size, By::least}) {
        const int size_class = class_of(nodes_of(demand, by));
        const float shortest = tree_[leaves_ + block].of(by, size_class);
        if (duration < shortest) set_shortest(block, by, size_class, duration);
    }
}

// It stood at this place, where another may stand now.
void QueueIndex::note_departure(std::uint32_t place, const Demand& demand) {
    const std::uint32_t block = place / kBlock;
    const float duration = rounded_down(demand.duration);
    for (const By by : {By::size, By::least}) {
        const int size_class = class_of(nodes_of(demand, by));
        if (duration == tree_[leaves_ + block].of(by, size_class))
            set_shortest(block, by, size_class, shortest_of(block, by, size_class));
    }
}

float QueueIndex::shortest_of(std::uint32_t block, By by, int size_class) const {
    float shortest = kNobody;
    for (std::uint32_t place = std::max(first_, block * kBlock); place < block_end(block);
         ++place) {
        const Demand& demand = demands_[place];
        if (is_taken(demand) && class_of(nodes_of(demand, by)) == size_class)
            shortest = std::min(shortest, rounded_down(demand.duration));
    }
    return shortest;
}

void QueueIndex::set_shortest(std::uint32_t block, By by, int size_class, float shortest) {
    for (std::uint32_t node = leaves_ + block; tree_[node].of(by, size_class) != shortest;) {
        tree_[node].of(by, size_class) = shortest;
        node /= 2;
        if (node == 0) return;
        shortest =
            std::min(tree_[2 * node].of(by, size_class), tree_[2 * node + 1].of(by, size_class));
    }
}

// Mostly the very next place is occupied.
std::uint32_t QueueIndex::next(std::uint32_t from) const {
    if (from >= first_ && from < end_ && is_taken(demands_[from])) return from;
    return from <= first_ ? first_ : next(from, NoLarger{kMaxNodes});
}

bool QueueIndex::any_within(int nodes) const {
    return next(0, NoLarger{nodes}) < end_;
}

}  // namespace elastic::core

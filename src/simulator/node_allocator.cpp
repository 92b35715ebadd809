// SPDX-License-Identifier: MIT
// Sets of nodes as ascending ranges.  Blocks are preferred only so that drawings are easy to read.
//
// Always holds: each node is free, held by exactly one job, or shared.
#include "simulator/node_allocator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <iterator>

namespace elastic::simulator {
namespace {

// Adds ranges that are disjoint from those in `set`.
void merge(NodeRanges& set, const NodeRanges& more) {
    NodeRanges all;
    all.reserve(set.size() + more.size());
    std::merge(set.begin(), set.end(), more.begin(), more.end(), std::back_inserter(all),
               [](const NodeRange& a, const NodeRange& b) { return a.first < b.first; });
    set.clear();
    for (const NodeRange& range : all) {
        if (!set.empty() && set.back().last + 1 == range.first)
            set.back().last = range.last;
        else
            set.push_back(range);
    }
}

// Removes `count` nodes from the front of one range.
NodeRange cut_front(NodeRange& range, int count) {
    const NodeRange cut{range.first, range.first + count - 1};
    range.first += count;
    return cut;
}

NodeRanges take_lowest(NodeRanges& set, int count) {
    NodeRanges taken;
    while (count > 0) {
        assert(!set.empty());
        taken.push_back(cut_front(set.front(), std::min(count, set.front().count())));
        count -= taken.back().count();
        if (set.front().count() == 0) set.erase(set.begin());
    }
    return taken;
}

// Removes `count` nodes from the end.
NodeRanges cut_back(NodeRanges& set, int count) {
    NodeRanges cut;
    while (count > 0) {
        assert(!set.empty());
        NodeRange& top = set.back();
        const int part = std::min(count, top.count());
        cut.insert(cut.begin(), {top.last - part + 1, top.last});
        top.last -= part;
        count -= part;
        if (top.count() == 0) set.pop_back();
    }
    return cut;
}

}  // namespace

std::string to_string(const NodeRanges& ranges) {
    if (ranges.size() == 1 && ranges[0].count() == 1) return fmt::format("n{}", ranges[0].first);
    std::string text = "n[";
    for (const NodeRange& range : ranges) {
        fmt::format_to(std::back_inserter(text), "{}", range.first);
        if (range.count() > 1) fmt::format_to(std::back_inserter(text), "-{}", range.last);
        text += ',';
    }
    text.back() = ']';
    return text;
}

NodeAllocator::NodeAllocator(const core::PoolCounts& nodes, std::size_t jobs) : held_(jobs) {
    int first = 1;
    for (const int count : nodes) {
        NodeRanges& pool = free_.emplace_back();
        if (count > 0) pool.push_back({first, first + count - 1});
        first += count;
    }
}

NodeRanges NodeAllocator::take(std::size_t job, const core::PoolCounts& nodes) {
    held_[job].resize(free_.size());
    NodeRanges taken;
    for (core::PoolId pool = 0; pool < nodes.size(); ++pool) {
        const NodeRanges of_pool = take_of(free_[pool], nodes[pool]);
        merge(held_[job][pool], of_pool);
        merge(taken, of_pool);
    }
    return taken;
}

NodeRanges NodeAllocator::take_of(NodeRanges& free, int count) {
    if (count == 0) return {};
    const auto block = std::find_if(free.begin(), free.end(),
                                    [&](const NodeRange& range) { return range.count() >= count; });
    if (block == free.end()) return take_lowest(free, count);
    const NodeRange taken = cut_front(*block, count);
    if (block->count() == 0) free.erase(block);
    return {taken};
}

NodeRanges NodeAllocator::give_back(std::size_t job, const core::PoolCounts& nodes) {
    NodeRanges all;
    for (core::PoolId pool = 0; pool < nodes.size(); ++pool) {
        const NodeRanges given = cut_back(held_[job][pool], nodes[pool]);
        merge(free_[pool], given);
        merge(all, given);
    }
    return all;
}

NodeRanges NodeAllocator::share(std::size_t job, const std::vector<Observer::SharedNode>& nodes) {
    NodeRanges all;
    for (const auto& [number, pool] : nodes) {
        Shared& shared = shared_[number];
        if (shared.jobs++ == 0) {
            shared.node = take_of(free_[pool], 1);
            shared.pool = pool;
        }
        merge(all, shared.node);
        sharing_[job].push_back(number);
    }
    return all;
}

void NodeAllocator::leave(std::uint32_t number) {
    Shared& shared = shared_[number];
    if (--shared.jobs == 0) merge(free_[shared.pool], shared.node);
}

void NodeAllocator::give_back_all(std::size_t job) {
    if (const auto own = sharing_.find(job); own != sharing_.end()) {
        for (const std::uint32_t number : own->second) leave(number);
        sharing_.erase(own);
    }
    for (core::PoolId pool = 0; pool < held_[job].size(); ++pool)
        merge(free_[pool], held_[job][pool]);
    std::vector<NodeRanges>().swap(held_[job]);
}

}  // namespace elastic::simulator

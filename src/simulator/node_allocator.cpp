// SPDX-License-Identifier: MIT
// Sets of nodes as ascending ranges.  Blocks are preferred only so that drawings are easy to read.
//
// Always holds: each node is free or held by exactly one job.
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

NodeAllocator::NodeAllocator(int nodes, std::size_t jobs) : free_{{1, nodes}}, held_(jobs) {}

NodeRanges NodeAllocator::take(std::size_t job, int count) {
    const auto block = std::find_if(free_.begin(), free_.end(),
                                    [&](const NodeRange& range) { return range.count() >= count; });
    NodeRanges taken;
    if (block == free_.end()) {
        taken = take_lowest(free_, count);
    } else {
        taken.push_back(cut_front(*block, count));
        if (block->count() == 0) free_.erase(block);
    }
    merge(held_[job], taken);
    return taken;
}

NodeRanges NodeAllocator::give_back(std::size_t job, int count) {
    NodeRanges& held = held_[job];
    NodeRanges given;
    while (count > 0) {
        assert(!held.empty());
        NodeRange& top = held.back();
        const int part = std::min(count, top.count());
        given.insert(given.begin(), {top.last - part + 1, top.last});
        top.last -= part;
        count -= part;
        if (top.count() == 0) held.pop_back();
    }
    merge(free_, given);
    return given;
}

void NodeAllocator::give_back_all(std::size_t job) {
    merge(free_, held_[job]);
    NodeRanges().swap(held_[job]);
}

}  // namespace elastic::simulator

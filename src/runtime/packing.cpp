// SPDX-License-Identifier: MIT
// Objects become an array of bytes, so that what moves arrays moves them too.  Each process writes
// what it has, once, in the order in which it will be read: a new owner's objects are one block.
#include "runtime/packing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace elastic::runtime {
namespace {

constexpr std::uint64_t kAlignment = 16;  // that of any type in C

// Objects of one file that are neighbours in the array are neighbours in the file as well.
void append(Array& array, const std::string& node, std::string file, std::uint64_t offset,
            std::uint64_t bytes) {
    if (bytes == 0) return;
    if (array.extents.empty() || array.extents.back().file != file)
        array.extents.push_back({array.count, array.count, node, std::move(file), offset});
    array.count += bytes;
    array.extents.back().end = array.count;
}

}  // namespace

std::uint64_t packed_size(std::uint64_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

std::vector<int> heirs(const std::vector<std::string>& nodes,
                       const std::vector<std::string>& next) {
    std::map<std::string, std::vector<int>> there;
    for (std::size_t r = 0; r < next.size(); ++r) there[next[r]].push_back(static_cast<int>(r));
    std::map<std::string, std::size_t> taken;
    std::vector<int> heirs;
    for (const std::string& node : nodes) {
        const auto& on_node = there[node];
        heirs.push_back(on_node.empty() ? -1 : on_node[taken[node]++ % on_node.size()]);
    }
    return heirs;
}

Packing lay_out_objects(const std::vector<int>& owners, const std::vector<std::string>& nodes,
                        const ObjectSet& next, std::size_t processes, const std::string& stem) {
    std::vector<std::size_t> order(owners.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return next.owners[i]; });

    Packing packing{.array = {kObjectArray, 1, 0, {}},
                    .bounds = {},
                    .files = std::vector<std::uint64_t>(nodes.size(), 0),
                    .offsets = std::vector<std::uint64_t>(owners.size(), 0)};
    auto object = order.begin();
    for (std::size_t owner = 0; owner < processes; ++owner) {
        packing.bounds.push_back(packing.array.count);
        for (; object != order.end() && next.owners[*object] == static_cast<int>(owner); ++object) {
            const auto rank = static_cast<std::size_t>(owners[*object]);
            const std::uint64_t bytes = packed_size(next.sizes[*object]);
            packing.offsets[*object] = packing.files[rank];
            append(packing.array, nodes[rank], fmt::format("shm/{}.{}", stem, rank),
                   packing.files[rank], bytes);
            packing.files[rank] += bytes;
        }
    }
    packing.bounds.push_back(packing.array.count);
    return packing;
}

}  // namespace elastic::runtime

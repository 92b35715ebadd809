// SPDX-License-Identifier: MIT
// A resize moves what is on the wrong node, and nothing else: pages that stay on their node change
// their owner by being mapped by another process.  That needs pieces that begin and end at pages;
// blocks that have others are put together anew in one file.
//
// Always holds: the pieces of a block are all of its elements, in order.
#include "runtime/layout.hpp"

#include <algorithm>
#include <numeric>

namespace elastic::runtime {
namespace {

constexpr std::uint64_t kLeastGranules = 32;  // a block has, if bounds are to be at pages
constexpr std::size_t kMostPieces = 64;       // mapped one by one; more are put together

bool is_mappable(const Array& array, const BlockPlan& block, std::uint64_t page) {
    if (block.pieces.size() > kMostPieces) return false;
    return std::ranges::all_of(block.pieces, [&](const Piece& piece) {
        const Extent& from = array.extents[piece.extent];
        const std::uint64_t in_file = from.offset + (piece.begin - from.begin) * array.element;
        return (piece.begin - block.begin) * array.element % page == 0 &&
               (from.node != block.node || in_file % page == 0);
    });
}

}  // namespace

bool BlockPlan::needs_file() const {
    return std::ranges::any_of(pieces, [](const Piece& piece) { return !piece.kept; });
}

Bounds even_bounds(std::uint64_t count, std::uint64_t element, std::size_t blocks,
                   std::uint64_t page) {
    const std::uint64_t whole = page / std::gcd(element, page);  // elements that fill pages
    const std::uint64_t granule = count / blocks / whole >= kLeastGranules ? whole : 1;
    const std::uint64_t granules = count / granule;
    Bounds bounds(blocks + 1, count);
    for (std::size_t r = 0; r < blocks; ++r)
        bounds[r] = (granules / blocks * r + granules % blocks * r / blocks) * granule;
    return bounds;
}

std::vector<BlockPlan> plan_blocks(const Array& array, const Bounds& bounds,
                                   const std::vector<std::string>& nodes, std::uint64_t page) {
    std::vector<BlockPlan> plan;
    for (std::size_t r = 0; r + 1 < bounds.size(); ++r) {
        BlockPlan block{bounds[r], bounds[r + 1], nodes[r], {}};
        for (std::size_t i = 0; i < array.extents.size(); ++i) {
            const std::uint64_t begin = std::max(block.begin, array.extents[i].begin);
            const std::uint64_t end = std::min(block.end, array.extents[i].end);
            if (begin < end) block.pieces.push_back({i, begin, end});
        }
        const bool mappable = is_mappable(array, block, page);
        for (Piece& piece : block.pieces)
            piece.kept = mappable && array.extents[piece.extent].node == block.node;
        plan.push_back(std::move(block));
    }
    return plan;
}

Array after(const Array& array, const std::vector<BlockPlan>& plan,
            const std::vector<std::string>& files) {
    Array result{array.name, array.element, array.count, {}};
    for (std::size_t r = 0; r < plan.size(); ++r)
        for (const Piece& piece : plan[r].pieces) {
            Extent extent{piece.begin, piece.end, plan[r].node, files[r],
                          (piece.begin - plan[r].begin) * array.element};
            if (piece.kept) {
                const Extent& from = array.extents[piece.extent];
                extent.file = from.file;
                extent.offset = from.offset + (piece.begin - from.begin) * array.element;
            }
            Extent* last = result.extents.empty() ? nullptr : &result.extents.back();
            if (last && last->node == extent.node && last->file == extent.file &&
                last->offset + (last->end - last->begin) * array.element == extent.offset)
                last->end = extent.end;
            else
                result.extents.push_back(std::move(extent));
        }
    return result;
}

std::vector<std::string> block_nodes(const std::vector<std::string>& nodes, int each) {
    std::vector<std::string> result;
    for (const std::string& node : nodes)
        result.insert(result.end(), static_cast<std::size_t>(each), node);
    return result;
}

}  // namespace elastic::runtime

// SPDX-License-Identifier: MIT
// Where the elements of distributed arrays lie, and what has to be done for others to have them.
// Pure: neither MPI nor files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace elastic::runtime {

// Elements [begin, end) in a file of a node.
struct Extent {
    std::uint64_t begin = 0, end = 0;
    std::string node, file;
    std::uint64_t offset = 0;  // of `begin` in the file, bytes
    friend bool operator==(const Extent&, const Extent&) = default;
};

// Block r is [bounds[r], bounds[r + 1]).
using Bounds = std::vector<std::uint64_t>;

struct Array {
    std::string name;
    std::uint64_t element = 1, count = 0;  // bytes of one, how many
    std::vector<Extent> extents;           // in order; disjoint, and together all elements
};

// Equal blocks.  Their bounds are at multiples of pages where that makes them unequal by no more
// than a part in 32, since whole pages need not be copied to change their owner.
Bounds even_bounds(std::uint64_t count, std::uint64_t element, std::size_t blocks,
                   std::uint64_t page);

// A part of a block: what an extent has of it.
struct Piece {
    std::size_t extent = 0;
    std::uint64_t begin = 0, end = 0;
    bool kept = false;  // stays where it is
};

// What is to be done for one block to be on a node.
struct BlockPlan {
    std::uint64_t begin = 0, end = 0;
    std::string node;
    std::vector<Piece> pieces;  // in order

    bool needs_file() const;  // some pieces are copied into one of the block's size
};

// `nodes`: of the blocks.  A piece is kept if it is on its block's node already and can be mapped
// there behind the others; else the block has a file, in which each piece that is not kept is at
// its place in the block.
std::vector<BlockPlan> plan_blocks(const Array& array, const Bounds& bounds,
                                   const std::vector<std::string>& nodes, std::uint64_t page);

// The array when the plan has been carried out; files[r]: that of block r.
Array after(const Array& array, const std::vector<BlockPlan>& plan,
            const std::vector<std::string>& files);

// The nodes of the blocks, block by block, with so many blocks a node.
std::vector<std::string> block_nodes(const std::vector<std::string>& nodes, int each);

}  // namespace elastic::runtime

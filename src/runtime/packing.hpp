// SPDX-License-Identifier: MIT
// Where a program's objects lie when they are packed.  Pure: neither MPI nor files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/checkpoint.hpp"
#include "runtime/layout.hpp"

namespace elastic::runtime {

// The bytes that an object of this size takes, so that the next one is aligned for any type.
std::uint64_t packed_size(std::uint64_t bytes);

// Of each process on `nodes`: which of those on `next` is in its place; -1: none, its node leaves.
std::vector<int> heirs(const std::vector<std::string>& nodes, const std::vector<std::string>& next);

struct Packing {
    Array array;                         // of bytes: all objects, in the order of their new owners
    Bounds bounds;                       // of the new owners' blocks in `array`
    std::vector<std::uint64_t> files;    // bytes of each old owner's file
    std::vector<std::uint64_t> offsets;  // of each object in its old owner's file
};

// Each process packs its own objects into a file, STEM.RANK in shared memory.  `owners`: of the
// objects now, processes on `nodes`; `next`: sizes and owners in a world of so many `processes`.
Packing lay_out_objects(const std::vector<int>& owners, const std::vector<std::string>& nodes,
                        const ObjectSet& next, std::size_t processes, const std::string& stem);

}  // namespace elastic::runtime

// SPDX-License-Identifier: MIT
// What a world leaves to the next besides its arrays' elements.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/record.hpp"
#include "common/result.hpp"
#include "runtime/layout.hpp"

namespace elastic::runtime {

// A few bytes that all processes have alike.
struct Value {
    std::string name, hexadecimal;
};

// Objects are packed into an array of bytes in the order of their new owners.
struct ObjectSet {
    std::vector<int> owners;           // of each object, in the next world
    std::vector<std::uint64_t> sizes;  // of each, bytes
    Bounds bounds;                     // of the owners' blocks in the array
};

struct Checkpoint {
    std::int64_t generation = 0;
    std::vector<Array> arrays;  // the objects' is named kObjectArray
    std::vector<Value> values;
    ObjectSet objects;
};

inline constexpr const char* kObjectArray = "/objects";  // no name that a program may give

std::string checkpoint_name(std::int64_t generation);  // of its file in a Store
std::string write_checkpoint(const Checkpoint&);
Result<Checkpoint> read_checkpoint(const std::string& text);

std::string to_hexadecimal(const void* bytes, std::size_t size);
// False if it is not of that size.
bool from_hexadecimal(const std::string& text, void* bytes, std::size_t size);

}  // namespace elastic::runtime

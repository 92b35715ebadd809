// SPDX-License-Identifier: MIT
// What every fuzzer includes.  A fuzzer defines LLVMFuzzerTestOneInput in a file of its own, states
// what must hold of any input with `require`, and is listed in Makefile.inc; its corpus is
// test/data/corpus/NAME for NAME_fuzz.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace elastic::fuzz {

inline std::string_view text(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

inline void require(bool condition, const char* what) {
    if (condition) return;
    std::fprintf(stderr, "fuzz: %s does not hold\n", what);
    std::abort();
}

// What every refusal of hostile input promises.
inline void require_clean(std::string_view message) {
    require(!message.empty() && message.size() < 1000, "a message is short");
    for (char c : message) require(c >= 0x20 && c <= 0x7e, "a message is printable");
}

}  // namespace elastic::fuzz

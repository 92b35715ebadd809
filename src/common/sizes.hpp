// SPDX-License-Identifier: MIT
// Which sizes a job can have, as it says (elastic(7), sizes=).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/result.hpp"

namespace elastic {

// The sizes a job can run at besides its range.
struct SizeRule {
    enum class Kind { any, power_of_two, step, list } kind = Kind::any;
    int step = 1;           // multiples of it
    std::vector<int> list;  // ascending

    bool allows(int nodes) const { return nodes >= 1 && up_to(nodes) == nodes; }
    // The largest allowed size in [low, high], 0 if there is none.
    int largest(int low, int high) const {
        const int size = high < 1 ? 0 : up_to(high);
        return size >= low ? size : 0;
    }
    // The smallest allowed size in [low, high], 0 if there is none.
    int smallest(int low, int high) const {
        const int size = from(low < 1 ? 1 : low);
        return size <= high ? size : 0;
    }

    friend bool operator==(const SizeRule&, const SizeRule&) = default;

  private:
    // Most jobs have no rule, and each pass asks for sizes of all of them.
    int up_to(int high) const { return kind == Kind::any ? high : largest_up_to(high); }
    int from(int low) const { return kind == Kind::any ? low : smallest_from(low); }
    int largest_up_to(int high) const;
    int smallest_from(int low) const;
};

// "any", "pow2", "step:K", "2:4:8" (ascending); "8" is a list of one.  Numbers from 1 to kMaxNodes.
// An error says what is wrong with it, to be put behind "sizes=VALUE: ".
Result<SizeRule> parse_size_rule(std::string_view);
std::string to_string(const SizeRule&);

}  // namespace elastic

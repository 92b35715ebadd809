// SPDX-License-Identifier: MIT
// The scheduler's vocabulary.
#pragma once

// g++ 12 sees overreads in the inlined moves of small_vector where there are none.
#pragma GCC diagnostic push
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overread"
#endif
#include <boost/container/small_vector.hpp>
#pragma GCC diagnostic pop
#include <cstdint>
#include <string>
#include <vector>

#include "common/limits.hpp"
#include "common/resize.hpp"
#include "common/result.hpp"
#include "common/time.hpp"

namespace elastic::core {

using PoolId = std::uint32_t;         // index into Snapshot::pools
using EligibilityId = std::uint32_t;  // index into Snapshot::eligibilities

// Nodes by pool, one entry a pool.  Nodes of one pool are alike for every job
// known: each job may use all of them or none.
using PoolCounts = boost::container::small_vector<int, 4>;

inline int total(const PoolCounts& counts) {
    int nodes = 0;
    for (const int count : counts) nodes += count;
    return nodes;
}
// Pool by pool, of counts of the same pools.
inline PoolCounts sum(PoolCounts a, const PoolCounts& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
    return a;
}
inline PoolCounts difference(PoolCounts a, const PoolCounts& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
    return a;
}

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

// "any", "pow2", "step:K", "2:4:8" (ascending); "8" is a list of one.  Numbers
// from 1 to kMaxNodes.  An error says what is wrong with it, to be put behind
// "sizes=VALUE: ".
Result<SizeRule> parse_size_rule(std::string_view);
std::string to_string(const SizeRule&);

}  // namespace elastic::core

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

int total(const PoolCounts&);
// Pool by pool, of counts of the same pools.
PoolCounts sum(PoolCounts, const PoolCounts&);
PoolCounts difference(PoolCounts, const PoolCounts&);

// The sizes a job can run at besides its range.
struct SizeRule {
    enum class Kind { any, power_of_two, step, list } kind = Kind::any;
    int step = 1;           // multiples of it
    std::vector<int> list;  // ascending

    bool allows(int nodes) const;
    // The largest allowed size in [low, high], 0 if there is none.
    int largest(int low, int high) const;
    // The smallest allowed size in [low, high], 0 if there is none.
    int smallest(int low, int high) const;

    friend bool operator==(const SizeRule&, const SizeRule&) = default;
};

// "any", "pow2", "step:K", "2:4:8" (ascending); "8" is a list of one.  Numbers
// from 1 to kMaxNodes.  An error says what is wrong with it, to be put behind
// "sizes=VALUE: ".
Result<SizeRule> parse_size_rule(std::string_view);
std::string to_string(const SizeRule&);

}  // namespace elastic::core

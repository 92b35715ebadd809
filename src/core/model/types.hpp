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

#include "common/limits.hpp"
#include "common/resize.hpp"
#include "common/result.hpp"
#include "common/sizes.hpp"
#include "common/time.hpp"

namespace elastic::core {

using PoolId = std::uint32_t;         // index into Snapshot::pools
using EligibilityId = std::uint32_t;  // index into Snapshot::eligibilities

// Nodes by pool, one entry a pool.  Nodes of one pool are alike for every job known: each job may
// use all of them or none.
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

using elastic::parse_size_rule;
using elastic::SizeRule;

}  // namespace elastic::core

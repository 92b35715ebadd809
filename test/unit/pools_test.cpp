// SPDX-License-Identifier: MIT
// How sets of nodes become pools, and in which order a job takes from them.
#include "core/model/pools.hpp"

#include <algorithm>
#include <random>

#include "testing.hpp"

using namespace elastic;
using namespace elastic::core;
using namespace elastic::testing;

namespace {

using Words = std::vector<std::uint64_t>;

Words words(std::size_t nodes, std::initializer_list<std::size_t> members) {
    Words result((nodes + 63) / 64);
    for (const std::size_t node : members) result[node / 64] |= std::uint64_t{1} << node % 64;
    return result;
}

bool has(const Words& set, std::size_t node) {
    return set[node / 64] >> node % 64 & 1;
}

// The pool of each node, as "0 1 1".
std::string pools(const PoolMap& map, std::size_t nodes) {
    std::string text;
    for (std::size_t node = 0; node < nodes; ++node) text += fmt::format("{} ", map.pool_of(node));
    return text;
}

std::vector<core::Pool> awake(std::size_t pools) {
    return std::vector<core::Pool>(pools);
}

std::vector<std::uint32_t> alike(std::size_t pools) {
    return std::vector<std::uint32_t>(pools, 1);
}

}  // namespace

TEST(nodes_that_no_set_tells_apart_are_one_pool) {
    PoolMap map(4);
    check_eq(pools(map, 4), "0 0 0 0 ");
    map.split(words(4, {0, 1, 2, 3}));
    map.split(words(4, {}));
    check_eq(map.pools(), 1u);
    check_eq(pools(map, 4), "0 0 0 0 ");
}

TEST(a_set_splits_a_pool_into_what_is_inside_and_outside) {
    PoolMap map(6);
    map.split(words(6, {1, 3}));
    check_eq(map.pools(), 2u);
    check_eq(pools(map, 6), "0 1 0 1 0 0 ");
}

TEST(sets_that_overlap_make_a_pool_of_each_combination) {
    PoolMap map(5);
    map.split(words(5, {0, 1, 2}));
    map.split(words(5, {2, 3}));
    check_eq(map.pools(), 4u);
    check_eq(pools(map, 5), "0 0 1 2 3 ");
}

TEST(pools_are_numbered_by_their_first_nodes_whatever_the_order_of_the_sets) {
    PoolMap one(5), other(5);
    one.split(words(5, {0, 1, 2}));
    one.split(words(5, {2, 3}));
    other.split(words(5, {2, 3}));
    other.split(words(5, {0, 1, 2}));
    check_eq(pools(one, 5), pools(other, 5));
}

TEST(two_nodes_are_in_one_pool_if_and_only_if_each_set_has_both_or_neither) {
    std::mt19937_64 random(seed());
    constexpr std::size_t kNodes = 200;
    std::vector<Words> sets;
    PoolMap map(kNodes);
    for (int set = 0; set < 4; ++set) {
        sets.emplace_back();
        for (std::size_t word = 0; word < (kNodes + 63) / 64; ++word)
            sets.back().push_back(random());
        map.split(sets.back());
    }
    for (std::size_t left = 0; left < kNodes; ++left)
        for (std::size_t right = 0; right < left; ++right) {
            const bool are_alike = std::ranges::all_of(
                sets, [&](const Words& set) { return has(set, left) == has(set, right); });
            check_that((map.pool_of(left) == map.pool_of(right)) == are_alike);
        }
}

TEST(demand_is_by_how_many_eligibilities_have_a_pool) {
    const std::vector<core::Eligibility> eligibilities{{0, 1}, {1}, {}, {1, 3}};
    check_that((demand(eligibilities, 4) == std::vector<int>{1, 3, 0, 1}));
}

TEST(what_few_others_want_is_taken_first) {
    core::Eligibility eligible{0, 1, 2};
    order_pools(eligible, awake(3), std::vector<bool>(3), alike(3), std::vector{5, 1, 3});
    check_that((eligible == core::Eligibility{1, 2, 0}));
}

TEST(pools_in_equal_demand_keep_their_order) {
    core::Eligibility eligible{2, 0, 1};
    order_pools(eligible, awake(3), std::vector<bool>(3), alike(3), std::vector{1, 1, 1});
    check_that((eligible == core::Eligibility{2, 0, 1}));
}

TEST(what_is_asleep_is_taken_last_and_what_is_named_first) {
    core::Eligibility eligible{0, 1, 2, 3};
    std::vector<core::Pool> pools = awake(4);
    pools[0].asleep = pools[3].asleep = true;
    order_pools(eligible, pools, {false, false, false, true}, alike(4), std::vector{1, 9, 8, 7});
    check_that((eligible == core::Eligibility{3, 2, 1, 0}));
}

TEST(what_weighs_least_is_taken_before_what_few_others_want) {
    core::Eligibility eligible{0, 1, 2};
    order_pools(eligible, awake(3), std::vector<bool>(3), std::vector<std::uint32_t>{9, 1, 1},
                std::vector{1, 3, 2});
    check_that((eligible == core::Eligibility{2, 1, 0}));
}

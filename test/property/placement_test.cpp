// SPDX-License-Identifier: MIT
// From counts to nodes: whatever a plan says, the nodes that are taken for its actions are free,
// nobody else's, and of each pool as many as planned. So what is left of a pool is what the plan
// counts on for its reservations.
#include <algorithm>
#include <set>

#include "core/pass/placement.hpp"
#include "core/pass/planner.hpp"
#include "random_snapshot.hpp"
#include "testing.hpp"

using namespace elastic;
using namespace elastic::core;
using namespace elastic::testing;

namespace {

// What place() needs of a set of nodes.
struct Nodes {
    std::set<int> numbers;

    int count() const { return static_cast<int>(numbers.size()); }
    Nodes& operator|=(const Nodes& other) {
        numbers.insert(other.numbers.begin(), other.numbers.end());
        return *this;
    }
    Nodes& operator&=(const Nodes& other) {
        std::erase_if(numbers, [&](int number) { return !other.numbers.contains(number); });
        return *this;
    }
    Nodes& operator-=(const Nodes& other) {
        std::erase_if(numbers, [&](int number) { return other.numbers.contains(number); });
        return *this;
    }
};

// Those with these numbers come first, the others follow by number.
struct Order {
    Nodes preferred;

    Nodes first(const Nodes& nodes, int most) const {
        Nodes result;
        for (const bool is_preferred : {true, false})
            for (int number : nodes.numbers)
                if (preferred.numbers.contains(number) == is_preferred && result.count() < most)
                    result.numbers.insert(number);
        return result;
    }
};

// The nodes of a snapshot by number: in each pool some that are idle, mixed with those that are
// not.
struct Machine {
    Machine(const Snapshot& snapshot, Rng& rng) {
        std::vector<int> numbers;
        for (const Pool& pool : snapshot.pools)
            numbers.resize(numbers.size() + static_cast<std::size_t>(pool.nodes));
        for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int>(i);
        std::shuffle(numbers.begin(), numbers.end(), rng);
        std::size_t next = 0;
        for (const Pool& pool : snapshot.pools) {
            Nodes& all = pools.emplace_back();
            for (int i = 0; i < pool.nodes; ++i, ++next) {
                all.numbers.insert(numbers[next]);
                if (i < pool.idle) free.numbers.insert(numbers[next]);
            }
        }
    }

    PoolCounts by_pool(const Nodes& nodes) const {
        PoolCounts counts(pools.size(), 0);
        for (std::size_t pool = 0; pool < pools.size(); ++pool) {
            Nodes here(nodes);
            counts[pool] = (here &= pools[pool]).count();
        }
        return counts;
    }

    std::vector<Nodes> pools;
    Nodes free;
};

}  // namespace

TEST(each_action_takes_free_nodes_and_of_each_pool_as_many_as_planned) {
    Rng rng(seed(23));
    Planner planner;
    int placed = 0;
    for (int i = 0; i < 4000; ++i) {
        const Snapshot snapshot = RandomSnapshot(rng).anything();
        Machine machine(snapshot, rng);
        for (const Action& action : planner.plan(snapshot, *preset("elastic"), rng).actions) {
            const bool is_placed =
                action.kind == ActionKind::start || action.kind == ActionKind::expand;
            if (!is_placed || action.deferred) continue;
            const Nodes nodes = place(action.nodes, machine.pools, machine.free,
                                      Order{Order().first(machine.free, 3)});
            check_that((machine.by_pool(nodes) == action.nodes));
            Nodes not_free(nodes);
            check_eq((not_free -= machine.free).count(), 0);
            machine.free -= nodes;
            ++placed;
        }
    }
    check_that(placed > 1000);
}

TEST(preferred_nodes_are_taken_first) {
    const std::vector<Nodes> pools = {{{1, 2, 3, 4}}, {{5, 6}}};
    const Nodes free{{1, 2, 3, 4, 5, 6}};
    check_that((place({2, 1}, pools, free, Order{{{4, 6}}}).numbers == std::set{1, 4, 6}));
    check_that((place({2, 1}, pools, free, Order()).numbers == std::set{1, 2, 5}));
}

TEST(where_there_are_fewer_all_are_taken) {
    check_that(
        (place({3}, {Nodes{{1, 2, 3, 4}}}, Nodes{{2, 4}}, Order()).numbers == std::set{2, 4}));
}

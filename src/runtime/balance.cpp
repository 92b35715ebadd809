// SPDX-License-Identifier: MIT
// GreedyLB evens loads out best and moves nearly everything; RefineLB moves as little as will do.
//
// Always holds: the same loads give the same owners, so that processes need not agree on them.
#include "runtime/balance.hpp"

#include <algorithm>
#include <numeric>
#include <queue>
#include <set>

namespace elastic::runtime {
namespace {

constexpr double kTolerance = 1.05;  // times the average

std::vector<std::size_t> heaviest_first(const std::vector<double>& loads) {
    std::vector<std::size_t> order(loads.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](auto a, auto b) { return loads[a] > loads[b]; });
    return order;
}

// Gives those without an owner to who has least.
void place(const std::vector<double>& loads, std::vector<int>& owners, std::vector<double>& sums) {
    using Sum = std::pair<double, int>;
    std::priority_queue<Sum, std::vector<Sum>, std::greater<>> least;
    for (std::size_t r = 0; r < sums.size(); ++r) least.emplace(sums[r], static_cast<int>(r));
    for (const std::size_t object : heaviest_first(loads)) {
        if (owners[object] >= 0) continue;
        const auto [sum, owner] = least.top();
        least.pop();
        owners[object] = owner;
        sums[static_cast<std::size_t>(owner)] = sum + loads[object];
        least.emplace(sum + loads[object], owner);
    }
}

}  // namespace

std::vector<int> balance_greedily(const std::vector<double>& loads, int processes) {
    std::vector<int> owners(loads.size(), -1);
    std::vector<double> sums(static_cast<std::size_t>(processes), 0);
    place(loads, owners, sums);
    return owners;
}

std::vector<int> balance_by_refining(const std::vector<double>& loads, std::vector<int> owners,
                                     int processes) {
    std::vector<double> sums(static_cast<std::size_t>(processes), 0);
    for (std::size_t i = 0; i < loads.size(); ++i) {
        if (owners[i] >= processes) owners[i] = -1;
        if (owners[i] >= 0) sums[static_cast<std::size_t>(owners[i])] += loads[i];
    }
    place(loads, owners, sums);
    const double limit = kTolerance * std::accumulate(sums.begin(), sums.end(), 0.0) / processes;
    std::set<std::pair<double, std::size_t>> order;
    for (std::size_t r = 0; r < sums.size(); ++r) order.emplace(sums[r], r);
    std::vector<std::vector<std::size_t>> objects(sums.size());  // heaviest last
    const std::vector<std::size_t> heaviest = heaviest_first(loads);
    for (auto i = heaviest.rbegin(); i != heaviest.rend(); ++i)
        objects[static_cast<std::size_t>(owners[*i])].push_back(*i);
    while (order.rbegin()->first > limit) {
        const auto [most, from] = *order.rbegin();
        const auto [least, to] = *order.begin();
        auto& own = objects[from];
        // The heaviest that does not make the receiver the new highest.
        const auto fits =
            std::find_if(own.rbegin(), own.rend(), [&, most = most, least = least](std::size_t i) {
                return loads[i] > 0 && least + loads[i] < most;
            });
        if (fits == own.rend()) break;
        const std::size_t object = *fits;
        own.erase(std::next(fits).base());
        objects[to].insert(std::ranges::lower_bound(objects[to], loads[object], {},
                                                    [&](std::size_t i) { return loads[i]; }),
                           object);
        owners[object] = static_cast<int>(to);
        const double weight = loads[object], high = most, low = least;
        const std::size_t giver = from, taker = to;
        order.erase({high, giver});
        order.erase({low, taker});
        order.emplace(high - weight, giver);
        order.emplace(low + weight, taker);
    }
    return owners;
}

}  // namespace elastic::runtime

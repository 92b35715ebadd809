// SPDX-License-Identifier: MIT
// A log has no names of nodes, so the sets' sizes are said beside it.
#include "simulator/supply_series.hpp"

#include <algorithm>
#include <numeric>

#include "common/text.hpp"

namespace elastic::simulator {

Result<SupplySeries> make_series(core::Supply supply, std::string_view sizes, int machine) {
    SupplySeries series{std::move(supply), {}};
    series.nodes.assign(series.supply.sets.size(), 0);
    if (!sizes.empty())
        for (const std::string_view part : split(sizes, ',')) {
            const std::size_t equals = part.rfind('=');
            const std::string_view name = part.substr(0, equals);
            const auto set = std::ranges::find(series.supply.sets, name);
            const auto nodes =
                equals == part.npos ? std::nullopt : parse_integer(part.substr(equals + 1));
            if (set == series.supply.sets.end())
                return error("--supply-nodes: the supply says nothing of '{}'", printable(name));
            if (!nodes || *nodes < 1 || *nodes > machine)
                return error("--supply-nodes: '{}' is not NAME=N, N from 1 to the machine's {}",
                             printable(part), machine);
            series.nodes[static_cast<std::size_t>(set - series.supply.sets.begin())] =
                static_cast<int>(*nodes);
        }
    const int together = std::accumulate(series.nodes.begin(), series.nodes.end(), 0);
    if (together > machine)
        return error("--supply-nodes: the sets have {} nodes, the machine {}", together, machine);
    return series;
}

core::PoolCounts pool_sizes(const SupplySeries& series, int machine) {
    core::PoolCounts sizes(1, machine);
    for (const int nodes : series.nodes)
        if (nodes > 0) {
            sizes[0] -= nodes;
            sizes.push_back(nodes);
        }
    return sizes;
}

std::vector<core::PoolId> pools_of(const SupplySeries& series, std::size_t set) {
    const auto pool_before = [&](std::size_t end) {
        return static_cast<core::PoolId>(std::count_if(
            series.nodes.begin(), series.nodes.begin() + static_cast<std::ptrdiff_t>(end),
            [](int nodes) { return nodes > 0; }));
    };
    if (series.nodes[set] > 0) return {pool_before(set) + 1};
    std::vector<core::PoolId> all(pool_before(series.nodes.size()) + 1);
    std::iota(all.begin(), all.end(), core::PoolId{0});
    return all;
}

}  // namespace elastic::simulator

// SPDX-License-Identifier: MIT
// The level up to which all who share are filled, as water fills vessels of unequal floors and
// heights: between its minimum and its maximum each has the same.
#include "core/pass/state/equal_share.hpp"

#include <algorithm>
#include <cstdint>

#include "core/model/search.hpp"
#include "core/pass/state/system_state.hpp"

namespace elastic::core {

int equal_share(const SystemState& state, std::vector<std::pair<int, int>>& ranges) {
    ranges.clear();
    int nodes = state.nodes().idle();
    int minima = 0;
    const std::vector<RunningJob>& running = state.snapshot().running;
    for (std::uint32_t i = 0; i < running.size(); ++i) {
        if (!state.running().may_resize(i)) continue;
        nodes += total(running[i].held);
        minima += running[i].elastic.min;
        ranges.emplace_back(running[i].elastic.min, running[i].elastic.max);
    }
    const QueueIndex& queue = state.index().queue;
    for (std::uint32_t i = queue.next(0); i < queue.end(); i = queue.next(i + 1)) {
        const Sizing& elastic = state.snapshot().pending[i].elastic;
        const int least = elastic.malleable ? elastic.min : elastic.pref;
        int copies = state.queue().undecided_copies(i);
        for (; copies > 0 && minima + least <= nodes; --copies) {
            minima += least;
            ranges.emplace_back(least, elastic.malleable ? elastic.max : elastic.pref);
        }
        if (copies > 0) break;
    }
    return last_where(0, nodes, [&](int level) {
        std::int64_t needed = 0;
        for (const auto& [min, max] : ranges) needed += std::clamp(level, min, max);
        return needed <= nodes;
    });
}

}  // namespace elastic::core

// SPDX-License-Identifier: MIT
// [packet] section 5, in its order.  Weights hang on nothing that a start changes but which queues
// are empty, so a pass takes the heaviest, empties it, and asks again.
//
// Always holds: the nodes of all starts of a pass are no more than were free; no queue starts
// twice.
#include "core/model/packet.hpp"

#include <algorithm>
#include <cmath>

namespace elastic::core {

Duration longest_wait(LongestWait reading, Time first_submit, Time now, Duration ever,
                      Duration bound) {
    const Duration first = now - first_submit;
    switch (reading) {
        case LongestWait::now:
            return first;
        case LongestWait::ever:
            return std::max(first, ever);
        case LongestWait::bound:
            return bound;
    }
    return first;
}

double advisability(const TypeQueue& queue) {
    return queue.work / queue.initialisation;
}

double queue_weight(const TypeQueue& queue, Time now) {
    const Duration waited = now - queue.first_submit;
    // Where nobody ever waited the first job's wait is the longest.
    const double ageing = queue.longest_wait > 0 ? waited / queue.longest_wait : 1;
    return advisability(queue) * queue.priority * (1 + ageing);
}

std::optional<std::size_t> heaviest_queue(std::span<const TypeQueue> queues, Time now) {
    std::optional<std::size_t> heaviest;
    double most = 0;
    for (std::size_t i = 0; i < queues.size(); ++i) {
        if (queues[i].jobs == 0) continue;
        const double weight = queue_weight(queues[i], now);
        const bool is_heavier =
            !heaviest || weight > most ||
            (weight == most && queues[i].first_submit < queues[*heaviest].first_submit);
        if (!is_heavier) continue;
        heaviest = i;
        most = weight;
    }
    return heaviest;
}

int group_nodes(const TypeQueue& queue, double scale_ratio, int free) {
    if (free < queue.least) return 0;
    const double threshold = std::floor(queue.work / (scale_ratio * queue.initialisation));
    const int limit = std::max(queue.least, std::min(queue.most, free));
    return static_cast<int>(
        std::clamp(threshold, static_cast<double>(queue.least), static_cast<double>(limit)));
}

std::vector<GroupStart> start_groups(std::span<const TypeQueue> queues, double scale_ratio,
                                     int free, Time now) {
    std::vector<TypeQueue> waiting(queues.begin(), queues.end());
    std::vector<GroupStart> starts;
    while (free > 0) {
        const auto heaviest = heaviest_queue(waiting, now);
        if (!heaviest) break;
        const int nodes = group_nodes(waiting[*heaviest], scale_ratio, free);
        if (nodes == 0) break;
        starts.push_back({*heaviest, nodes});
        waiting[*heaviest].jobs = 0;
        free -= nodes;
    }
    return starts;
}

}  // namespace elastic::core

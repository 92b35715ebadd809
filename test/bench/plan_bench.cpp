// SPDX-License-Identifier: MIT
// Time of one planning pass on a full machine with a long queue, where nothing
// but the head's reservation can be decided: the pass a scheduler makes most.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "core/planner.hpp"
#include "snapshot_builder.hpp"

namespace {

using namespace elastic;
using namespace elastic::core;

struct Load {
    int nodes, running, pending;
    bool elastic;
    int idle;
};

int between(Rng& rng, int low, int high) {
    return low + static_cast<int>(rng() % static_cast<std::uint64_t>(high - low + 1));
}

Snapshot make(const Load& load) {
    Rng rng(1);
    testing::SnapshotBuilder builder({load.idle}, 1e6);
    int left = load.nodes - load.idle;
    for (int i = 0; i < load.running && left > 0; ++i) {
        const int size = i + 1 == load.running
                             ? left
                             : std::min(left, between(rng, 1, 2 * load.nodes / load.running - 1));
        const auto elastic = load.elastic
                                 ? testing::malleable(std::max(1, size / 2), size, 2 * size)
                                 : testing::rigid(size);
        builder.run(1 + i, elastic, {size}, between(rng, 60, 86400));
        left -= size;
    }
    for (int i = 0; i < load.pending; ++i) {
        const int size = between(rng, 8, 64);
        const auto elastic = load.elastic && i % 2 ? testing::malleable(size / 2, size, 2 * size)
                                                   : testing::rigid(size);
        builder.queue(100'000 + i, elastic, between(rng, 600, 86400));
    }
    return builder.snapshot;
}

void measure(const char* name, const Load& load, const char* policy_name) {
    const Snapshot snapshot = make(load);
    const Policy policy = *preset(policy_name);
    Planner planner;
    Rng rng(1);
    std::vector<double> times;
    std::size_t actions = 0;
    for (int i = 0; i < 50; ++i) {
        const auto before = std::chrono::steady_clock::now();
        actions = planner.plan(snapshot, policy, rng).actions.size();
        times.push_back(
            std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count());
    }
    std::sort(times.begin(), times.end());
    fmt::print(
        "{:<10} {:<13} {:>6} nodes {:>5} running {:>6} pending: {:>7.3f} ms (first {:.3f}), "
        "{} actions\n",
        name, policy_name, load.nodes, snapshot.running.size(), load.pending,
        1e3 * times[times.size() / 2], 1e3 * times.back(), actions);
}

}  // namespace

int main() {
    for (const char* policy : {"fcfs", "easy", "lina-default"}) {
        measure("full", {1'000, 135, 1'000, true, 0}, policy);
        measure("full", {10'000, 1'360, 10'000, true, 0}, policy);
        measure("gaps", {10'000, 1'360, 10'000, true, 7}, policy);
        measure("drained", {10'000, 1'360, 10'000, true, 5'000}, policy);
        measure("rigid", {10'000, 1'360, 10'000, false, 7}, policy);
    }
}

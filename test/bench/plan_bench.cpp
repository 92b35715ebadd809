// SPDX-License-Identifier: MIT
// Time and allocations of one planning pass on a full machine with a long queue, where nothing but
// the head's reservation can be decided: the pass a scheduler makes most.  Once from a snapshot, as
// in slurmctld, and once from a cluster that has been kept up to date, as in the simulator.
//
//     plan_bench [POLICY...]
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>
#include <vector>

#include <cstdlib>
#include <new>

#include "core/pass/planner.hpp"
#include "snapshot_builder.hpp"

namespace {

std::size_t allocations = 0;

}  // namespace

void* operator new(std::size_t size) {
    ++allocations;
    if (void* memory = std::malloc(size)) return memory;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}

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

// The same jobs as a cluster that is kept up to date.
Cluster make_cluster(const Load& load) {
    const Snapshot snapshot = make(load);
    Cluster cluster(load.nodes);
    cluster.advance(snapshot.now);
    JobId id = 0;
    for (const RunningJob& running : snapshot.running) {
        PendingJob job;
        job.id = ++id;
        job.elastic = running.elastic;
        job.duration = running.estimated_end - snapshot.now;
        cluster.arrive(std::move(job));
        cluster.start(id, running.held[0], running.estimated_end);
    }
    for (PendingJob job : snapshot.pending) {
        job.id = ++id;
        cluster.arrive(std::move(job));
    }
    cluster.advance(snapshot.now + 100);  // resize gaps are over
    return cluster;
}

struct Measured {
    double ms = 0;
    double allocations = 0;
    std::size_t actions = 0;
};

template <class Known>
Measured measure(const Known& known, const Policy& policy) {
    constexpr int kPasses = 50;
    Planner planner;
    Rng rng(1);
    std::vector<double> times;
    times.reserve(kPasses);
    std::size_t actions = planner.plan(known, policy, rng).actions.size();
    const std::size_t allocated = allocations;
    for (int i = 0; i < kPasses; ++i) {
        const auto before = std::chrono::steady_clock::now();
        actions = planner.plan(known, policy, rng).actions.size();
        times.push_back(
            std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count());
    }
    std::sort(times.begin(), times.end());
    return {1e3 * times[times.size() / 2], static_cast<double>(allocations - allocated) / kPasses,
            actions};
}

constexpr const char* kPolicies[] = {"fcfs", "easy", "lina-default", "equipartition", "elastic"};
constexpr std::pair<const char*, Load> kLoads[] = {
    {"1,000 / 135 / 1,000", {1'000, 135, 1'000, true, 0}},
    {"10,000 / 1,360 / 10,000", {10'000, 1'360, 10'000, true, 0}},
    {"the same, 7 nodes idle", {10'000, 1'360, 10'000, true, 7}},
    {"the same, half of the nodes idle", {10'000, 1'360, 10'000, true, 5'000}},
    {"the same, 7 nodes idle, all jobs rigid", {10'000, 1'360, 10'000, false, 7}},
};

void print_rows(const char* name, const Policy& policy) {
    for (const auto& [load_name, load] : kLoads) {
        const Measured snapshot = measure(make(load), policy);
        const Measured cluster = measure(make_cluster(load), policy);
        fmt::print("| {} | {} | {:.3g} ms | {:.3g} ms | {:.0f} | {:.0f} | {} |\n", name, load_name,
                   snapshot.ms, cluster.ms, snapshot.allocations, cluster.allocations,
                   cluster.actions);
    }
}

}  // namespace

int main(int argc, char** argv) {
    std::span<const char* const> policies(argv + 1, argv + argc);
    if (policies.empty()) policies = kPolicies;
    fmt::print(
        "| policy | nodes / running / pending | snapshot | cluster | allocations, snapshot | "
        "cluster | actions |\n| --- | --- | --- | --- | --- | --- | --- |\n");
    for (const char* name : policies) {
        const auto policy = preset(name);
        if (!policy) {
            fmt::print(stderr, "plan_bench: there is no policy {}\n", name);
            return 2;
        }
        print_rows(name, *policy);
    }
}

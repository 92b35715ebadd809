// SPDX-License-Identifier: MIT
// Small random snapshots that touch everything a snapshot can hold.  Small, so that jobs meet;
// times are whole and few, so that they coincide.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "core/pass/planner.hpp"
#include "snapshot_builder.hpp"

namespace elastic::testing {

class RandomSnapshot {
  public:
    explicit RandomSnapshot(core::Rng& rng) : rng_(rng) {}

    int between(int low, int high) {
        return low + static_cast<int>(rng_() % static_cast<std::uint64_t>(high - low + 1));
    }
    bool chance(int percent) { return between(1, 100) <= percent; }

    // Rigid jobs and nothing in flight: what plain EASY knows.
    core::Snapshot rigid_only(int pools) {
        SnapshotBuilder b = machine(pools);
        run_jobs(b, false);
        queue_jobs(b, false);
        return b.snapshot;
    }

    core::Snapshot anything() {
        SnapshotBuilder b = machine(chance(40) ? 1 : between(2, 4));
        run_jobs(b, true);
        if (chance(30)) b.share(pool(b), between(1, 3), b.snapshot.now + between(-5, 50));
        queue_jobs(b, true);
        promise(b);
        request(b);
        return b.snapshot;
    }

    // Two or three jobs of the queue, one behind the other, start together.
    void bind(core::Snapshot& snapshot) {
        std::vector<core::PendingJob>& queue = snapshot.pending;
        const int count = between(2, 3), last = static_cast<int>(queue.size()) - count;
        if (last < 0) return;
        const auto begin = queue.begin() + between(0, last);
        if (std::any_of(begin, begin + count, [](const auto& job) { return job.claimed; })) return;
        for (auto job = begin; job != begin + count; ++job) {
            job->elastic = rigid(std::min(job->elastic.pref, between(1, 8)));
            job->divisible = 0;
            job->not_before = begin->not_before;
            job->together = begin->id;
        }
    }

    // Many that wait for victims, some of which have left their nodes.
    core::Snapshot contended() {
        SnapshotBuilder b = machine(chance(60) ? 1 : between(2, 3));
        run_jobs(b, true);
        queue_jobs(b, true);
        contend(b);
        return b.snapshot;
    }

  private:
    core::PoolId pool(const SnapshotBuilder& b) {
        return between(0, static_cast<int>(b.snapshot.pools.size()) - 1);
    }

    core::EligibilityId some_eligibility(const SnapshotBuilder& b) {
        return between(0, static_cast<int>(b.snapshot.eligibilities.size()) - 1);
    }

    SnapshotBuilder machine(int pools) {
        core::PoolCounts idle;
        for (int i = 0; i < pools; ++i) idle.push_back(chance(30) ? 0 : between(0, 12));
        SnapshotBuilder b(idle);
        core::Eligibility all = b.snapshot.eligibilities[0];
        for (int i = between(0, pools > 1 ? 3 : 0); i > 0; --i) {
            std::shuffle(all.begin(), all.end(), rng_);
            b.eligibility({all.begin(), all.begin() + between(1, pools)});
        }
        return b;
    }

    core::SizeRule size_rule(int pref) {
        core::SizeRule rule;
        if (chance(60)) return rule;
        if ((pref & (pref - 1)) == 0 && chance(50))
            rule.kind = core::SizeRule::Kind::power_of_two;
        else
            rule = {core::SizeRule::Kind::step, std::max(1, pref % 2 == 0 ? 2 : 1), {}};
        return rule;
    }

    core::Sizing annotation(int size, bool elastic) {
        core::Sizing a = rigid(size);
        if (!elastic || chance(40)) return a;
        a.malleable = chance(70);
        a.evolving = !a.malleable || chance(30);
        a.min = between(1, size);
        a.max = size + between(0, 12);
        a.sizes = size_rule(size);
        if (chance(30)) a.gap = between(0, 60);
        if (chance(30)) a.speedup.a = 0.1 * between(0, 10);
        if (chance(30)) a.cost = {0.5, 1, 0.5};
        if (!a.malleable && chance(60)) a.profile = profile(a);
        return a;
    }

    // Begins with what it prefers.
    core::EvolutionProfile profile(const core::Sizing& a) {
        core::EvolutionProfile steps{{a.pref, static_cast<Duration>(between(1, 40))}};
        for (int i = between(0, 3); i > 0; --i)
            if (const int nodes = a.sizes.smallest(between(a.min, a.max), a.max))
                steps.push_back({nodes, static_cast<Duration>(between(1, 40))});
        return steps;
    }

    void run_jobs(SnapshotBuilder& b, bool elastic) {
        for (int i = between(0, 8); i > 0; --i) {
            const core::EligibilityId id = some_eligibility(b);
            const core::Eligibility eligible = b.snapshot.eligibilities[id];
            core::PoolCounts held(b.snapshot.pools.size(), 0);
            for (int n = between(1, 12); n > 0; --n)
                ++held[eligible[between(0, static_cast<int>(eligible.size()) - 1)]];
            const Duration left = chance(5)    ? kNever
                                  : chance(10) ? -between(0, 50)
                                               : between(1, 60);
            core::RunningJob& job =
                b.run(next_id_++, annotation(core::total(held), elastic), held, left);
            job.eligible = id;
            for (core::PoolId p = 0; p < held.size(); ++p)
                if (held[p] > 0 && (held[job.batch_host_pool] == 0 || chance(30)))
                    job.batch_host_pool = p;
            if (!elastic) continue;
            // It may wait for the nodes of its present step, or have to give some back.
            if (job.elastic.profile.size() > 1 && chance(30))
                job.elastic.profile.erase(job.elastic.profile.begin());
            job.resizable = job.resizable && chance(85);
            job.last_resize = chance(30) ? 1000 - between(0, 60) : 0;
            job.not_before = chance(10) ? 1000 + between(-5, 50) : 0;
            job.gain = between(-5, 5);
        }
    }

    void queue_jobs(SnapshotBuilder& b, bool elastic) {
        if (elastic && chance(10)) b.snapshot.window = between(0, 100);
        for (int i = between(0, 12); i > 0; --i) {
            const Duration duration = chance(3) ? kNever : chance(3) ? 0 : between(1, 80);
            core::PendingJob& job =
                b.queue(next_id_++, annotation(between(1, chance(10) ? 60 : 16), elastic), duration,
                        some_eligibility(b));
            const bool is_rigid = !job.elastic.malleable && !job.elastic.evolving;
            if (elastic && is_rigid && chance(20)) job.elastic.max += between(1, 8);
            job.shares_nodes = elastic && !job.elastic.malleable && chance(10);
            if (elastic && chance(10))
                job.not_before = chance(20) ? kNever : b.snapshot.now + between(-50, 200);
            if (elastic && chance(5)) job.reserves = 0;
            // A group of jobs.
            if (job.has_range() && !job.shares_nodes && job.duration < kNever && chance(50))
                job.divisible = job.duration * between(1, 10) / 10;
        }
    }

    // Agreements in flight, each with a job of its own.
    void promise(SnapshotBuilder& b) {
        std::vector<int> kept(b.snapshot.pools.size(), 0);
        std::vector<JobId> jobs;
        for (const core::RunningJob& job : b.snapshot.running) jobs.push_back(job.id);
        for (JobId id : jobs) {
            if (!chance(25)) continue;
            const core::RunningJob job =
                *std::find_if(b.snapshot.running.begin(), b.snapshot.running.end(),
                              [&](const auto& other) { return other.id == id; });
            if (chance(50))
                promise_shrink(b, job);
            else
                promise_expand(b, job, kept);
        }
        for (const core::PendingJob& job : b.snapshot.pending)
            if (job.claimed && chance(60)) claim(b, job, kept);
    }

    // Up to three pending jobs wait for victims, each for one or more: some have left their nodes,
    // some have agreed to, and some have not answered.
    void contend(SnapshotBuilder& b) {
        std::vector<core::PendingJob>& queue = b.snapshot.pending;
        if (queue.empty()) return;
        std::map<JobId, int> sizes;
        for (std::size_t i = 0; i < b.snapshot.running.size(); ++i) {
            const core::PoolCounts nodes = some_of_largest_pool(b.snapshot.running[i]);
            if (core::total(nodes) == 0 || chance(10)) continue;
            core::PendingJob& job =
                queue[between(0, std::min(3, static_cast<int>(queue.size())) - 1)];
            core::Promise& promise =
                b.promise(ResizeKind::shrink, next_op_++, b.snapshot.running[i].id, nodes);
            promise.beneficiary = job.id;
            promise.released = chance(50);
            promise.revocable = !promise.released && chance(10);
            job.claimed = true;
            job.has_traded = chance(10);
            sizes[job.id] += core::total(nodes);
        }
        for (core::Promise& promise : b.snapshot.promises)
            promise.size = sizes[promise.beneficiary];
        for (core::PendingJob& job : queue)
            if (job.claimed) grow_to(job.elastic, sizes[job.id]);
        std::vector<int> kept(b.snapshot.pools.size(), 0);
        for (const core::PendingJob& job : queue)
            if (job.claimed && chance(20)) claim(b, job, kept);
    }

    // One or two nodes but that of its batch script.
    core::PoolCounts some_of_largest_pool(const core::RunningJob& job) {
        core::PoolCounts nodes = job.held;
        --nodes[job.batch_host_pool];
        const auto most = std::ranges::max_element(nodes);
        const int given = std::min(between(1, 2), *most);
        std::ranges::fill(nodes, 0);
        *most = given;
        return nodes;
    }

    // The same job with so many nodes, which are allowed.
    static void grow_to(core::Sizing& sizing, int size) {
        sizing = sizing.malleable ? malleable(1, size, size + 4) : rigid(size);
    }

    void promise_shrink(SnapshotBuilder& b, const core::RunningJob& job) {
        core::PoolCounts nodes(b.snapshot.pools.size(), 0);
        int left = core::total(job.held) - job.elastic.min;
        for (core::PoolId p = 0; p < nodes.size(); ++p) {
            nodes[p] = std::clamp(job.held[p] - (p == job.batch_host_pool), 0, left);
            left -= nodes[p];
        }
        if (core::total(nodes) == 0) return;
        core::Promise& promise = b.promise(ResizeKind::shrink, next_op_++, job.id, nodes);
        if (b.snapshot.pending.empty() || chance(20)) return;
        core::PendingJob& claimed =
            b.snapshot.pending[between(0, static_cast<int>(b.snapshot.pending.size()) - 1)];
        claimed.claimed = true;
        promise.beneficiary = claimed.id;
        if (chance(70)) promise.size = between(claimed.elastic.min, claimed.elastic.max + 2);
    }

    void promise_expand(SnapshotBuilder& b, const core::RunningJob& job, std::vector<int>& kept) {
        core::PoolCounts nodes(b.snapshot.pools.size(), 0);
        const core::PoolId p = b.snapshot.eligibilities[job.eligible][0];
        const int room =
            std::min(b.snapshot.pools[p].idle - kept[p], job.elastic.max - core::total(job.held));
        if (room < 1) return;
        nodes[p] = between(1, room);
        kept[p] += nodes[p];
        b.promise(ResizeKind::expand, next_op_++, job.id, nodes).revocable = chance(50);
    }

    void claim(SnapshotBuilder& b, const core::PendingJob& job, std::vector<int>& kept) {
        core::PoolCounts nodes(b.snapshot.pools.size(), 0);
        const core::PoolId p = b.snapshot.eligibilities[job.eligible].back();
        nodes[p] = between(0, std::min(b.snapshot.pools[p].idle - kept[p], job.elastic.min));
        kept[p] += nodes[p];
        const auto& claims = b.snapshot.claims;
        if (std::none_of(claims.begin(), claims.end(),
                         [&](const core::Claim& other) { return other.job == job.id; }))
            b.snapshot.claims.push_back({job.id, nodes});
    }

    void request(SnapshotBuilder& b) {
        for (const core::RunningJob& job : b.snapshot.running) {
            if (!job.elastic.evolving || !chance(40)) continue;
            const int nodes = between(1, 10);
            b.request(next_op_++, job.id, nodes, between(1, nodes), 1000 + between(-10, 50));
        }
    }

    core::Rng& rng_;
    JobId next_id_ = 1;
    OpId next_op_ = 1;
};

}  // namespace elastic::testing

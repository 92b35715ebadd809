// SPDX-License-Identifier: MIT
// Snapshots written by hand, for tests: one pool unless told otherwise, and every node of it
// accounted for.
#pragma once

#include <algorithm>
#include <utility>

#include "core/model/snapshot.hpp"
#include "core/pass/planner.hpp"

namespace elastic::testing {

inline core::Sizing rigid(int nodes) {
    core::Sizing elastic;
    elastic.min = elastic.pref = elastic.max = nodes;
    return elastic;
}

inline core::Sizing malleable(int min, int pref, int max) {
    core::Sizing elastic;
    elastic.malleable = true;
    elastic.min = min;
    elastic.pref = pref;
    elastic.max = max;
    return elastic;
}

inline core::Sizing evolving(int min, int pref, int max) {
    core::Sizing elastic = malleable(min, pref, max);
    elastic.malleable = false;
    elastic.evolving = true;
    return elastic;
}

struct SnapshotBuilder {
    core::Snapshot snapshot;

    explicit SnapshotBuilder(core::PoolCounts idle = {0}, Time now = 1000) {
        snapshot.now = now;
        core::Eligibility all;
        for (core::PoolId pool = 0; pool < idle.size(); ++pool) {
            snapshot.pools.push_back({idle[pool], idle[pool]});
            all.push_back(pool);
        }
        snapshot.eligibilities.push_back(all);
    }

    core::EligibilityId eligibility(core::Eligibility pools) {
        snapshot.eligibilities.push_back(std::move(pools));
        return static_cast<core::EligibilityId>(snapshot.eligibilities.size() - 1);
    }

    // Runs since time 0 on `held` nodes, which are added to the pools, for `left` seconds.
    core::RunningJob& run(JobId id, core::Sizing elastic, core::PoolCounts held, Duration left) {
        core::RunningJob& job = snapshot.running.emplace_back();
        job.id = id;
        job.elastic = std::move(elastic);
        job.held = held;
        job.estimated_end = std::min(snapshot.now + left, kNever);
        job.resizable = job.elastic.malleable || job.elastic.evolving;
        for (core::PoolId pool = 0; pool < held.size(); ++pool) {
            snapshot.pools[pool].nodes += held[pool];
            if (held[pool] > 0 && held[job.batch_host_pool] == 0) job.batch_host_pool = pool;
        }
        return job;
    }

    core::PendingJob& queue(JobId id, core::Sizing elastic, Duration duration,
                            core::EligibilityId eligible = 0) {
        core::PendingJob& job = snapshot.pending.emplace_back();
        job.id = id;
        job.elastic = std::move(elastic);
        job.duration = duration;
        job.eligible = eligible;
        return job;
    }

    core::Promise& promise(ResizeKind kind, OpId op, JobId job, core::PoolCounts nodes) {
        core::Promise& promise = snapshot.promises.emplace_back();
        promise.kind = kind;
        promise.op = op;
        promise.job = job;
        promise.nodes = std::move(nodes);
        for (core::RunningJob& running : snapshot.running)
            if (running.id == job) running.resizable = false;
        return promise;
    }

    core::GrowthRequest& request(OpId op, JobId job, int nodes, int least, Time deadline = kNever) {
        return snapshot.requests.emplace_back(core::GrowthRequest{op, job, nodes, least, deadline});
    }

    void share(core::PoolId pool, int nodes, Time until) {
        snapshot.shared_until.push_back({pool, nodes, until});
        snapshot.pools[pool].nodes += nodes;
    }
};

}  // namespace elastic::testing

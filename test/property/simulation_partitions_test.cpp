// SPDX-License-Identifier: MIT
// What holds for every simulation of a machine with partitions, under every preset: no pool has
// more nodes in use than it has, no node more jobs than it has processors for, jobs have nodes of
// their partition alone, limits and reservations are kept, and everybody ends, whatever is down in
// between.
#include <cmath>
#include <map>
#include <numeric>

#include "random_workload.hpp"
#include "simulator/engine.hpp"
#include "testing.hpp"

using namespace elastic;
using namespace elastic::simulator;
using elastic::testing::RandomWorkload;
using elastic::testing::seed;

namespace {

// Adds up who has what.
class Holdings : public Observer {
  public:
    explicit Holdings(const Workload& workload)
        : workload_(workload),
          used_(workload.pools.size(), 0),
          held_(workload.jobs.size(), core::PoolCounts(workload.pools.size(), 0)),
          counted_(workload.limits.size(), 0),
          sharing_(workload.jobs.size()) {}

    void started(Time at, std::size_t job, const core::PoolCounts& nodes) override {
        ++running_;
        check_reservations(at, at + workload_.jobs[job].estimate, job, nodes);
        change(job, nodes, +1);
    }
    void started_on_parts(Time at, std::size_t job, const std::vector<SharedNode>& nodes) override {
        ++running_;
        check_that(workload_.shares[job]);
        core::PoolCounts of_pools(workload_.pools.size(), 0);
        for (const SharedNode& node : nodes) {
            ++of_pools[node.pool];
            share(job, node, +1);
        }
        sharing_[job] = nodes;
        check_partition(job, of_pools);
        check_reservations(at, at + workload_.jobs[job].estimate, job, of_pools);
        for (const std::uint32_t limit : workload_.limits_of[job])
            count(job, limit, core::total(of_pools));
    }
    void resized(Time at, const Resize& resize) override {
        const bool grows = resize.to > resize.from;
        if (grows) check_reservations(at, std::nextafter(at, kNever), resize.job, resize.nodes);
        change(resize.job, resize.nodes, grows ? +1 : -1);
    }
    void preempted(Time, std::size_t job, int) override { leave(job); }
    void ended(Time, std::size_t job, int nodes) override {
        if (!sharing_[job].empty()) return leave_parts(job);
        ck_assert_int_eq(core::total(held_[job]), nodes);
        leave(job);
    }
    void arrived(Time, std::size_t) override {}
    void asked(Time, std::size_t, OpId, int, int) override {}
    void denied(Time, std::size_t, OpId, int, core::Reason) override {}
    void stepped(Time, std::size_t, int, int, int) override {}

    int running() const { return running_; }

  private:
    void leave(std::size_t job) {
        --running_;
        change(job, core::PoolCounts(held_[job]), -1);
    }

    // What begins before `end` is not for the job, unless it is its own.
    void check_reservations(Time at, Time end, std::size_t job, const core::PoolCounts& nodes) {
        for (std::size_t r = 0; r < workload_.reservations.size(); ++r) {
            const Reservation& reservation = workload_.reservations[r];
            if (workload_.reservation_of[job] == static_cast<int>(r) && at < reservation.to)
                ck_assert_msg(at >= reservation.from, "job %zu before its reservation", job);
            else if (at < reservation.to && reservation.from < end)
                for (const core::PoolId pool : reservation.pools)
                    ck_assert_msg(nodes[pool] == 0, "job %zu has reserved nodes", job);
        }
    }

    void leave_parts(std::size_t job) {
        --running_;
        for (const SharedNode& node : sharing_[job]) share(job, node, -1);
        for (const std::uint32_t limit : workload_.limits_of[job])
            count(job, limit, -static_cast<int>(sharing_[job].size()));
        sharing_[job].clear();
    }

    // A node is in use once, whoever shares it.
    void share(std::size_t job, const SharedNode& node, int sign) {
        Shared& shared = shared_[node.number];
        if (sign > 0 && shared.jobs == 0) {
            shared.pool = node.pool;
            ck_assert_int_le(++used_[node.pool], workload_.pools[node.pool].nodes);
        }
        check_eq(shared.pool, node.pool);
        shared.jobs += sign;
        shared.processors += sign * workload_.parts[job].processors;
        check_that(shared.processors <= workload_.pools[node.pool].each.processors);
        if (shared.jobs == 0) --used_[node.pool];
    }

    void check_partition(std::size_t job, const core::PoolCounts& nodes) {
        const core::Eligibility& own = workload_.partitions[workload_.jobs[job].partition].pools;
        for (core::PoolId pool = 0; pool < nodes.size(); ++pool)
            ck_assert_msg(nodes[pool] == 0 || std::ranges::count(own, pool) > 0,
                          "job %zu has nodes of pool %u, which its partition does not have", job,
                          pool);
    }

    void change(std::size_t job, const core::PoolCounts& nodes, int sign) {
        check_partition(job, nodes);
        for (core::PoolId pool = 0; pool < nodes.size(); ++pool) {
            held_[job][pool] += sign * nodes[pool];
            used_[pool] += sign * nodes[pool];
            ck_assert_int_ge(held_[job][pool], 0);
            ck_assert_int_le(used_[pool], workload_.pools[pool].nodes);
        }
        for (const std::uint32_t limit : workload_.limits_of[job])
            count(job, limit, sign * core::total(nodes));
    }

    // A job that is larger than a limit has it alone.
    void count(std::size_t job, std::uint32_t limit, int nodes) {
        counted_[limit] += nodes;
        const double most = workload_.limits[limit].nodes;
        ck_assert_msg(nodes <= 0 || counted_[limit] <= most ||
                          counted_[limit] == core::total(held_[job]) ||
                          counted_[limit] == static_cast<double>(sharing_[job].size()),
                      "%g nodes in a limit of %g", counted_[limit], most);
    }

    const Workload& workload_;
    core::PoolCounts used_;
    std::vector<core::PoolCounts> held_;  // by job
    std::vector<double> counted_;         // by limit
    struct Shared {
        core::PoolId pool = 0;
        int jobs = 0;
        double processors = 0;
    };
    std::vector<std::vector<SharedNode>> sharing_;  // by job
    std::map<std::uint32_t, Shared> shared_;        // by the nodes' numbers
    int running_ = 0;
};

// Gives the workload pools, partitions that overlap, an order of the queue, and limits.
void divide(RandomWorkload& random, core::Rng& rng, Workload& workload) {
    const int pools = random.between(2, 4);
    workload.nodes = 0;
    for (int pool = 0; pool < pools; ++pool) {
        workload.pools.push_back({random.between(1, 24), {8, 0, 0}, 1});
        workload.nodes += workload.pools.back().nodes;
    }
    for (int number = random.between(1, 3); number >= 0; --number) {
        Partition& partition = workload.partitions.emplace_back();
        for (int pool = 0; pool < pools; ++pool)
            if (number == 0 || random.chance(50)) {
                partition.pools.push_back(static_cast<core::PoolId>(pool));
                partition.nodes += workload.pools[pool].nodes;
            }
    }
    for (int limit = random.between(1, 3); limit > 0; --limit) {
        Limit& added = workload.limits.emplace_back();
        added.nodes = random.between(2, workload.nodes);
        added.jobs = random.chance(30) ? random.between(1, 4) : 0;
    }
    if (random.chance(70)) {
        workload.ranks.resize(workload.jobs.size());
        std::iota(workload.ranks.begin(), workload.ranks.end(), 0U);
        std::shuffle(workload.ranks.begin(), workload.ranks.end(), rng);
    }
    workload.parts.resize(workload.jobs.size());
    workload.limits_of.resize(workload.jobs.size());
}

// Keeps nodes from the queue, some of them for jobs of their own.
void keep_away(RandomWorkload& random, Workload& workload) {
    const int last_pool = static_cast<int>(workload.pools.size()) - 1;
    const Time end = workload.jobs.back().submit;
    const auto some_time = [&] { return end * random.between(0, 100) / 100.0; };
    for (int number = random.between(0, 3); number > 0; --number) {
        const Time from = some_time();
        Reservation& reservation = workload.reservations.emplace_back();
        reservation.from = from;
        reservation.to = from + 1 + some_time();
        reservation.pools = {static_cast<core::PoolId>(random.between(0, last_pool))};
    }
    for (int number = random.between(0, 5); number > 0; --number) {
        const Time from = some_time();
        const auto pool = static_cast<core::PoolId>(random.between(0, last_pool));
        const int nodes = random.between(1, workload.pools[pool].nodes);
        workload.outages.push_back({pool, nodes, from, from + 1 + some_time()});
    }
    const int last = static_cast<int>(workload.reservations.size()) - 1;
    workload.reservation_of.assign(workload.jobs.size(), -1);
    for (std::size_t i = 0; last >= 0 && i < workload.jobs.size(); ++i) {
        if (!random.chance(20)) continue;
        const int number = random.between(0, last);
        const core::PoolId pool = workload.reservations[number].pools[0];
        const Partition& partition = workload.partitions[workload.jobs[i].partition];
        if (std::ranges::count(partition.pools, pool) > 0 &&
            workload.jobs[i].nodes <= workload.pools[pool].nodes)
            workload.reservation_of[i] = number;
    }
}

// Makes the jobs fit in their partitions.
void place(RandomWorkload& random, Workload& workload) {
    for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
        Job& job = workload.jobs[i];
        const int last = static_cast<int>(workload.partitions.size()) - 1;
        job.partition = static_cast<std::uint32_t>(random.between(0, last));
        if (workload.partitions[job.partition].nodes == 0)
            job.partition = static_cast<std::uint32_t>(last);
        const int most = workload.partitions[job.partition].nodes;
        job.nodes = std::min(job.nodes, most);
        if (job.elasticity >= 0) {
            core::Annotation& a = workload.elasticities[job.elasticity].annotation;
            a.max = std::min(a.max, most);
            a.pref = job.nodes = std::min(a.pref, most);
            a.min = std::min(a.min, most);
        }
        const int limits = static_cast<int>(workload.limits.size());
        if (random.chance(60))
            workload.limits_of[i] = {static_cast<std::uint32_t>(random.between(0, limits - 1))};
    }
}

// Lets some of the rigid jobs have parts of their nodes.
void share(RandomWorkload& random, Workload& workload) {
    workload.shares.assign(workload.jobs.size(), false);
    if (random.chance(30)) return;
    for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
        workload.parts[i].processors = random.between(1, 8);
        workload.shares[i] = workload.jobs[i].elasticity < 0 && random.chance(60);
    }
}

}  // namespace

TEST(partitions_limits_and_reservations_are_kept_under_every_preset) {
    core::Rng rng(seed());
    RandomWorkload random(rng);
    for (int round = 0; round < 60; ++round) {
        Workload workload = random.elastic(random.between(2, 60), 60);
        for (Elasticity& elasticity : workload.elasticities) elasticity.annotation.sizes = {};
        divide(random, rng, workload);
        place(random, workload);
        keep_away(random, workload);
        share(random, workload);
        for (const std::string_view name : core::preset_names()) {
            Holdings holdings(workload);
            SimulationOptions options;
            options.policy = *core::preset(name);
            options.observer = &holdings;
            const Outcome outcome = simulate(workload, options);
            ck_assert_msg(outcome.lost == 0, "round %d, %s: %d jobs never ended", round,
                          std::string(name).c_str(), static_cast<int>(outcome.lost));
            check_eq(holdings.running(), 0);
        }
    }
}

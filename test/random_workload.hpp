// SPDX-License-Identifier: MIT
// Small random workloads on small machines.  Times are whole and few, so that events meet; sizes
// often fit exactly; estimates are often far off.
#pragma once

#include <algorithm>
#include <vector>

#include "core/pass/planner.hpp"
#include "simulator/workload.hpp"

namespace elastic::testing {

class RandomWorkload {
  public:
    explicit RandomWorkload(core::Rng& rng) : rng_(rng) {}

    int between(int low, int high) {
        return low + static_cast<int>(rng_() % static_cast<std::uint64_t>(high - low + 1));
    }
    bool chance(int percent) { return between(1, 100) <= percent; }

    // `overrun`: jobs may run longer than their estimate.
    simulator::Workload rigid(int jobs, bool overrun) {
        simulator::Workload workload;
        workload.nodes = chance(20) ? between(1, 4) : between(5, 64);
        const int spread = chance(50) ? 20 : 200;  // crowded or not
        Time submit = 0;
        for (int i = 0; i < jobs; ++i) {
            submit += chance(30) ? 0 : between(0, spread);
            workload.jobs.push_back(job(i + 1, submit, workload.nodes, overrun));
        }
        if (chance(20)) std::shuffle(workload.jobs.begin(), workload.jobs.end(), rng_);
        return workload;
    }

    // `percent` of the jobs become elastic.
    simulator::Workload elastic(int jobs, int percent) {
        simulator::Workload workload = rigid(jobs, false);
        const bool costly = chance(70);
        for (simulator::Job& job : workload.jobs) {
            if (!chance(percent)) continue;
            job.elasticity = static_cast<int>(workload.elasticities.size());
            workload.elasticities.push_back(elasticity(job, workload.nodes, costly));
        }
        return workload;
    }

    // The same, of which `percent` have an evolution profile instead.
    simulator::Workload with_profiles(int jobs, int percent) {
        simulator::Workload workload = elastic(jobs, 50);
        for (simulator::Job& job : workload.jobs) {
            if (!chance(percent)) continue;
            job.elasticity = static_cast<int>(workload.elasticities.size());
            workload.elasticities.push_back(profiled(job, workload.nodes));
        }
        return workload;
    }

    // Some of the rigid jobs become components of heterogeneous ones, wherever they stand.
    void bind(simulator::Workload& workload) {
        std::vector<std::uint32_t> free;
        for (std::uint32_t i = 0; i < workload.jobs.size(); ++i)
            if (workload.jobs[i].elasticity < 0) free.push_back(i);
        std::shuffle(free.begin(), free.end(), rng_);
        for (int whole = between(1, 1 + static_cast<int>(free.size()) / 4); whole > 0; --whole) {
            const int count = between(2, 3);
            if (std::ssize(free) < count || workload.nodes < count) return;
            workload.heterogeneous.push_back(components(workload, free, count));
        }
    }

  private:
    // Takes them from the end of `free`.
    std::vector<std::uint32_t> components(simulator::Workload& workload,
                                          std::vector<std::uint32_t>& free, int count) {
        std::vector<std::uint32_t> found(free.end() - count, free.end());
        free.erase(free.end() - count, free.end());
        std::ranges::sort(found);
        const int most = workload.nodes / count;
        for (const std::uint32_t job : found) {
            workload.jobs[job].submit = workload.jobs[found.front()].submit;
            workload.jobs[job].nodes = std::min(workload.jobs[job].nodes, between(1, most));
        }
        return found;
    }

    simulator::Elasticity profiled(simulator::Job& job, int nodes) {
        simulator::Elasticity elasticity;
        core::Annotation& a = elasticity.annotation;
        a.evolving = true;
        for (int step = between(1, 6); step > 0; --step)
            a.profile.push_back({between(1, nodes), 5.0 * between(1, 60)});
        const auto sizes = std::ranges::minmax(a.profile, {}, &core::EvolutionStep::nodes);
        a.min = sizes.min.nodes;
        a.max = sizes.max.nodes;
        a.pref = job.nodes = a.profile.front().nodes;
        job.run = job.estimate = core::length(a.profile);
        return elasticity;
    }

    simulator::Job job(int id, Time submit, int nodes, bool overrun) {
        simulator::Job job;
        job.id = 100 + id;
        job.submit = submit;
        job.run = chance(20) ? between(1, 3) : 5 * between(1, 60);
        job.estimate = job.run;
        if (chance(60)) job.estimate = job.run + 5 * between(0, 60);
        if (chance(10)) job.estimate = job.run * 100;
        if (overrun && chance(30)) job.estimate = std::max(1.0, job.run - between(1, 200));
        job.nodes = chance(10) ? nodes : between(1, std::max(1, nodes / (chance(50) ? 1 : 4)));
        return job;
    }

    simulator::Elasticity elasticity(const simulator::Job& job, int nodes, bool costly) {
        simulator::Elasticity elasticity;
        core::Annotation& a = elasticity.annotation;
        a.malleable = chance(70);
        a.evolving = !a.malleable || chance(20);
        a.pref = job.nodes;
        a.min = between(1, job.nodes);
        a.max = std::min(nodes, job.nodes * between(1, 8));
        if (chance(10) && (a.pref & (a.pref - 1)) == 0)
            a.sizes.kind = core::SizeRule::Kind::power_of_two;
        if (chance(20)) a.gap = between(0, 60);
        if (chance(50)) a.speedup = {core::SpeedupModel::Kind::rho, 0.1 * between(0, 9), 0};
        if (chance(10)) a.speedup.kind = core::SpeedupModel::Kind::power;
        if (chance(20)) a.speedup = {core::SpeedupModel::Kind::overhead, 0.05 * between(0, 9), 0};
        if (costly) a.cost = {0.1 * between(0, 20), 1.0 * between(0, 20), 0.1 * between(0, 20)};
        elasticity.true_speedup = a.speedup;
        if (chance(10)) elasticity.true_speedup.a = 0.02 * between(0, 40);
        if (costly && chance(50)) elasticity.negotiation = between(0, 3);
        if (a.evolving) add_events(elasticity);
        return elasticity;
    }

    void add_events(simulator::Elasticity& elasticity) {
        double left = 1;
        for (int i = between(0, 4); i > 0; --i) {
            left *= 0.1 * between(1, 10);
            elasticity.events.push_back({left, chance(60) ? between(1, 10) : -between(1, 10)});
        }
    }

    core::Rng& rng_;
};

}  // namespace elastic::testing

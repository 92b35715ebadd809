// SPDX-License-Identifier: MIT
// A case is one task of the pool: its policies run one after the other, so that a thread holds one
// workload at a time and frees it before the next.
#include "studies/experiment.hpp"

#include <cstddef>
#include <optional>
#include <utility>

#include "simulator/engine.hpp"

namespace elastic::studies {
namespace {

using namespace simulator;

Result<std::vector<Measures>> run_case(const Case& one) {
    const Result<Workload> workload = make_workload(*one.log, one.workload);
    if (!workload) return workload.error();
    std::vector<Measures> results;
    results.reserve(one.policies.size());
    for (const core::Policy& policy : one.policies) {
        SimulationOptions options;
        options.policy = policy;
        options.seed = one.workload.seed;
        results.push_back(measure(*workload, simulate(*workload, options)));
    }
    return results;
}

}  // namespace

Measures measure(const Workload& workload, const Outcome& outcome) {
    Measures measures;
    measures.summary = summarise(workload, outcome);
    double slowdowns = 0, turnarounds = 0, runs = 0;
    for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
        const JobResult& result = outcome.jobs[i];
        if (result.nodes_start == 0) continue;
        const Duration whole = turnaround(workload.jobs[i], result);
        slowdowns += result.end > result.start ? whole / (result.end - result.start) : 1;
        turnarounds += whole;
        runs += workload.jobs[i].run;
    }
    if (measures.summary.jobs == 0) return measures;
    measures.slowdown_by_actual_run = slowdowns / static_cast<double>(measures.summary.jobs);
    measures.slowdown_of_means = turnarounds / runs;
    return measures;
}

Result<std::vector<std::vector<Measures>>> run_cases(const std::vector<Case>& cases,
                                                     const PoolOptions& pool) {
    std::vector<std::optional<Result<std::vector<Measures>>>> done(cases.size());
    run_all(cases.size(), pool, [&](std::size_t i) { done[i] = run_case(cases[i]); });
    std::vector<std::vector<Measures>> results;
    results.reserve(cases.size());
    for (auto& result : done) {
        if (!*result) return result->error();
        results.push_back(**std::move(result));
    }
    return results;
}

}  // namespace elastic::studies

// SPDX-License-Identifier: MIT
// Simulations in which nodes cost something, or fewer of them may be used for a while.
#include "simulator/supply_series.hpp"
#include "simulator/engine.hpp"
#include "testing.hpp"

using namespace elastic;
using namespace elastic::simulator;

namespace {

constexpr Time kHour = 3600;

SupplySeries series(std::string_view text, std::string_view sizes, int machine) {
    auto supply = core::parse_supply(text, "supply");
    check_ok(supply);
    auto made = make_series(*supply, sizes, machine);
    check_ok(made);
    return *made;
}

// Two node-hours an hour on its minimum, up to four more.
Workload one_job(double price) {
    Workload workload;
    workload.nodes = 6;
    Job& job = workload.jobs.emplace_back();
    job.id = 1;
    job.nodes = 2;
    job.run = job.estimate = 12 * kHour;
    job.elasticity = 0;
    core::Annotation& a = workload.elasticities.emplace_back().annotation;
    a.malleable = true;
    a.min = a.pref = 2;
    a.max = 6;
    a.price = price;
    return workload;
}

Outcome run(const Workload& workload, const SupplySeries& supply,
            const char* policy = "lina-default") {
    SimulationOptions options;
    options.policy = *core::preset(policy);
    options.policy.resize_gap = 0;
    options.supply = &supply;
    options.segments = true;
    return simulate(workload, options);
}

}  // namespace

TEST(a_job_uses_priced_nodes_while_they_are_cheap) {
    const SupplySeries prices =
        series("spot price=0.9\n@3600 spot price=0.4\n@7200 spot price=0.6\n", "spot=4", 6);
    const Outcome outcome = run(one_job(0.5), prices);
    // 2 + 6 node-hours in the first two hours, the other 16 with two nodes.
    check_eq(outcome.jobs[0].end, 10 * kHour);
    check_eq(outcome.counters.priced, 4 * kHour);
    check_that(std::abs(outcome.counters.cost - 4 * 0.4) < 1e-9);
    check_eq(outcome.counters.shrinks, 1);
    check_eq(outcome.counters.expansions, 1);
}

TEST(a_cap_that_falls_and_rises_is_followed) {
    const SupplySeries caps = series("@3600 all cap=3\n@7200 all cap=none\n", "", 6);
    const Outcome outcome = run(one_job(-1), caps);
    check_eq(outcome.segments.size(), 3U);
    check_eq(outcome.segments[0].nodes, 6);
    check_eq(outcome.segments[1].nodes, 3);
    check_eq(outcome.segments[1].from, kHour);
    check_eq(outcome.segments[2].nodes, 6);
}

TEST(a_job_may_wait_for_a_cap_to_rise) {
    Workload workload = one_job(-1);
    const SupplySeries caps = series("all cap=1\n@5000 all cap=2\n", "", 6);
    const Outcome outcome = run(workload, caps, "easy");
    check_eq(outcome.lost, 0);
    check_eq(outcome.jobs[0].start, 5000);
}

TEST(sets_that_do_not_fit_the_machine_are_refused) {
    const auto supply = core::parse_supply("a price=1\nb price=2\n", "supply");
    for (const char* sizes : {"c=1", "a=0", "a=7", "a=x", "a", "a=4,b=4", ","})
        check_that(!make_series(*supply, sizes, 6));
    const auto both = make_series(*supply, "a=2,b=3", 6);
    check_ok(both);
    check_eq(pool_sizes(*both, 6), (core::PoolCounts{1, 2, 3}));
    check_eq(pools_of(*both, 1), (std::vector<core::PoolId>{2}));
    check_eq(pools_of(*make_series(*supply, "b=3", 6), 0), (std::vector<core::PoolId>{0, 1}));
}

// SPDX-License-Identifier: MIT
// Which jobs a sample has, and when they come.
#include "simulator/workload_sample.hpp"

#include <algorithm>
#include <numeric>

#include "testing.hpp"

namespace elastic::simulator {
namespace {

constexpr Duration kWeek = 7 * 86400.0;

// 100 weeks with a hundred jobs each, one of ten malleable; the first two of all are components.
Workload some_weeks() {
    Workload workload;
    workload.nodes = 8;
    for (std::int64_t i = 0; i < 10000; ++i) {
        Job job;
        job.id = i + 1;
        job.submit = std::max<double>(1, static_cast<double>(i)) * kWeek / 100;
        job.run = job.estimate = 60;
        job.nodes = 1;
        if (i % 10 == 5) {
            job.elasticity = static_cast<int>(workload.elasticities.size());
            workload.elasticities.push_back({});
            workload.elasticities.back().negotiation = static_cast<double>(i);
        }
        workload.jobs.push_back(job);
        workload.ranks.push_back(static_cast<std::uint32_t>(20000 - i));
        workload.shares.push_back(i % 3 == 0);
    }
    workload.jobs[0].submit = workload.jobs[1].submit;
    workload.heterogeneous = {{0, 1}};
    return workload;
}

std::vector<double> equal_weights(const Workload& workload) {
    return std::vector<double>(workload.jobs.size(), 1.0);
}

WorkloadSample sample_of(const Workload& workload, std::int64_t jobs) {
    auto stretches = choose_stretches(workload, jobs, equal_weights(workload));
    check_that(stretches.has_value());
    return sample(workload, *stretches);
}

}  // namespace

TEST(sample_is_whole_weeks_one_behind_the_other) {
    const Workload all = some_weeks();
    const WorkloadSample some = sample_of(all, 2010);
    check_eq(some.stretches.name, "2 weeks");
    check_eq(some.stretches.chosen.size(), 10u);
    check_eq(some.stretches.of, 50u);
    check_near(static_cast<double>(some.places.size()), 2000, 20);
    const Workload part = take(all, some);
    check_eq(part.jobs.size(), some.places.size());
    check_eq(static_cast<std::int64_t>(part.jobs.size()), some.stretches.jobs);
    for (std::size_t i = 0; i < part.jobs.size(); ++i) {
        const Job &job = part.jobs[i], &before = all.jobs[some.places[i]];
        check_eq(job.id, before.id);
        check_eq(part.ranks[i], all.ranks[some.places[i]]);
        check_eq(part.shares[i], all.shares[some.places[i]]);
        check_that(i == 0 || job.submit >= part.jobs[i - 1].submit);
        // No gap where two stretches meet.
        check_that(i == 0 || job.submit - part.jobs[i - 1].submit < kWeek / 50);
        check_eq(job.elasticity >= 0, before.elasticity >= 0);
        if (job.elasticity >= 0)
            check_eq(part.elasticities[static_cast<std::size_t>(job.elasticity)].negotiation,
                     static_cast<double>(before.id - 1));
    }
    check_near(part.jobs.back().submit, 20 * kWeek, kWeek / 10);
}

TEST(sample_of_arrivals_that_are_scaled_is_of_the_same_jobs) {
    const Workload all = some_weeks();
    const WorkloadSample some = sample_of(all, 2010);
    Workload faster = all;
    for (Job& job : faster.jobs) job.submit *= 0.5;
    const Workload part = take(all, some), half = take(faster, some, 0.5);
    for (std::size_t i = 0; i < part.jobs.size(); ++i) {
        check_eq(half.jobs[i].id, part.jobs[i].id);
        check_near(half.jobs[i].submit, 0.5 * part.jobs[i].submit, 1e-3);
    }
}

TEST(sample_has_all_components_or_none) {
    const Workload all = some_weeks();
    const WorkloadSample first =
        sample(all, {all.jobs[0].submit, kWeek, "1 week", 100, {0, 50}, 200});
    check_eq(take(all, first).heterogeneous.size(), 1u);
    const WorkloadSample others =
        sample(all, {all.jobs[0].submit, kWeek, "1 week", 100, {7, 50}, 200});
    check_that(take(all, others).heterogeneous.empty());
}

TEST(sample_has_what_of_absences_is_in_its_stretches) {
    Workload all = some_weeks();
    for (Job& job : all.jobs) job.submit -= kWeek / 100;
    all.pools = {{8, {}, 1}};
    all.reservations = {{"long", 10.5 * kWeek, 60.5 * kWeek, {0}},
                        {"none", 20 * kWeek, 21 * kWeek, {0}}};
    all.outages = {{0, 2, 49 * kWeek, kNever}};
    all.reservation_of.assign(all.jobs.size(), -1);
    all.reservation_of[1060] = all.reservation_of[5010] = 0;
    all.reservation_of[5011] = 1;
    const WorkloadSample some = sample(all, {0, kWeek, "1 week", 100, {10, 50}, 200});
    const Workload part = take(all, some);
    check_eq(part.reservations.size(), 2u);
    check_near(part.reservations[0].from, 0.5 * kWeek, 1e-3);
    check_near(part.reservations[0].to, kWeek, 1e-3);
    check_near(part.reservations[1].from, kWeek, 1e-3);
    check_near(part.reservations[1].to, 2 * kWeek, 1e-3);
    check_eq(part.outages.size(), 1u);
    check_near(part.outages[0].from, kWeek, 1e-3);
    for (std::size_t i = 0; i < part.jobs.size(); ++i)
        check_eq(part.reservation_of[i], part.jobs[i].id == 1061   ? 0
                                         : part.jobs[i].id == 5011 ? 1
                                                                   : -1);
}

TEST(no_sample_of_what_is_short_or_at_once) {
    Workload all = some_weeks();
    check_that(!choose_stretches(all, 0, equal_weights(all)));
    check_that(!choose_stretches(all, 5000, equal_weights(all)));
    for (Job& job : all.jobs) job.submit = 7;
    check_that(!choose_stretches(all, 1000, equal_weights(all)));
}

// Every tenth pair of weeks is the same in all but one way; what weighs as all do is chosen.
TEST(sample_weighs_as_all_do) {
    const Workload all = some_weeks();
    std::vector<double> weights;
    for (std::size_t i = 0; i < all.jobs.size(); ++i)
        weights.push_back(i / 200 % 5 == 3 ? 2 : i / 200 % 5 == 2 ? 0 : 2.6);
    const double mean =
        std::accumulate(weights.begin(), weights.end(), 0.0) / static_cast<double>(weights.size());
    const auto chosen = choose_stretches(all, 2010, weights);
    double sum = 0;
    const WorkloadSample some = sample(all, *chosen);
    for (const std::uint32_t place : some.places) sum += weights[place];
    check_near(sum / static_cast<double>(some.places.size()), mean, 0.2);
}

}  // namespace elastic::simulator

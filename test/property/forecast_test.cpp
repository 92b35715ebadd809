// SPDX-License-Identifier: MIT
// What is expected of random snapshots: without elastic jobs it is what conservative backfilling
// plans, and one that is stopped says the same of those that it came to.
#include "core/pass/forecast.hpp"

#include <map>

#include "random_snapshot.hpp"
#include "testing.hpp"

using namespace elastic;
using namespace elastic::core;
using namespace elastic::testing;

namespace {

std::vector<ExpectedStart> forecast(const Snapshot& snapshot, const Policy& policy,
                                    std::size_t steps = SIZE_MAX) {
    Forecast forecast;
    forecast.begin(snapshot, policy);
    while (steps-- > 0 && forecast.step()) {
    }
    return forecast.starts();
}

std::string show(const ExpectedStart& start) {
    return fmt::format("{}: {} on [{}] {}\n", start.place, start.from, fmt::join(start.nodes, ","),
                       start.is_reserved);
}

std::string show(const std::vector<ExpectedStart>& starts) {
    std::string text;
    for (const ExpectedStart& start : starts) text += show(start);
    return text;
}

// What a plan says of the same, in the order of the queue.
std::string planned(const Snapshot& snapshot, const Policy& policy) {
    Planner planner;
    Rng rng(1);
    std::map<std::uint32_t, std::string> by_place;
    for (const Action& action : planner.plan(snapshot, policy, rng).actions) {
        const bool starts = action.kind == ActionKind::start;
        if (!starts && action.kind != ActionKind::reserve) continue;
        by_place[action.place] = show(ExpectedStart{.place = action.place,
                                                    .from = starts ? snapshot.now : action.time,
                                                    .nodes = action.nodes,
                                                    .is_reserved = true});
    }
    std::string text;
    for (const auto& [place, shown] : by_place) text += shown;
    return text;
}

}  // namespace

TEST(without_elastic_jobs_it_is_conservative_backfilling) {
    Rng rng(seed(71));
    RandomSnapshot random(rng);
    for (int i = 0; i < 3000; ++i) {
        Snapshot snapshot = random.rigid_only(random.between(1, 3));
        if (i % 3 == 0) random.bind(snapshot);
        const auto starts = forecast(snapshot, *preset("elastic"));
        check_eq(show(starts), planned(snapshot, *preset("conservative")));
    }
}

TEST(one_that_is_stopped_says_the_same_of_the_first_jobs) {
    Rng rng(seed(72));
    RandomSnapshot random(rng);
    for (int i = 0; i < 2000; ++i) {
        const Snapshot snapshot = random.chance(50) ? random.anything() : random.contended();
        const std::string all = show(forecast(snapshot, *preset("elastic")));
        const std::string some = show(
            forecast(snapshot, *preset("elastic"), static_cast<std::size_t>(random.between(0, 8))));
        check_that(all.starts_with(some));
    }
}

TEST(jobs_are_expected_with_sizes_that_they_may_have_and_from_now_on) {
    Rng rng(seed(73));
    RandomSnapshot random(rng);
    for (int i = 0; i < 3000; ++i) {
        const Snapshot snapshot = random.anything();
        for (const ExpectedStart& start : forecast(snapshot, *preset("elastic"))) {
            const PendingJob& job = snapshot.pending[start.place];
            check_that(start.from >= snapshot.now && start.to >= start.from);
            check_that(job.claimed || start.from >= std::min(job.not_before, kNever));
            check_that(job.claimed || total(start.nodes) <= job.elastic.max);
            check_that(job.claimed || job.shares_nodes || total(start.nodes) >= job.elastic.min);
        }
    }
}

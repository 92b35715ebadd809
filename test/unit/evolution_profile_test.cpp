// SPDX-License-Identifier: MIT
// Evolution profiles as layers, and how they fit into the availability profile.
#include "core/model/evolution_profile.hpp"

#include <random>

#include "core/availability/occupation.hpp"
#include "testing.hpp"

using namespace elastic;
using namespace elastic::core;

namespace {

// One pool at time 100.
struct Room {
    Room(int idle, std::initializer_list<Vacancy> coming) {
        for (const Vacancy& one : coming) vacancies.append(one.at, {one.nodes});
        vacancies.sort();
        availability.begin(100, {idle}, vacancies);
    }
    VacancyList vacancies;
    AvailabilityProfile availability;
};

const Eligibility kAll{0};

int nodes_at(const std::vector<Layer>& layers, Time time) {
    int nodes = 0;
    for (const Layer& layer : layers)
        if (layer.from <= time && time < layer.to) nodes += layer.nodes;
    return nodes;
}

// By the definition, ep(t) of the paper.
int nodes_at(const EvolutionProfile& profile, Time time, Duration end) {
    if (time >= end) return 0;
    for (const EvolutionStep& step : profile) {
        if (time < step.duration) return step.nodes;
        time -= step.duration;
    }
    return profile.back().nodes;
}

}  // namespace

TEST(a_profile_is_a_stack_of_layers) {
    check_that(
        (layers({{5, 500}, {10, 3600}}, 4100) == std::vector<Layer>{{5, 0, 4100}, {5, 500, 4100}}));
    check_that((layers({{2, 10}, {9, 10}, {4, 10}, {1, 10}}, 40) ==
                std::vector<Layer>{{1, 0, 40}, {1, 0, 30}, {2, 10, 30}, {5, 10, 20}}));
    check_eq(length({{2, 10}, {9, 12}}), 22.0);
}

TEST(the_last_step_lasts_until_the_end) {
    check_that((layers({{3, 10}}, 25) == std::vector<Layer>{{3, 0, 25}}));
    check_that((layers({{3, 10}, {5, 10}}, 10) == std::vector<Layer>{{3, 0, 10}}));
    check_that(layers({}, 10).empty());
}

TEST(layers_are_the_profile_at_each_time) {
    std::mt19937_64 random(elastic::testing::seed());
    const auto between = [&](int low, int high) {
        return std::uniform_int_distribution<int>(low, high)(random);
    };
    for (int i = 0; i < 2000; ++i) {
        EvolutionProfile profile;
        for (int n = between(1, 6); n > 0; --n)
            profile.push_back({between(1, 9), static_cast<Duration>(between(1, 5))});
        const Duration end = between(1, 40);
        const std::vector<Layer> stack = layers(profile, end);
        for (int time = 0; time < 45; ++time)
            check_eq(nodes_at(stack, time), nodes_at(profile, time, end));
        for (const Layer& layer : stack) check_that(layer.nodes > 0 && layer.from < layer.to);
    }
}

TEST(a_profile_fits_at_the_earliest_time_at_which_all_of_it_does) {
    Room room(5, {{150, 0, 3}, {400, 0, 4}});
    const std::vector<Layer> stack = layers({{5, 100}, {10, 50}}, 150);
    const auto found = fit(room.availability, kAll, stack, 100);
    check_that(found.has_value());
    check_eq(found->front().from, 300.0);
    check_eq(found->back().from, 400.0);
    check_that(!fit_at(room.availability, kAll, stack, 100));
    check_that(fit_at(room.availability, kAll, stack, 300).has_value());
    check_eq(room.availability.free_now(0), 5);  // as it was
    check_that(!fit(room.availability, kAll, layers({{5, 100}, {13, 50}}, 150), 100));
}

TEST(a_fit_is_the_earliest_by_trying_every_time) {
    std::mt19937_64 random(elastic::testing::seed(2));
    const auto between = [&](int low, int high) {
        return std::uniform_int_distribution<int>(low, high)(random);
    };
    for (int i = 0; i < 1000; ++i) {
        Room room(10, {});
        for (int n = between(0, 5); n > 0; --n) {
            const Time from = 100 + between(0, 20), to = from + between(1, 10);
            const int least = room.availability.free_between(0, from, to);
            if (least > 0) room.availability.take(from, to, {between(1, least)});
        }
        EvolutionProfile wanted;
        for (int n = between(1, 4); n > 0; --n)
            wanted.push_back({between(1, 10), static_cast<Duration>(between(1, 6))});
        const std::vector<Layer> stack = layers(wanted, length(wanted));
        const auto found = fit(room.availability, kAll, stack, 100);
        Time first = 100;
        const auto fits = [&](Time start) {
            for (Time t = 0; t < length(wanted); ++t)
                if (room.availability.free_at(0, start + t) < nodes_at(stack, t)) return false;
            return true;
        };
        while (!fits(first)) ++first;
        check_that(found.has_value());
        check_eq(found->front().from, first);
    }
}

TEST(layers_of_a_job_that_runs_come_late_one_after_the_other) {
    Room room(2, {{300, 0, 8}});
    const auto taken = take_in_turn(room.availability, kAll, {{5, 100, 600}, {2, 200, 400}}, 100);
    check_eq(taken.size(), 2U);
    check_eq(taken[0].from, 300.0);  // 100 s late
    check_eq(taken[0].to, 800.0);
    check_eq(taken[1].from, 400.0);
    check_eq(room.availability.free_at(0, 400), 3);
    check_that(take_in_turn(room.availability, kAll, {{50, 0, 10}}, 100).empty());
}

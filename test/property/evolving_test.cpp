// SPDX-License-Identifier: MIT
// What must hold for every schedule of evolving applications ([evolving] sections 3.3 and 4.2), and
// that fit() finds what trying everything does.
#include <algorithm>
#include <optional>
#include <random>
#include <vector>

#include "core/availability/list_schedule.hpp"
#include "testing.hpp"

using namespace elastic;
using namespace elastic::core;

namespace {

using Random = std::mt19937_64;

constexpr Expansion kAll[] = {
    {1, false}, {2, false}, {2, true}, {kNoLimit, false}, {kNoLimit, true}};

EvolutionProfile some_profile(Random& random, int nodes, int most_steps, int most_duration) {
    EvolutionProfile profile(1 + random() % most_steps);
    for (EvolutionStep& step : profile)
        step = {static_cast<int>(1 + random() % nodes),
                static_cast<Duration>(1 + random() % most_duration)};
    return profile;
}

std::vector<EvolutionProfile> some_profiles(Random& random, int nodes) {
    std::vector<EvolutionProfile> profiles(1 + random() % 12);
    for (EvolutionProfile& profile : profiles) profile = some_profile(random, nodes, 6, 40);
    return profiles;
}

// Nodes of all at a time.
int nodes_at(const std::vector<ScheduledEvolution>& scheduled, Time time) {
    int nodes = 0;
    for (const ScheduledEvolution& one : scheduled) {
        Time from = one.start;
        for (const EvolutionStep& step : one.steps) {
            if (from <= time && time < from + step.duration) nodes += step.nodes;
            from += step.duration;
        }
    }
    return nodes;
}

Time end_of_all(const std::vector<ScheduledEvolution>& scheduled) {
    Time end = 0;
    for (const ScheduledEvolution& one : scheduled) end = std::max(end, one.end());
    return end;
}

// Free nodes by whole seconds, and all of them afterwards.
struct Machine {
    int nodes = 0;
    std::vector<int> free;

    int at(std::size_t second) const { return second < free.size() ? free[second] : nodes; }
    bool has(int wanted, std::size_t from, std::size_t to) const {
        for (std::size_t second = from; second < to; ++second)
            if (at(second) < wanted) return false;
        return true;
    }
    AvailabilityProfile availability(const VacancyList& none) const {
        AvailabilityProfile availability;
        availability.begin(0, {nodes}, none);
        for (std::size_t second = 0; second < free.size(); ++second)
            if (free[second] < nodes)
                availability.take(static_cast<Time>(second), static_cast<Time>(second + 1),
                                  {nodes - free[second]});
        return availability;
    }
};

Machine some_machine(Random& random) {
    Machine machine;
    machine.nodes = static_cast<int>(1 + random() % 5);
    machine.free.resize(random() % 32);
    for (int& free : machine.free) free = static_cast<int>(random() % (machine.nodes + 1));
    return machine;
}

struct Times {
    Time start, end;
};

// The earliest end, and the latest start with it, of all ways to place the steps at whole seconds:
// those between the first and the last may be expanded.
std::optional<Times> best_of_all(const EvolutionProfile& steps, const Machine& machine,
                                 double limit) {
    constexpr std::size_t kHorizon = 64;
    // By second at which the next step begins: the latest start of the first that leads there.
    std::vector<std::optional<Time>> starts(kHorizon);
    for (std::size_t second = 0; second < kHorizon; ++second)
        starts[second] = static_cast<Time>(second);
    for (std::size_t i = 0; i < steps.size(); ++i) {
        std::vector<std::optional<Time>> next(kHorizon);
        const auto least = static_cast<std::size_t>(steps[i].duration);
        const bool may_expand = i > 0 && i + 1 < steps.size() && limit > 1;
        const std::size_t most = !may_expand        ? least
                                 : limit < kNoLimit ? static_cast<std::size_t>(limit * least)
                                                    : kHorizon;
        for (std::size_t from = 0; from < kHorizon; ++from)
            for (std::size_t to = from + least; starts[from] && to < kHorizon && to <= from + most;
                 ++to)
                if (machine.has(steps[i].nodes, from, to))
                    next[to] = std::max(next[to], starts[from]);
        starts = std::move(next);
    }
    for (std::size_t end = 0; end < kHorizon; ++end)
        if (starts[end]) return Times{*starts[end], static_cast<Time>(end)};
    return std::nullopt;
}

}  // namespace

TEST(no_schedule_has_more_nodes_than_the_machine_and_steps_keep_their_order) {
    Random random(testing::seed());
    for (int round = 0; round < 300; ++round) {
        const int nodes = static_cast<int>(1 + random() % 20);
        const auto profiles = some_profiles(random, nodes);
        for (const Expansion& expansion : kAll) {
            const auto scheduled = list_schedule(profiles, nodes, expansion);
            check_eq(scheduled.size(), profiles.size());
            for (Time second = 0; second < end_of_all(scheduled); ++second)
                check_that(nodes_at(scheduled, second) <= nodes);
            for (std::size_t i = 0; i < profiles.size(); ++i) {
                check_eq(scheduled[i].steps.size(), profiles[i].size());
                for (std::size_t step = 0; step < profiles[i].size(); ++step)
                    check_eq(scheduled[i].steps[step].nodes, profiles[i][step].nodes);
            }
        }
    }
}

TEST(no_step_is_shortened_or_expanded_beyond_the_limit) {
    Random random(testing::seed(2));
    int expanded = 0;
    for (int round = 0; round < 300; ++round) {
        const int nodes = static_cast<int>(1 + random() % 20);
        const auto profiles = some_profiles(random, nodes);
        for (const Expansion& expansion : kAll) {
            const auto scheduled = list_schedule(profiles, nodes, expansion);
            for (std::size_t i = 0; i < profiles.size(); ++i)
                for (std::size_t step = 0; step < profiles[i].size(); ++step) {
                    const Duration asked = profiles[i][step].duration;
                    const Duration has = scheduled[i].steps[step].duration;
                    const bool is_end = step == 0 || step + 1 == profiles[i].size();
                    check_that(asked <= has && has <= (is_end ? 1 : expansion.limit) * asked);
                    expanded += has > asked;
                }
        }
    }
    check_that(expanded > 100);
}

TEST(fit_finds_what_trying_everything_finds) {
    Random random(testing::seed(3));
    const VacancyList none;
    int waited = 0;
    for (int round = 0; round < 4000; ++round) {
        const Machine machine = some_machine(random);
        const EvolutionProfile steps = some_profile(random, machine.nodes, 6, 3);
        AvailabilityProfile resources = machine.availability(none);
        for (const Expansion& expansion : kAll) {
            const auto found = fit(steps, resources, expansion);
            const auto best = best_of_all(steps, machine, expansion.limit);
            check_that(found && best);
            check_eq(found->end(), best->end);
            if (expansion.compacting) check_eq(found->start, best->start);
            check_that(found->start <= best->start);
            waited += length(found->steps) > length(steps);
        }
    }
    check_that(waited > 100);
}

// Two applications that each hold half of the machine and both come to need more: who is scheduled
// second does not begin before the first gives its nodes back (section 2).
TEST(two_that_hold_half_each_and_need_more_do_not_wait_for_each_other) {
    const EvolutionProfile half_then_all{{50, 100}, {100, 100}};
    for (const Expansion& expansion : kAll) {
        const auto scheduled = list_schedule({half_then_all, half_then_all}, 100, expansion);
        check_eq(scheduled[0].end(), 200);
        check_eq(scheduled[1].end(), 400);
        check_eq(scheduled[1].start, 200);
        for (Time second = 0; second < 400; second += 50)
            check_that(nodes_at(scheduled, second) <= 100);
    }
}

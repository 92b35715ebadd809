// SPDX-License-Identifier: MIT
// The availability profile in each of its shapes: how many nodes are free when, and from when on so
// many are; against a calendar written down second by second.
#include "core/availability/availability_profile.hpp"

#include <random>

#include "testing.hpp"

using namespace elastic;
using namespace elastic::core;

namespace {

// A profile of one pool at time 100, with the vacancies it refers to.
struct OnePool {
    OnePool(int idle, std::initializer_list<std::pair<Time, int>> when) {
        for (auto [at, nodes] : when) vacancies.append(at, 0, nodes);
        vacancies.sort();
        availability.begin(100, {idle}, vacancies);
    }

    VacancyList vacancies;
    AvailabilityProfile availability;
};

// The same written down second by second, the slow way.
class Calendar {
  public:
    static constexpr int kEnd = 400;  // seconds; nothing happens later

    Calendar(int idle, const VacancyList& vacancies) : free_(kEnd, idle) {
        for (const Vacancy& vacancy : vacancies.entries()) add(vacancy.at, kNever, vacancy.nodes);
    }
    void add(Time from, Time to, int nodes) {
        for (int t = 0; t < kEnd; ++t)
            if (from <= t && t < to) free_[t] += nodes;
    }
    int least(Time from, Time to) const {
        int least = free_[static_cast<int>(from)];
        for (int t = static_cast<int>(from); t < kEnd && t < to; ++t)
            least = std::min(least, free_[t]);
        return least;
    }
    std::optional<Time> earliest(int nodes, Duration duration) const {
        for (int t = 0; t < kEnd; ++t)
            if (least(t, t + duration) >= nodes) return t;
        return std::nullopt;
    }

  private:
    std::vector<int> free_;
};

}  // namespace

TEST(nodes_are_free_from_their_release_on) {
    OnePool pool(2, {{110, 3}, {120, 4}});
    AvailabilityProfile& availability = pool.availability;
    check_eq(availability.free_now(0), 2);
    check_eq(availability.free_between(0, 110, 115), 5);
    check_eq(availability.free_between(0, 109, 200), 2);
    check_eq(availability.free_between(0, 120, kNever), 9);
}

TEST(the_least_until_an_end_excludes_the_end_itself) {
    OnePool pool(4, {{110, 3}});
    AvailabilityProfile& availability = pool.availability;
    availability.take(110, 120, {6});
    check_eq(availability.free_until(0, 110), 4);
    check_eq(availability.free_until(0, 110.5), 1);
    check_eq(availability.free_until(0, kNever), 1);
    check_eq(availability.free_between(0, 120, kNever), 7);
}

TEST(earliest_needs_the_nodes_for_the_whole_duration) {
    OnePool pool(4, {{110, 3}});
    AvailabilityProfile& availability = pool.availability;
    availability.take(110, 120, {6});
    PoolCounts counts(1, 0);
    check_eq(*availability.earliest({0}, 4, 10, counts), 100.0);
    check_eq(*availability.earliest({0}, 4, 11, counts), 120.0);
    check_eq(counts[0], 4);
    check_that(!availability.earliest({0}, 8, 1, counts));
}

TEST(what_is_taken_and_given_back_leaves_no_trace) {
    OnePool pool(4, {{110, 3}});
    AvailabilityProfile& availability = pool.availability;
    PoolCounts counts(1, 0);
    check_eq(*availability.earliest({0}, 7, 1, counts), 110.0);
    availability.take(100, 130, {2});
    availability.take(105, kNever, {1});
    check_eq(availability.free_now(0), 2);
    availability.give_back(105, kNever, {1});
    availability.give_back(100, 130, {2});
    check_eq(availability.free_until(0, kNever), 4);
    check_eq(*availability.earliest({0}, 7, kNever, counts), 110.0);
}

TEST(a_release_can_be_moved_both_ways_before_and_after_building) {
    for (bool built : {false, true}) {
        OnePool pool(1, {{110, 3}});
        AvailabilityProfile& availability = pool.availability;
        if (built) {  // two reservations need the steps
            availability.take(200, 210, {1});
            availability.take(220, 230, {1});
        }
        availability.move_vacancy(110, 130, {2});
        check_eq(availability.free_between(0, 110, 130), 2);
        availability.move_vacancy(130, 105, {2});
        check_eq(availability.free_between(0, 105, 110), 3);
        check_eq(availability.free_between(0, 110, 111), 4);
    }
}

TEST(several_pools_make_up_a_job_together) {
    VacancyList vacancies;
    for (PoolId pool = 1; pool < 3; ++pool) vacancies.append(10.0 * pool, pool, 2);
    AvailabilityProfile availability;
    availability.begin(0, {2, 0, 0}, vacancies);
    PoolCounts counts(3, 0);
    check_eq(*availability.earliest({2, 0}, 3, 5, counts), 20.0);
    check_that(counts == PoolCounts({1, 0, 2}));
    check_eq(*availability.earliest({0, 1}, 3, 5, counts), 10.0);
}

TEST(the_next_instant_is_later_than_now_at_any_time) {
    for (Time now : {0.0, 1.0, 1.7e9, -5.0}) {
        AvailabilityProfile availability;
        availability.begin(now, {0}, {});
        check_that(availability.soon() > now);
    }
}

// In whatever shape it is, the profile says what the calendar says.
TEST(profile_agrees_with_a_calendar) {
    std::mt19937_64 random(elastic::testing::seed());
    const auto below = [&](int n) { return static_cast<int>(random() % n); };
    for (int round = 0; round < 2000; ++round) {
        VacancyList vacancies;
        for (int n = below(6); n > 0; --n) vacancies.append(1 + below(40), 0, 1 + below(4));
        vacancies.sort();
        const int idle = below(8);
        AvailabilityProfile availability;
        availability.begin(0, {idle}, vacancies);
        Calendar calendar(idle, vacancies);
        PoolCounts counts(1, 0);
        for (int step = 0; step < 12; ++step) {
            const int nodes = 1 + below(4);
            const Duration duration = 1 + below(20);
            const auto at = availability.earliest({0}, nodes, duration, counts);
            check_that(at == calendar.earliest(nodes, duration));
            if (at && below(2)) {  // sometimes for a job to come, sometimes for one now
                availability.take(*at, *at + duration, {nodes});
                calendar.add(*at, *at + duration, -nodes);
                if (below(3) == 0) {
                    availability.give_back(*at, *at + duration, {nodes});
                    calendar.add(*at, *at + duration, nodes);
                }
            }
            const Time from = below(30), to = from + 1 + below(20);
            check_eq(availability.free_between(0, from, to), calendar.least(from, to));
            check_eq(availability.free_until(0, to), calendar.least(0, to));
            check_eq(availability.free_now(0), calendar.least(0, 1));
        }
    }
}

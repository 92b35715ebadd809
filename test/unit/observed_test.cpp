// SPDX-License-Identifier: MIT
// What a journal of Observe=yes says that resizes would have changed.
#include "journal/observed.hpp"

#include "testing.hpp"

using namespace elastic;
using namespace elastic::journal;

namespace {

constexpr Time kHour = 3600;
constexpr auto kStart = Would::What::start, kShrink = Would::What::shrink,
               kExpand = Would::What::expand;

std::vector<ObservedJob> observe(std::vector<Event> events) {
    std::vector<Line> lines;
    for (Event& event : events) lines.push_back({lines.size() + 1, std::move(event)});
    return observed(lines);
}

}  // namespace

TEST(a_job_would_have_started_as_many_seconds_earlier_as_it_waited_since) {
    const auto jobs = observe({
        {0, Submit{9, "rigid", 4, 4, 4, 600, "ann", "lbm"}},
        {10, Would{kStart, 9, 4}},
        {10, Would{kShrink, 7, 2, 9}},
        {20, Would{kStart, 9, 4, 0, 10}},
        {30, Would{kStart, 9, 4}},
        {90, Start{9, "n[1-4]", 4, false, "9_1"}},
        {90, Would{kStart, 9, 4, 0, 60}},
        {10 + kHour, Would{kShrink, 7, 2, 9, kHour}},
    });
    check_eq(jobs.size(), 2U);
    check_eq(jobs[0].label, "9_1");
    check_eq(jobs[0].user, "ann");
    check_eq(jobs[0].name, "lbm");
    check_that(jobs[0].would_start);
    check_eq(jobs[0].earlier, 80.0);
    check_eq(jobs[1].label, "7");
    check_that(!jobs[1].would_start);
    check_eq(jobs[1].given, 2.0);
}

TEST(idle_nodes_count_for_as_long_as_they_would_have_been_used) {
    const auto jobs = observe({
        {0, Would{kExpand, 7, 3}},
        {kHour, Would{kExpand, 7, 3, 0, kHour}},
        {kHour, Would{kExpand, 7, 1}},
        {2 * kHour, Would{kExpand, 7, 1, 0, kHour}},
    });
    check_eq(jobs.size(), 1U);
    check_eq(jobs[0].taken, 4.0);
    check_eq(jobs[0].given, 0.0);
}

TEST(what_a_controller_that_was_killed_did_not_end_is_over_with_the_next) {
    const auto jobs = observe({
        {0, Would{kExpand, 7, 2}},
        {kHour, Controller{Controller::What::start, 16, ""}},
        {2 * kHour, Would{kExpand, 8, 1}},
        {3 * kHour, Controller{Controller::What::stop, 16, ""}},
    });
    check_eq(jobs.size(), 2U);
    check_eq(jobs[0].taken, 2.0);
    check_eq(jobs[1].taken, 1.0);
}

TEST(who_never_starts_would_have_until_it_is_cancelled_or_the_journal_ends) {
    const auto jobs = observe({
        {0, Would{kStart, 8, 4}},
        {0, Would{kStart, 9, 4}},
        {50, End{8, "CANCELLED", 0}},
        {70, Release{7, 1}},
    });
    check_eq(jobs[0].earlier, 50.0);
    check_eq(jobs[1].earlier, 70.0);
}

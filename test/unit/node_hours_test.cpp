// SPDX-License-Identifier: MIT
// Node hours of jobs and what they cost, where prices change and journals have gaps.
#include "journal/node_hours.hpp"

#include "testing.hpp"

using namespace elastic;
using namespace elastic::journal;

namespace {

constexpr Time kHour = 3600;

std::vector<Line> lines(std::vector<Event> events) {
    std::vector<Line> result;
    for (Event& event : events) result.push_back({result.size() + 1, std::move(event)});
    return result;
}

}  // namespace

TEST(node_hours_are_cut_where_prices_change) {
    const auto hours = node_hours(lines({
        {0, Supply{"spot", "n[3-4]", 0.5, -1}},
        {0, Start{1, "n[1-3]", 3, false}},
        {1 * kHour, Supply{"spot", "n[3-4]", 2, -1}},
        {2 * kHour, Resize{1, 1, ResizeKind::shrink, 3, 2, "n3", "dear"}},
        {3 * kHour, Supply{"spot", "n[3-4]", 0, -1}},
        {3 * kHour, Resize{1, 2, ResizeKind::expand, 2, 3, "n4", "cheap"}},
        {4 * kHour, End{1, "COMPLETED", 3}},
    }));
    check_eq(hours.size(), 1U);
    check_eq(hours[0].hours, 4 + 4 + 2 + 1.0);
    check_eq(hours[0].priced, 2.0);
    check_eq(hours[0].cost, 0.5 + 2.0);
}

TEST(prices_that_are_not_said_anew_when_a_journal_resumes_are_over) {
    const auto hours = node_hours(lines({
        {0, Supply{"spot", "n1", 2, -1}},
        {0, Start{1, "n1", 1, false}},
        {1 * kHour, Controller{Controller::What::resume, 4, ""}},
        {1 * kHour, Start{1, "n1", 1, false}},
        {3 * kHour, End{1, "COMPLETED", 1}},
    }));
    check_eq(hours.size(), 1U);
    check_eq(hours[0].hours, 3.0);
    check_eq(hours[0].cost, 2.0);
}

TEST(of_several_prices_of_a_node_the_first_counts) {
    const auto hours = node_hours(lines({
        {0, Supply{"rack", "n1", 0, 3}},
        {0, Supply{"spot", "n[1-2]", 3, -1}},
        {0, Supply{"other", "n1", 7, -1}},
        {0, Start{1, "n1", 1, false}},
        {kHour, End{1, "COMPLETED", 1}},
    }));
    check_eq(hours[0].cost, 3.0);
}

// SPDX-License-Identifier: MIT
// What is news at a look, after what earlier looks have found.
#include "controller/standing.hpp"

#include <vector>

#include "testing.hpp"

using elastic::controller::Standing;

namespace {

// Which of these begin at a look that finds them.
std::vector<int> news(Standing<int>& standing, const std::vector<int>& found) {
    std::vector<int> begun;
    for (const int item : found)
        if (standing.begins(item)) begun.push_back(item);
    standing.end_look();
    return begun;
}

}  // namespace

TEST(what_stands_is_news_once) {
    Standing<int> standing;
    check_eq(news(standing, {2, 1}), (std::vector<int>{2, 1}));
    check_eq(news(standing, {1, 2}), std::vector<int>());
    check_eq(news(standing, {1, 2, 3}), std::vector<int>{3});
}

TEST(what_has_ended_is_news_again) {
    Standing<int> standing;
    (void)news(standing, {1, 2});
    check_eq(news(standing, {2}), std::vector<int>());
    check_eq(news(standing, {1, 2}), std::vector<int>{1});
    (void)news(standing, {});
    check_eq(news(standing, {2}), std::vector<int>{2});
}

// SPDX-License-Identifier: MIT
// Which nodes jobs are expected to start on.
#include "controller/expected_nodes.hpp"

#include "testing.hpp"

using namespace elastic;
using namespace elastic::controller;
using core::ExpectedStart;

namespace {

std::string text_of(const std::vector<ExpectedStart>& starts,
                    const std::vector<std::vector<PoolNode>>& pools) {
    std::string text;
    for (const std::vector<int>& nodes : expected_nodes(starts, pools))
        text += fmt::format("[{}]", fmt::join(nodes, ","));
    return text;
}

ExpectedStart start(Time from, Time to, core::PoolCounts nodes, bool is_reserved = true) {
    return {0, from, to, std::move(nodes), is_reserved};
}

}  // namespace

TEST(nobody_is_expected_anywhere) {
    check_eq(text_of({}, {}), "");
}

TEST(a_job_has_nodes_that_are_free_by_then_the_last_ones) {
    const std::vector<std::vector<PoolNode>> pools{{{4, 100}, {5, 0}, {6, 50}, {7, 200}}};
    check_eq(text_of({start(100, 150, {2})}, pools), "[4,6]");
    check_eq(text_of({start(0, 150, {1})}, pools), "[5]");
    check_eq(text_of({start(200, 250, {4})}, pools), "[4,5,6,7]");
}

TEST(a_node_has_one_job_at_a_time) {
    const std::vector<std::vector<PoolNode>> pools{{{0, 0}, {1, 0}}};
    check_eq(text_of({start(0, 10, {1}), start(0, 20, {1}), start(10, 30, {1}), start(20, 30, {1})},
                     pools),
             "[1][0][1][0]");
}

TEST(jobs_come_in_the_order_of_their_beginnings) {
    const std::vector<std::vector<PoolNode>> pools{{{0, 0}}};
    check_eq(text_of({start(50, 60, {1}), start(0, 50, {1})}, pools), "[0][0]");
}

TEST(a_job_without_a_reservation_keeps_nobody_from_its_nodes) {
    const std::vector<std::vector<PoolNode>> pools{{{0, 0}}};
    check_eq(text_of({start(0, 60, {1}, false), start(0, 50, {1})}, pools), "[0][0]");
}

TEST(each_pool_gives_its_own) {
    const std::vector<std::vector<PoolNode>> pools{{{0, 0}, {2, 0}}, {{1, 0}, {3, 90}}};
    check_eq(text_of({start(90, 100, {1, 2})}, pools), "[1,2,3]");
}

TEST(no_more_are_named_than_there_are) {
    check_eq(text_of({start(0, 10, {3})}, {{{0, 0}, {1, 5}}}), "[0]");
}

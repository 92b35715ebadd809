// SPDX-License-Identifier: MIT
// [gupta] section VII: nodes that fail, cost too much, or are more than may be used.
#include "plan_test.hpp"

using namespace elastic;
using namespace elastic::core;
using namespace elastic::testing;

namespace {

// Jobs hold nodes of pool 1, of which nobody can have any.
SnapshotBuilder with_failing_pool(int idle) {
    SnapshotBuilder b({idle, 0});
    b.snapshot.eligibilities[0] = {0};
    b.snapshot.pools[1].failing = true;
    return b;
}

Sizing with_price(Sizing elastic, double price) {
    elastic.price = price;
    return elastic;
}

// Pool 0 has no price; whoever has one has been told where it may go.
SnapshotBuilder with_spot_pool(PoolCounts idle, double price) {
    SnapshotBuilder b(std::move(idle));
    b.snapshot.pools[1].price = price;
    return b;
}

std::string priced_plan(SnapshotBuilder& b) {
    apply_prices(b.snapshot);
    return plan_text(b.snapshot);
}

}  // namespace

TEST(a_failing_node_is_left_by_a_job_that_stays_large_enough) {
    SnapshotBuilder b = with_failing_pool(0);
    b.run(1, malleable(1, 2, 4), {3, 1}, 100);
    check_eq(plan_text(b.snapshot), "shrink 1 [0,1] ->3\n");
}

TEST(the_reason_to_leave_is_maintenance_where_nothing_else_is_wrong) {
    SnapshotBuilder b({0, 0, 0});
    b.snapshot.eligibilities[0] = {0};
    b.snapshot.pools[1].failing = b.snapshot.pools[2].failing = true;
    b.snapshot.pools[2].maintained = true;
    b.run(1, malleable(1, 2, 4), {2, 1, 0}, 100);
    b.run(2, malleable(1, 2, 4), {2, 0, 1}, 100);
    b.run(3, malleable(1, 2, 4), {2, 1, 1}, 100);
    Planner planner;
    Rng rng(1);
    std::string reasons;
    for (const Action& action : planner.plan(b.snapshot, *preset("lina-default"), rng).actions)
        reasons += fmt::format("{} {}; ", action.job, to_string(action.reason));
    check_eq(reasons,
             "1 the nodes are drained or failing; 2 the nodes are reserved for maintenance; "
             "3 the nodes are drained or failing; ");
}

TEST(a_failing_node_is_replaced_before_a_job_gets_smaller_than_it_prefers) {
    SnapshotBuilder b = with_failing_pool(2);
    b.run(1, malleable(1, 4, 8), {3, 1}, 100);
    check_eq(plan_text(b.snapshot), "expand 1 [1,0] ->5\n");
}

TEST(without_another_node_a_failing_one_is_left_all_the_same) {
    SnapshotBuilder b = with_failing_pool(0);
    b.run(1, malleable(1, 4, 8), {3, 1}, 100);
    check_eq(plan_text(b.snapshot), "shrink 1 [0,1] ->3\n");
}

TEST(a_job_at_its_minimum_waits_for_a_node_in_place_of_a_failing_one) {
    SnapshotBuilder b = with_failing_pool(0);
    b.run(1, malleable(4, 4, 8), {3, 1}, 100);
    check_eq(plan_text(b.snapshot), "");
    b.snapshot.pools[0].idle = 1;
    ++b.snapshot.pools[0].nodes;
    check_eq(plan_text(b.snapshot), "expand 1 [1,0] ->5\n");
}

TEST(a_failing_node_is_left_whatever_the_gap_and_the_policy) {
    SnapshotBuilder b = with_failing_pool(0);
    b.run(1, malleable(1, 2, 4), {3, 1}, 100).last_resize = b.snapshot.now;
    Policy policy = *preset("easy");
    policy.resize_gap = 1000;
    check_eq(plan_text(b.snapshot, policy), "shrink 1 [0,1] ->3\n");
}

TEST(nobody_is_asked_who_has_declined_or_does_not_take_part) {
    SnapshotBuilder b = with_failing_pool(0);
    b.run(1, malleable(1, 2, 4), {3, 1}, 100).not_before = b.snapshot.now + 1;
    b.run(2, malleable(1, 2, 4), {3, 1}, 100).resizable = false;
    b.run(3, rigid(4), {3, 1}, 100);
    check_eq(plan_text(b.snapshot), "");
}

TEST(the_node_of_a_batch_script_cannot_be_left) {
    SnapshotBuilder b = with_failing_pool(0);
    b.run(1, malleable(1, 2, 4), {2, 1}, 100).batch_host_pool = 1;
    check_eq(plan_text(b.snapshot), "");
}

TEST(a_failing_node_does_not_come_free_for_a_reservation) {
    SnapshotBuilder b = with_failing_pool(0);
    b.run(1, malleable(1, 2, 4), {3, 1}, 100);
    b.queue(2, rigid(3), 50);
    check_that(plan_text(b.snapshot, *preset("easy")).find("reserve 2 [3,0]") != std::string::npos);
}

TEST(dear_nodes_are_left_down_to_the_minimum) {
    SnapshotBuilder b = with_spot_pool({0, 0}, 0.5);
    b.run(1, with_price(malleable(2, 4, 8), 0.4), {2, 4}, 1000);
    check_eq(priced_plan(b), "shrink 1 [0,4] ->2\n");
    SnapshotBuilder c = with_spot_pool({0, 0}, 0.5);
    c.run(1, with_price(malleable(3, 4, 8), 0.4), {2, 4}, 1000);
    check_eq(priced_plan(c), "shrink 1 [0,3] ->3\n");
}

TEST(nodes_at_the_price_itself_are_kept_and_so_are_those_of_jobs_without_one) {
    SnapshotBuilder b = with_spot_pool({0, 0}, 0.5);
    b.run(1, with_price(malleable(2, 4, 8), 0.5), {2, 4}, 1000);
    b.run(2, malleable(2, 4, 8), {2, 4}, 1000);
    check_eq(priced_plan(b), "");
}

TEST(a_minimum_on_dear_nodes_is_moved_to_others_as_these_come_free) {
    SnapshotBuilder b = with_spot_pool({1, 3}, 0.5);
    b.run(1, with_price(malleable(2, 2, 8), 0.4), {0, 2}, 1000).batch_host_pool = 1;
    check_eq(priced_plan(b), "expand 1 [1,0] ->3\n");
}

TEST(jobs_grow_over_cheap_nodes_only) {
    SnapshotBuilder b = with_spot_pool({1, 3}, 0.5);
    b.run(1, with_price(malleable(2, 4, 8), 0.4), {2, 0}, 1000);
    check_eq(priced_plan(b), "expand 1 [1,0] ->3\n");
    SnapshotBuilder c = with_spot_pool({1, 3}, 0.3);
    c.run(1, with_price(malleable(2, 4, 8), 0.4), {2, 0}, 1000);
    check_eq(priced_plan(c), "expand 1 [1,3] ->6\n");
}

TEST(a_job_with_a_price_starts_on_its_static_set_if_there_is_one) {
    SnapshotBuilder b = with_spot_pool({2, 6}, 0.3);
    b.queue(1, with_price(malleable(2, 2, 8), 0.4), 100);
    check_eq(priced_plan(b), "start 1 [2,0] ->2\n");
    SnapshotBuilder c = with_spot_pool({1, 6}, 0.3);
    c.queue(1, with_price(malleable(2, 2, 8), 0.4), 100);
    check_eq(priced_plan(c), "start 1 [1,1] ->2\n");
    SnapshotBuilder d = with_spot_pool({1, 6}, 0.5);
    d.queue(1, with_price(malleable(2, 2, 8), 0.4), 100);
    check_eq(priced_plan(d), "");
}

TEST(a_static_set_that_is_smaller_than_the_preferred_size_does) {
    for (const char* policy : {"lina-default", "equipartition", "elastic", "easy"}) {
        SnapshotBuilder b = with_spot_pool({3, 6}, 0.3);
        b.queue(1, with_price(malleable(2, 4, 8), 0.4), 100);
        apply_prices(b.snapshot);
        check_eq(plan_text(b.snapshot, policy), "start 1 [3,0] ->3\n");
    }
}

TEST(an_offer_of_nodes_that_have_become_dear_is_withdrawn) {
    SnapshotBuilder b = with_spot_pool({0, 3}, 0.5);
    b.run(1, with_price(malleable(2, 4, 8), 0.4), {2, 0}, 1000);
    b.promise(ResizeKind::expand, 9, 1, {0, 3}).revocable = true;
    check_that(priced_plan(b).find("withdraw 1") != std::string::npos);
}

TEST(jobs_start_and_grow_within_a_budget) {
    SnapshotBuilder b({6});
    b.run(1, malleable(1, 2, 8), {2}, 100);
    b.snapshot.budgets.push_back({5, {0}});
    check_eq(plan_text(b.snapshot), "expand 1 [3] ->5\n");
    b.queue(2, rigid(2), 50);
    check_that(plan_text(b.snapshot).find("start 2 [2] ->2\n") != std::string::npos);
    b.snapshot.budgets[0].most = 3;
    check_that(plan_text(b.snapshot).find("start 2 [2] ->2\n") == std::string::npos);
}

TEST(when_a_budget_falls_malleable_jobs_give_nodes_back_whatever_the_policy) {
    SnapshotBuilder b({2});
    b.run(1, malleable(1, 2, 8), {5}, 100);
    b.run(2, rigid(3), {3}, 100);
    b.queue(3, rigid(1), 50);
    b.snapshot.budgets.push_back({6, {0}});
    const std::string plan = plan_text(b.snapshot, *preset("easy"));
    check_that(plan.find("shrink 1 [2] ->3\n") != std::string::npos);
    check_that(plan.find("start") == std::string::npos);
}

TEST(what_is_on_its_way_out_is_not_asked_for_again) {
    SnapshotBuilder b({0});
    b.run(1, malleable(1, 2, 8), {5}, 100);
    b.run(2, malleable(1, 2, 8), {5}, 100);
    b.snapshot.budgets.push_back({8, {0}});
    b.promise(ResizeKind::shrink, 9, 1, {2});
    check_eq(plan_text(b.snapshot), "");
}

TEST(the_head_of_the_queue_has_what_a_budget_leaves) {
    SnapshotBuilder b({4, 4});
    b.snapshot.budgets.push_back({3, {0, 1}});
    b.queue(1, rigid(3), 50, b.eligibility({1}));
    check_eq(plan_text(b.snapshot), "start 1 [0,3] ->3\n");
}

TEST(budgets_hold_each_for_itself) {
    SnapshotBuilder b({4, 4});
    b.snapshot.budgets.push_back({6, {0, 1}});
    b.snapshot.budgets.push_back({1, {0}});
    b.queue(1, rigid(5), 50);
    b.queue(2, rigid(1), 50);
    check_eq(plan_text(b.snapshot), "start 1 [1,4] ->5\nreserve 2 [1,0] ->1 at +50\n");
}

TEST(no_node_is_woken_for_an_expansion) {
    SnapshotBuilder b({3, 4});
    b.snapshot.pools[1].asleep = true;
    b.queue(1, malleable(1, 2, 8), 100);
    check_eq(plan_text(b.snapshot, "elastic"), "start 1 [3,0] ->3\n");
    b.snapshot.pending[0].elastic = malleable(1, 5, 8);
    check_eq(plan_text(b.snapshot, "elastic"), "start 1 [3,2] ->5\n");
}

TEST(a_snapshot_keeps_prices_budgets_and_failing_pools_in_json) {
    SnapshotBuilder b = with_spot_pool({1, 2}, 0.25);
    b.snapshot.pools[0].failing = true;
    b.snapshot.pools[1].asleep = true;
    b.snapshot.budgets.push_back({2, {0, 1}});
    b.run(1, with_price(malleable(1, 1, 8), 0.4), {1, 0}, 100);
    const auto read = snapshot_from_json(to_json(b.snapshot));
    check_ok(read);
    check_eq(read->pools[1].price, 0.25);
    check_that(read->pools[0].failing && !read->pools[1].failing);
    check_that(!read->pools[0].asleep && read->pools[1].asleep);
    check_eq(read->budgets[0].most, 2);
    check_eq(read->running[0].elastic.price, 0.4);
    b.snapshot.budgets[0].pools.push_back(7);
    check_that(!validate(b.snapshot));
}

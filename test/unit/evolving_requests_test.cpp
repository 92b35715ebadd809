// SPDX-License-Identifier: MIT
// Stage 1: growth from idle nodes, then from victims, else wait or deny.
#include "plan_test.hpp"

using namespace elastic;
using namespace elastic::core;
using namespace elastic::testing;

TEST(a_growth_takes_idle_nodes_before_pending_jobs) {
    SnapshotBuilder b({3});
    b.run(1, evolving(1, 2, 8), {2}, 100);
    b.queue(9, rigid(3), 10);
    b.request(7, 1, 3, 3);
    check_eq(plan_text(b.snapshot), "expand 1 op7 [3] ->5\nreserve 9 [3] ->3 at +100\n");
}

TEST(a_growth_leaves_who_was_promised_a_start_within_the_bound) {
    SnapshotBuilder b({3});
    b.run(1, evolving(1, 2, 8), {2}, 100);
    b.run(2, rigid(4), {4}, 50);
    b.queue(9, rigid(7), 10).promised = 1050;
    b.request(7, 1, 3, 1);
    Policy policy = *preset("easy");
    check_eq(plan_text(b.snapshot, policy), "expand 1 op7 [3] ->5\nreserve 9 [7] ->7 at +100\n");
    policy.head_delay = 50;
    check_eq(plan_text(b.snapshot, policy), "expand 1 op7 [3] ->5\nreserve 9 [7] ->7 at +100\n");
    policy.head_delay = 49;
    check_eq(plan_text(b.snapshot, policy), "reserve 9 [7] ->7 at +50\n");
    b.snapshot.pending[0].elastic = rigid(6);
    check_eq(plan_text(b.snapshot, policy), "expand 1 op7 [1] ->3\nreserve 9 [6] ->6 at +50\n");
}

TEST(a_growth_takes_victims_for_what_is_not_idle) {
    SnapshotBuilder b({1});
    b.run(1, evolving(1, 2, 8), {2}, 100);
    b.run(2, malleable(2, 6, 8), {6}, 100);
    b.request(7, 1, 3, 3);
    check_eq(plan_text(b.snapshot), "shrink 2 [2] ->4 for 1\nexpand 1 op7 [3] ->5 deferred\n");
}

TEST(a_growth_gets_less_than_its_wish_but_not_less_than_it_takes) {
    SnapshotBuilder b({1});
    b.run(1, evolving(1, 2, 8), {2}, 100);
    b.run(2, malleable(2, 3, 3), {3}, 100);
    b.request(7, 1, 5, 2);
    check_eq(plan_text(b.snapshot), "shrink 2 [1] ->2 for 1\nexpand 1 op7 [2] ->4 deferred\n");
    b.snapshot.requests[0].least = 3;
    Policy no_expansion = *preset("lina-default");
    no_expansion.expand_trigger = ExpandTrigger::never;
    check_eq(plan_text(b.snapshot, no_expansion), "");
}

TEST(a_growth_waits_for_its_deadline_and_is_denied_then) {
    SnapshotBuilder b({0});
    b.run(1, evolving(1, 2, 8), {2}, 100);
    b.request(7, 1, 3, 3, 1001);
    check_eq(plan_text(b.snapshot), "");
    b.snapshot.requests[0].deadline = 1000;
    check_eq(plan_text(b.snapshot), "deny 1 op7: not enough nodes until the deadline\n");
}

TEST(a_growth_beyond_the_maximum_is_denied_or_cut) {
    SnapshotBuilder b({10});
    b.run(1, evolving(1, 2, 4), {2}, 100);
    b.request(7, 1, 3, 3);
    check_eq(plan_text(b.snapshot), "deny 1 op7: beyond the job's maximum\n");
    b.snapshot.requests[0].least = 1;
    check_eq(plan_text(b.snapshot), "expand 1 op7 [2] ->4\n");
}

TEST(a_growth_ends_on_an_allowed_size) {
    SnapshotBuilder b({10});
    b.run(1, evolving(1, 2, 16), {2}, 100).elastic.sizes = *parse_size_rule("pow2");
    b.request(7, 1, 5, 1);
    check_eq(plan_text(b.snapshot), "expand 1 op7 [2] ->4\n");
    b.snapshot.requests[0] = {7, 1, 5, 4, kNever};
    check_eq(plan_text(b.snapshot), "deny 1 op7: no size that the job allows\n");
}

TEST(a_job_is_not_its_own_victim) {
    SnapshotBuilder b({1});
    Sizing both = malleable(1, 4, 8);
    both.evolving = true;
    b.run(1, both, {4}, 100);
    b.request(7, 1, 3, 3);
    Policy policy = *preset("lina-default");
    policy.expand_trigger = ExpandTrigger::never;
    check_eq(plan_text(b.snapshot, policy), "");
}

TEST(requests_are_served_in_the_order_of_arrival) {
    SnapshotBuilder b({3});
    b.run(1, evolving(1, 2, 8), {2}, 100);
    b.run(2, evolving(1, 2, 8), {2}, 100);
    b.request(8, 2, 2, 2);
    b.request(9, 1, 2, 2);
    check_eq(plan_text(b.snapshot), "expand 2 op8 [2] ->4\n");
}

TEST(a_job_whose_request_waits_is_resized_for_nobody) {
    SnapshotBuilder b({1});
    Sizing both = malleable(1, 4, 8);
    both.evolving = true;
    b.run(1, both, {4}, 100);
    check_eq(plan_text(b.snapshot), "expand 1 [1] ->5\n");
    b.request(7, 1, 3, 3);
    check_eq(plan_text(b.snapshot), "");
    b.queue(2, rigid(3), 50);
    check_eq(plan_text(b.snapshot), "reserve 2 [3] ->3 at +100\n");
}

TEST(victims_are_not_shrunk_for_a_growth_that_saves_less_than_it_costs_them) {
    SnapshotBuilder b({0});
    b.run(1, evolving(1, 2, 8), {2}, 100);  // with 4 nodes it ends after 50 s
    b.run(2, malleable(2, 6, 6), {6}, 100);
    b.request(7, 1, 2, 2);
    Policy policy = *preset("lina-default");
    policy.feasibility = Feasibility::payback;
    const char* const grows = "shrink 2 [2] ->4 for 1\nexpand 1 op7 [2] ->4 deferred\n";
    b.snapshot.running[1].elastic.cost.sync = 24;  // there and back
    check_eq(plan_text(b.snapshot, policy), grows);
    b.snapshot.running[1].elastic.cost.sync = 26;
    check_eq(plan_text(b.snapshot, policy), "");
    b.snapshot.pools[0].idle = 2;
    b.snapshot.pools[0].nodes += 2;
    check_eq(plan_text(b.snapshot, policy), "expand 1 op7 [2] ->4\n");
}

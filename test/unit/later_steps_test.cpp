// SPDX-License-Identifier: MIT
// Jobs with an evolution profile in a pass: their later steps are reserved when they start, others
// are planned around them, and a step that is due gets its nodes.
#include "plan_test.hpp"

using namespace elastic;
using namespace elastic::core;
using namespace elastic::testing;

namespace {

Sizing with_profile(EvolutionProfile profile) {
    Sizing sizing = evolving(1, profile.front().nodes, 64);
    sizing.profile = std::move(profile);
    return sizing;
}

}  // namespace

TEST(a_job_starts_when_all_of_its_steps_fit) {
    SnapshotBuilder b({6});
    b.run(1, rigid(4), {4}, 50);
    b.queue(9, with_profile({{5, 50}, {10, 100}}), 150);
    check_eq(plan_text(b.snapshot), "start 9 [5] ->5\n");
    b.snapshot.pending[0].elastic.profile[0].duration = 49;
    check_eq(plan_text(b.snapshot), "reserve 9 [5] ->5 at +1\n");
}

TEST(nobody_is_backfilled_over_the_steps_of_a_job_that_starts) {
    SnapshotBuilder b({12});
    b.queue(8, with_profile({{5, 50}, {10, 100}}), 150);
    b.queue(9, rigid(3), 50);
    check_eq(plan_text(b.snapshot), "start 8 [5] ->5\nstart 9 [3] ->3\n");
    b.snapshot.pending[1].duration = 51;
    check_eq(plan_text(b.snapshot), "start 8 [5] ->5\nreserve 9 [3] ->3 at +150\n");
}

TEST(nobody_is_backfilled_over_the_steps_of_a_job_that_runs) {
    SnapshotBuilder b({6});
    b.run(1, with_profile({{5, 30}, {10, 100}}), {5}, 130);
    b.queue(9, rigid(3), 30);
    b.queue(10, rigid(1), 1000);
    check_eq(plan_text(b.snapshot), "start 9 [3] ->3\nstart 10 [1] ->1\n");
    b.snapshot.pending[0].duration = 31;
    check_eq(plan_text(b.snapshot), "start 10 [1] ->1 backfilled\nreserve 9 [3] ->3 at +130\n");
}

TEST(nodes_of_a_step_down_are_for_others_from_then_on) {
    SnapshotBuilder b({0});
    b.run(1, with_profile({{8, 30}, {2, 100}}), {8}, 130);
    b.queue(9, rigid(6), 10);
    check_eq(plan_text(b.snapshot), "reserve 9 [6] ->6 at +30\n");
}

TEST(a_job_with_a_profile_can_be_the_head_of_the_queue) {
    SnapshotBuilder b({4});
    b.run(1, rigid(6), {6}, 100);
    b.queue(8, with_profile({{4, 20}, {10, 50}, {2, 10}}), 80);
    b.queue(9, rigid(4), 80);  // would end at +80, when the head starts
    b.queue(10, rigid(4), 81);
    check_eq(plan_text(b.snapshot), "start 9 [4] ->4 backfilled\nreserve 8 [4] ->4 at +80\n");
    b.snapshot.pending.erase(b.snapshot.pending.begin() + 1);
    check_eq(plan_text(b.snapshot), "reserve 8 [4] ->4 at +80\n");
}

TEST(a_step_that_is_due_gets_its_nodes_before_all_others) {
    SnapshotBuilder b({5});
    b.run(1, with_profile({{10, 100}}), {5}, 100);
    b.run(2, evolving(1, 2, 8), {2}, 100);
    b.request(6, 2, 3, 3);
    b.request(7, 1, 5, 5);
    b.queue(9, rigid(5), 10);
    check_eq(plan_text(b.snapshot), "expand 1 op7 [5] ->10\nreserve 9 [5] ->5 at +100\n");
}

TEST(a_step_comes_before_who_was_promised_a_start_since) {
    SnapshotBuilder b({5});
    b.run(1, with_profile({{5, 100}}), {2}, 100);
    b.queue(9, rigid(4), 1000).promised = 900;
    b.request(7, 1, 3, 3);
    Policy policy = *preset("easy");
    policy.head_delay = 0;
    check_eq(plan_text(b.snapshot, policy), "expand 1 op7 [3] ->5\nreserve 9 [4] ->4 at +100\n");
}

TEST(a_request_leaves_the_nodes_of_a_step_alone) {
    SnapshotBuilder b({5});
    b.run(1, with_profile({{5, 30}, {10, 100}}), {5}, 130);
    b.run(2, evolving(1, 2, 8), {2}, 31);
    b.request(6, 2, 3, 3);
    check_eq(plan_text(b.snapshot), "");
    b.snapshot.running[1].estimated_end = 1030;
    check_eq(plan_text(b.snapshot), "expand 2 op6 [3] ->5\n");
}

TEST(a_step_keeps_of_its_nodes_only_some_for_long) {
    SnapshotBuilder b({6});
    b.run(1, with_profile({{8, 10}, {4, 90}}), {2}, 100);
    b.run(2, with_profile({{6, 50}}), {2}, 50).start = 1;
    b.request(6, 1, 6, 6);
    b.request(7, 2, 4, 4);  // after the first has given back
    check_eq(plan_text(b.snapshot), "expand 1 op6 [6] ->8\n");
}

TEST(a_step_that_is_due_takes_victims) {
    SnapshotBuilder b({1});
    b.run(1, with_profile({{5, 100}}), {2}, 100);
    b.run(2, malleable(2, 6, 8), {6}, 100);
    b.request(7, 1, 3, 3);
    check_eq(plan_text(b.snapshot), "shrink 2 [2] ->4 for 1\nexpand 1 op7 [3] ->5 deferred\n");
}

TEST(a_step_that_waits_holds_what_it_has_and_what_comes_free) {
    SnapshotBuilder b({1});
    b.run(1, with_profile({{8, 100}}), {5}, 200);
    b.run(2, rigid(4), {4}, 50);
    b.request(7, 1, 3, 3);
    b.queue(9, rigid(3), 1000);  // not before the step has its nodes
    b.queue(10, rigid(1), 50);
    check_eq(plan_text(b.snapshot), "start 10 [1] ->1 backfilled\nreserve 9 [3] ->3 at +250\n");
}

TEST(nobody_is_shrunk_so_that_a_step_comes_late) {
    SnapshotBuilder b({0});
    b.run(1, with_profile({{5, 30}, {10, 100}}), {5}, 130);
    b.run(2, malleable(1, 6, 6), {6}, 30);  // longer on fewer nodes
    b.queue(9, rigid(3), 10);
    check_eq(plan_text(b.snapshot), "reserve 9 [3] ->3 at +130\n");
    b.snapshot.running[0].elastic.profile.pop_back();
    check_eq(plan_text(b.snapshot), "shrink 2 [3] ->3 for 9\nstart 9 [3] ->3 deferred\n");
}

TEST(nobody_grows_over_the_nodes_of_a_step) {
    SnapshotBuilder b({6});
    b.run(1, with_profile({{5, 30}, {10, 100}}), {5}, 130);
    b.run(2, malleable(1, 2, 8), {2}, 60);
    check_eq(plan_text(b.snapshot), "expand 2 [1] ->3\n");
}

TEST(a_job_with_a_profile_starts_on_victims_nodes_if_its_steps_are_in_time) {
    SnapshotBuilder b({0});
    b.run(1, rigid(4), {4}, 50);
    b.run(2, malleable(1, 6, 6), {6}, 40);
    b.queue(9, with_profile({{3, 100}, {5, 100}}), 200);
    check_eq(plan_text(b.snapshot), "shrink 2 [3] ->3 for 9\nstart 9 [3] ->3 deferred\n");
    b.snapshot.pending[0].elastic.profile = {{3, 30}, {5, 100}};
    check_eq(plan_text(b.snapshot), "reserve 9 [3] ->3 at +40\n");
}

// The example of section 2: each of them has half of the machine, and both need more.
TEST(two_jobs_that_both_need_more_are_launched_one_after_the_other) {
    SnapshotBuilder b({10});
    b.queue(8, with_profile({{5, 50}, {8, 50}}), 100);
    b.queue(9, with_profile({{5, 50}, {8, 50}}), 100);
    check_eq(plan_text(b.snapshot), "start 8 [5] ->5\nreserve 9 [5] ->5 at +100\n");
}

TEST(a_job_without_a_profile_is_no_worse_for_one_that_fails) {
    SnapshotBuilder b({3});
    b.run(1, rigid(4), {4}, 1000);
    b.run(2, malleable(1, 4, 4), {4}, 100);
    b.queue(8, with_profile({{4, 10}, {9, 10}}), 20);
    b.queue(9, rigid(5), 30);
    check_eq(plan_text(b.snapshot),
             "shrink 2 [2] ->2 for 9\nstart 9 [5] ->5 deferred\nreserve 8 [4] ->4 at +990\n");
}

// SPDX-License-Identifier: MIT
// Stage 4: who grows over nodes that nobody can use, and how far.
#include "core/model/payback.hpp"
#include "plan_test.hpp"

using namespace elastic;
using namespace elastic::core;
using namespace elastic::testing;

TEST(the_job_with_the_longest_remaining_time_grows_first) {
    SnapshotBuilder b({5});
    b.run(1, malleable(1, 2, 4), {2}, 100);
    b.run(2, malleable(1, 2, 6), {2}, 200);
    check_eq(plan_text(b.snapshot), "expand 2 [4] ->6\nexpand 1 [1] ->3\n");
}

TEST(a_job_grows_to_an_allowed_size) {
    SnapshotBuilder b({5});
    b.run(1, malleable(1, 2, 8), {2}, 100).elastic.sizes = *parse_size_rule("pow2");
    check_eq(plan_text(b.snapshot), "expand 1 [2] ->4\n");
}

TEST(nodes_that_slurm_has_refused_to_the_queue_are_given_where_they_come_back) {
    SnapshotBuilder b({4});
    b.run(1, malleable(1, 2, 6), {2}, 200);
    b.run(2, rigid(1), {1}, 100);
    b.queue(9, rigid(3), 10).not_before = b.snapshot.now + 100;
    check_eq(plan_text(b.snapshot), "expand 1 [4] ->6\nreserve 9 [3] ->3 at +100\n");
    Policy policy = *preset("lina-default");
    policy.shrink_guard = ShrinkGuard::never;
    check_eq(plan_text(b.snapshot, policy), "expand 1 [2] ->4\nreserve 9 [3] ->3 at +100\n");
}

TEST(a_job_grows_only_in_its_own_pools) {
    SnapshotBuilder b({3, 4});
    b.run(1, malleable(1, 2, 8), {2, 0}, 100).eligible = b.eligibility({0});
    check_eq(plan_text(b.snapshot), "expand 1 [3,0] ->5\n");
}

TEST(nodes_that_a_reservation_needs_are_not_used) {
    SnapshotBuilder b({4});
    b.run(1, malleable(4, 4, 16), {4}, 500);
    b.run(2, rigid(8), {8}, 100);
    b.queue(9, rigid(9), 10);  // reserved at +100, 3 extra nodes
    check_eq(plan_text(b.snapshot), "expand 1 [3] ->7\nreserve 9 [9] ->9 at +100\n");
    b.snapshot.running[0].estimated_end = 1100;  // it gives them back in time
    check_eq(plan_text(b.snapshot), "expand 1 [4] ->8\nreserve 9 [9] ->9 at +100\n");
    b.snapshot.running[0].elastic.cost.sync = 60;  // and does not if it takes that long
    check_eq(plan_text(b.snapshot), "reserve 9 [9] ->9 at +100\n");
}

TEST(rigid_and_evolving_jobs_and_those_in_their_gap_do_not_grow) {
    SnapshotBuilder b({4});
    b.run(1, rigid(4), {4}, 50);
    b.run(2, evolving(1, 2, 8), {2}, 50);
    b.run(3, malleable(1, 2, 8), {2}, 50).last_resize = 990;
    b.run(4, malleable(1, 2, 8), {2}, 50).not_before = 1001;
    b.run(5, malleable(1, 2, 8), {2}, 50).resizable = false;
    Policy policy = *preset("lina-default");
    policy.resize_gap = 30;
    check_eq(plan_text(b.snapshot, policy), "");
}

TEST(the_gap_is_ten_times_what_the_resizes_of_a_job_have_taken) {
    SnapshotBuilder b({2});
    RunningJob& job = b.run(1, malleable(1, 2, 4), {2}, 500);
    job.last_resize = 900;
    Policy policy = *preset("lina-default");
    policy.resize_gap = 30;
    job.rescale_time = 10;
    check_eq(plan_text(b.snapshot, policy), "expand 1 [2] ->4\n");
    job.rescale_time = 11;
    check_eq(plan_text(b.snapshot, policy), "");
    policy.resize_gap = 0;  // none at all
    check_eq(plan_text(b.snapshot, policy), "expand 1 [2] ->4\n");
    policy.resize_gap = 30;
    job.elastic.gap = 50;  // its own word
    check_eq(plan_text(b.snapshot, policy), "expand 1 [2] ->4\n");
}

TEST(a_job_is_expanded_from_its_start_if_nobody_else_can_use_the_nodes) {
    Policy policy = *preset("elastic");
    SnapshotBuilder b({16}, 0);
    b.queue(1, malleable(1, 4, 12), 100);
    b.queue(2, rigid(2), 100);
    check_eq(plan_text(b.snapshot, policy), "start 1 [12] ->12\nstart 2 [2] ->2\n");
    policy.expand_from = ExpandFrom::gap;
    check_eq(plan_text(b.snapshot, policy), "start 1 [4] ->4\nstart 2 [2] ->2\n");
    policy.expand_from = ExpandFrom::start;
    policy.expand_trigger = ExpandTrigger::never;
    check_eq(plan_text(b.snapshot, policy), "start 1 [4] ->4\nstart 2 [2] ->2\n");
}

// On 12 nodes it saves 66 2/3 s.
TEST(what_a_job_is_expanded_by_from_its_start_is_to_be_cheap_to_give_back) {
    SnapshotBuilder b({12});
    PendingJob& job = b.queue(1, malleable(1, 4, 12), 100);
    job.elastic.cost.sync = 6.6;
    check_eq(plan_text(b.snapshot, "elastic"), "start 1 [12] ->12\n");
    job.elastic.cost.sync = 6.7;
    check_eq(plan_text(b.snapshot, "elastic"), "start 1 [4] ->4\n");
    job.elastic.cost = {.b = 0.9};  // for each node: earns most with 7
    check_eq(plan_text(b.snapshot, "elastic"), "start 1 [7] ->7\n");
    Policy policy = *preset("elastic");
    policy.feasibility = Feasibility::none;
    check_eq(plan_text(b.snapshot, policy), "start 1 [12] ->12\n");
}

TEST(a_job_that_starts_is_expanded_as_one_that_runs) {
    SnapshotBuilder b({7});
    PendingJob& job = b.queue(1, malleable(1, 2, 8), 100);
    job.elastic.sizes = *parse_size_rule("pow2");
    check_eq(plan_text(b.snapshot, "elastic"), "start 1 [4] ->4\n");
    job.elastic.sizes = {};
    job.elastic.speedup = {SpeedupModel::Kind::overhead, 0.1, 0};  // fastest on 6 nodes
    check_eq(plan_text(b.snapshot, "elastic"), "start 1 [6] ->6\n");
    job.elastic = evolving(1, 2, 8);
    check_eq(plan_text(b.snapshot, "elastic"), "start 1 [2] ->2\n");
    job.elastic = malleable(1, 2, 8);
    job.copies = 2;  // equal ones in turn
    check_eq(plan_text(b.snapshot, "elastic"), "start 1 [5] ->5\nstart 1 [2] ->2\n");
}

// Each of 6 nodes saves job 1 an eighth of its time, job 2 a tenth.
TEST(jobs_that_start_and_jobs_that_run_are_expanded_in_one_order) {
    SnapshotBuilder b({10});
    RunningJob& running = b.run(1, malleable(1, 2, 8), {2}, 100);
    b.queue(2, malleable(1, 4, 12), 100);
    check_eq(plan_text(b.snapshot, "elastic"), "start 2 [4] ->4\nexpand 1 [6] ->8\n");
    running.last_resize = b.snapshot.now - 1;  // in its gap
    check_eq(plan_text(b.snapshot, "elastic"), "start 2 [10] ->10\n");
}

TEST(a_job_starts_with_no_more_nodes_that_a_reservation_needs) {
    SnapshotBuilder b({8});
    b.run(1, rigid(8), {8}, 100);
    b.queue(9, rigid(12), 10);  // reserved at +100, 4 extra nodes
    PendingJob& job = b.queue(2, malleable(1, 2, 8), 100);
    check_eq(plan_text(b.snapshot, "elastic"),
             "start 2 [8] ->8 backfilled\nreserve 9 [12] ->12 at +100\n");
    job.duration = 101;  // it might never take part, and so not give them back
    check_eq(plan_text(b.snapshot, "elastic"),
             "start 2 [4] ->4 backfilled\nreserve 9 [12] ->12 at +100\n");
}

// 100 s are left on 2 nodes; on 8 they are 25 s and what the resize takes.
TEST(to_earliest_end_expands_a_job_only_if_it_ends_sooner) {
    Policy policy = *preset("elastic");
    policy.expand_amount = ExpandAmount::to_earliest_end;
    SnapshotBuilder b({6});
    b.run(1, malleable(1, 2, 8), {2}, 100).elastic.cost.sync = 74;
    check_eq(plan_text(b.snapshot, policy), "expand 1 [6] ->8\n");
    b.snapshot.running[0].elastic.cost.sync = 76;
    check_eq(plan_text(b.snapshot, policy), "");
}

// Each further node saves less and costs the same: 200 / size + 10 * (size - 2).
TEST(to_earliest_end_expands_a_job_to_the_size_with_which_it_ends_first) {
    Policy policy = *preset("elastic");
    policy.expand_amount = ExpandAmount::to_earliest_end;
    SnapshotBuilder b({14});
    b.run(1, malleable(1, 2, 16), {2}, 100).elastic.cost.b = 10;
    check_eq(plan_text(b.snapshot, policy), "expand 1 [2] ->4\n");
}

// T(n) = 0.1 n / 2 + 0.9 * 2 / n is least for 6 nodes.
TEST(no_job_of_the_default_is_expanded_further_than_it_runs_faster) {
    SnapshotBuilder b({14});
    core::RunningJob& job = b.run(1, malleable(1, 2, 16), {2}, 100);
    job.elastic.speedup = {SpeedupModel::Kind::overhead, 0.1, 0};
    check_eq(plan_text(b.snapshot, "elastic"), "expand 1 [4] ->6\n");
    b.snapshot.running[0].elastic.speedup.a = 0.5;  // least for 2
    check_eq(plan_text(b.snapshot, "elastic"), "");
}

// As with no limit of time.
TEST(jobs_without_an_end_are_expanded_whatever_a_resize_costs) {
    SnapshotBuilder b({6});
    b.run(1, malleable(1, 2, 8), {2}, kNever).elastic.cost.sync = 1000;
    for (ExpandAmount amount : {ExpandAmount::to_fastest, ExpandAmount::to_earliest_end}) {
        Policy policy = *preset("elastic");
        policy.expand_amount = amount;
        policy.feasibility = Feasibility::none;
        check_eq(plan_text(b.snapshot, policy), "expand 1 [6] ->8\n");
    }
}

TEST(an_expansion_has_to_pay_in_the_time_for_which_the_job_has_been_left_alone) {
    SnapshotBuilder b({6});
    core::RunningJob& job = b.run(1, malleable(1, 2, 8), {2}, 500);
    job.elastic.cost.b = 10;  // 60 s for 6 nodes, which save 3/4 of the time
    Policy policy = *preset("lina-default");
    policy.feasibility = Feasibility::payback;
    job.last_resize = b.snapshot.now - 81;
    check_eq(plan_text(b.snapshot, policy), "expand 1 [6] ->8\n");
    job.last_resize = b.snapshot.now - 79;
    check_eq(plan_text(b.snapshot, policy), "expand 1 [2] ->4\n");  // earns most
    job.last_resize = b.snapshot.now - 29;
    check_eq(plan_text(b.snapshot, policy), "");
    job.last_resize = 0;
    job.estimated_end = b.snapshot.now + 79;  // it is over before
    check_eq(plan_text(b.snapshot, policy), "expand 1 [2] ->4\n");
    policy.feasibility = Feasibility::none;
    check_eq(plan_text(b.snapshot, policy), "expand 1 [6] ->8\n");
}

// When it ends nobody knows.
TEST(an_expansion_of_a_job_that_has_outrun_its_estimate_may_pay) {
    SnapshotBuilder b({6});
    core::RunningJob& job = b.run(1, malleable(1, 2, 8), {2}, -1);
    job.elastic.cost.b = 10;
    job.last_resize = b.snapshot.now - 81;
    check_eq(plan_text(b.snapshot, "elastic"), "expand 1 [6] ->8\n");
    job.last_resize = b.snapshot.now - 29;
    check_eq(plan_text(b.snapshot, "elastic"), "");
}

TEST(an_expansion_pays_from_when_it_is_said_to) {
    core::Sizing job = malleable(1, 2, 8);
    job.cost.b = 10;
    const Time pays = pays_from(job, 2, 8, 1000);
    check_eq(earned_by_expansion(job, 2, 8, expected_rest(1000, pays)) > 0, true);
    check_eq(earned_by_expansion(job, 2, 8, expected_rest(1000, pays - 1)) > 0, false);
    job.speedup = {SpeedupModel::Kind::rho, 1, 0};
    check_eq(pays_from(job, 2, 8, 1000), kNever);
}

TEST(rigid_policies_never_expand) {
    SnapshotBuilder b({4});
    b.run(1, malleable(1, 2, 8), {2}, 50);
    check_eq(plan_text(b.snapshot, "easy"), "");
}

// [mebf] section 3.1: "a portion of free resources", so that newcomers find some.
TEST(spare_leaves_a_portion_of_the_idle_nodes) {
    SnapshotBuilder b({6});
    b.run(1, malleable(1, 4, 16), {4}, 2000);
    check_eq(plan_text(b.snapshot, "mebf-spare"), "expand 1 [3] ->7\n");
    Policy policy = *preset("mebf-spare");
    policy.spare_kept = 0.1;
    check_eq(plan_text(b.snapshot, policy), "expand 1 [5] ->9\n");
    policy.expand_amount = ExpandAmount::spare_all;
    check_eq(plan_text(b.snapshot, policy), "expand 1 [6] ->10\n");
}

// Algorithm 5: by more than half of what it has.
TEST(spare_does_not_expand_by_little) {
    SnapshotBuilder b({6});
    b.run(1, malleable(1, 6, 30), {6}, 2000);
    check_eq(plan_text(b.snapshot, "mebf-spare"), "");
    Policy policy = *preset("mebf-spare");
    policy.expand_amount = ExpandAmount::spare_all;
    check_eq(plan_text(b.snapshot, policy), "expand 1 [6] ->12\n");
    b.snapshot.pools[0] = {3, 9};
    check_eq(plan_text(b.snapshot, policy), "");
}

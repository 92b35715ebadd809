// SPDX-License-Identifier: MIT
// Stage 3: victims and their order, amounts, sizes, batch hosts, reservations.
#include "plan_test.hpp"

using namespace elastic;
using namespace elastic::core;
using namespace elastic::testing;

namespace {

Policy shrink_only() {
    Policy policy = *preset("lina-default");
    policy.expand_trigger = ExpandTrigger::never;
    policy.resize_gap = 30;
    return policy;
}

Policy beneficial() {
    Policy policy = shrink_only();
    policy.initial_size = InitialSize::beneficial;
    return policy;
}

std::string plan(const SnapshotBuilder& builder) {
    return plan_text(builder.snapshot, shrink_only());
}

}  // namespace

TEST(nobody_shrinks_for_a_job_that_has_no_room_yet) {
    SnapshotBuilder b({1});
    b.run(1, malleable(2, 6, 6), {6}, 100);
    b.queue(9, rigid(4), 10).not_before = b.snapshot.now + 100;
    check_eq(plan(b), "reserve 9 [4] ->4 at +100\n");
}

TEST(a_pending_job_starts_on_idle_and_victims_nodes) {
    SnapshotBuilder b({1});
    b.run(1, malleable(2, 8, 8), {8}, 100);
    b.queue(9, rigid(4), 10);
    check_eq(plan(b), "shrink 1 [3] ->5 for 9\nstart 9 [4] ->4 deferred\n");
}

TEST(one_element_of_an_array_waits_for_victims_at_a_time) {
    SnapshotBuilder b({0});
    for (const JobId victim : {1, 2, 3}) b.run(victim, malleable(1, 2, 2), {2}, 100);
    b.queue(9, rigid(1), 10).copies = 3;
    b.queue(10, rigid(1), 10);
    check_eq(plan(b),
             "shrink 1 [1] ->1 for 9\nstart 9 [1] ->1 deferred\n"
             "shrink 2 [1] ->1 for 10\nstart 10 [1] ->1 deferred\n"
             "reserve 9 [1] ->1 at +10\n");

    // The next pass, before the first has answered.
    b.promise(ResizeKind::shrink, 7, 1, {1}).beneficiary = 9;
    b.snapshot.pending[0].copies = 2;
    b.snapshot.pending.insert(b.snapshot.pending.begin(), b.snapshot.pending[0]);
    b.snapshot.pending[0].copies = 1;
    b.snapshot.pending[0].claimed = true;
    check_eq(plan(b),
             "shrink 2 [1] ->1 for 10\nstart 10 [1] ->1 deferred\nreserve 9 [1] ->1 at +10\n");
}

TEST(with_initial_size_least_a_malleable_pending_job_starts_at_its_minimum) {
    SnapshotBuilder b({0});
    b.run(1, malleable(2, 8, 8), {8}, 100);
    b.queue(9, malleable(2, 4, 16), 10);
    check_eq(plan(b), "shrink 1 [2] ->6 for 9\nstart 9 [2] ->2 deferred\n");
    Policy requested = shrink_only();
    requested.initial_size = InitialSize::requested;
    check_eq(plan_text(b.snapshot, requested),
             "shrink 1 [4] ->4 for 9\nstart 9 [4] ->4 deferred\n");
}

TEST(with_initial_size_beneficial_a_short_job_takes_more_of_a_large_victim) {
    SnapshotBuilder b({0});
    b.run(1, malleable(2, 8, 8), {8}, 1000);
    b.queue(9, malleable(2, 4, 16), 10);
    check_eq(plan_text(b.snapshot, beneficial()),
             "shrink 1 [6] ->2 for 9\nstart 9 [6] ->6 deferred\n");
    b.snapshot.pending[0].elastic.max = 5;
    check_eq(plan_text(b.snapshot, beneficial()),
             "shrink 1 [5] ->3 for 9\nstart 9 [5] ->5 deferred\n");
}

TEST(with_initial_size_beneficial_no_more_is_taken_where_it_saves_less_than_it_costs) {
    SnapshotBuilder small({0});
    small.run(1, malleable(1, 4, 4), {4}, 1000);
    small.run(2, malleable(1, 3, 3), {3}, 1000);
    small.queue(9, malleable(2, 4, 16), 10);
    check_eq(plan_text(small.snapshot, beneficial()),
             "shrink 1 [3] ->1 for 9\nshrink 2 [1] ->2 for 9\nstart 9 [4] ->4 deferred\n");

    SnapshotBuilder dear({0});
    RunningJob& victim = dear.run(1, malleable(2, 8, 8), {8}, 1000);
    dear.queue(9, malleable(2, 4, 16), 10);
    const std::string as_requested = "shrink 1 [4] ->4 for 9\nstart 9 [4] ->4 deferred\n";
    victim.elastic.cost.b = 5;  // seconds for each node
    check_eq(plan_text(dear.snapshot, beneficial()), as_requested);
    victim.elastic.cost.b = 0;
    dear.snapshot.pending[0].elastic.speedup.a = 1;  // does not scale at all
    check_eq(plan_text(dear.snapshot, beneficial()), as_requested);
    dear.snapshot.pending[0].elastic = rigid(4);
    check_eq(plan_text(dear.snapshot, beneficial()), as_requested);
}

TEST(with_initial_size_beneficial_sizes_are_allowed_ones) {
    SnapshotBuilder b({0});
    b.run(1, malleable(2, 12, 12), {12}, 1000);
    b.queue(9, malleable(2, 4, 16), 10).elastic.sizes = *parse_size_rule("pow2");
    check_eq(plan_text(b.snapshot, beneficial()),
             "shrink 1 [8] ->4 for 9\nstart 9 [8] ->8 deferred\n");
    b.snapshot.pending[0].elastic.sizes = {};
    b.snapshot.running[0].elastic.sizes = *parse_size_rule("step:5");
    check_eq(plan_text(b.snapshot, beneficial()),
             "shrink 1 [7] ->5 for 9\nstart 9 [7] ->7 deferred\n");
}

TEST(with_initial_size_beneficial_a_job_starts_small_only_if_that_saves_more_than_it_costs) {
    SnapshotBuilder b({0});
    b.run(1, malleable(4, 6, 6), {6}, 100);
    b.run(2, rigid(4), {4}, 10);
    // With 2 nodes it ends after 22 s, of which its victim loses a third.
    b.queue(9, malleable(2, 4, 4), 11);
    const std::string starts = "shrink 1 [2] ->4 for 9\nstart 9 [2] ->2 deferred\n";
    const auto plan_if_it_waits = [&](Duration wait, InitialSize choice) {
        b.snapshot.running[1].estimated_end = wait < kNever ? b.snapshot.now + wait : kNever;
        Policy policy = shrink_only();
        policy.initial_size = choice;
        return plan_text(b.snapshot, policy);
    };
    check_eq(plan_if_it_waits(10, InitialSize::beneficial), "reserve 9 [4] ->4 at +10\n");
    check_eq(plan_if_it_waits(10, InitialSize::flexible), starts);
    check_eq(plan_if_it_waits(18, InitialSize::beneficial), "reserve 9 [4] ->4 at +18\n");
    check_eq(plan_if_it_waits(19, InitialSize::beneficial), starts);
    b.snapshot.running[0].elastic.cost.sync = 1;  // for each of two resizes
    check_eq(plan_if_it_waits(19, InitialSize::beneficial), "reserve 9 [4] ->4 at +19\n");
    check_eq(plan_if_it_waits(21, InitialSize::beneficial), starts);
    check_eq(plan_if_it_waits(kNever, InitialSize::beneficial), starts);
    b.snapshot.pending[0].duration = kNever;
    check_eq(plan_if_it_waits(10, InitialSize::beneficial), starts);
}

TEST(nobody_is_shrunk_for_nothing) {
    SnapshotBuilder b({1});
    b.run(1, malleable(6, 8, 8), {8}, 100);
    b.queue(9, rigid(4), 10);
    check_eq(plan(b), "reserve 9 [4] ->4 at +100\n");
}

TEST(victims_are_taken_by_shrinkable_nodes_and_then_size) {
    SnapshotBuilder b({0});
    b.run(1, malleable(2, 4, 8), {4}, 100);
    b.run(2, malleable(6, 8, 8), {8}, 100);
    b.run(3, malleable(1, 4, 4), {4}, 100);
    b.queue(9, rigid(6), 10);
    check_eq(plan(b),
             "shrink 3 [3] ->1 for 9\nshrink 2 [2] ->6 for 9\nshrink 1 [1] ->3 for 9\n"
             "start 9 [6] ->6 deferred\n");
}

TEST(victims_are_taken_by_gain) {
    SnapshotBuilder b({0});
    b.run(1, malleable(1, 8, 8), {8}, 100).gain = 1;
    b.run(2, malleable(1, 2, 8), {2}, 100).gain = 4;
    b.queue(9, rigid(2), 10);
    Policy policy = shrink_only();
    policy.victim_order = VictimOrder::gain;
    check_eq(plan_text(b.snapshot, policy),
             "shrink 2 [1] ->1 for 9\nshrink 1 [1] ->7 for 9\nstart 9 [2] ->2 deferred\n");
}

TEST(a_victim_ends_on_an_allowed_size) {
    SnapshotBuilder b({0});
    b.run(1, malleable(2, 8, 8), {8}, 100).elastic.sizes = *parse_size_rule("pow2");
    b.queue(9, rigid(1), 10);
    check_eq(plan(b), "shrink 1 [4] ->4 for 9\nstart 9 [1] ->1 deferred\n");
}

TEST(only_nodes_of_eligible_pools_help) {
    SnapshotBuilder b({0, 0});
    b.run(1, malleable(2, 8, 8), {4, 4}, 100);
    const EligibilityId second = b.eligibility({1});
    b.queue(9, rigid(3), 10, second);
    check_eq(plan(b), "shrink 1 [0,3] ->5 for 9\nstart 9 [0,3] ->3 deferred\n");
    b.snapshot.pending[0].elastic = rigid(5);
    check_eq(plan(b), "");
}

TEST(a_victim_keeps_the_node_of_its_batch_script) {
    SnapshotBuilder b({0, 0});
    RunningJob& job = b.run(1, malleable(1, 4, 4), {2, 2}, 100);
    job.batch_host_pool = 1;
    const EligibilityId second = b.eligibility({1});
    b.queue(9, rigid(2), 10, second);
    check_eq(plan(b), "reserve 9 [0,2] ->2 at +100\n");
    b.snapshot.running[0].batch_host_pool = 0;
    check_eq(plan(b), "shrink 1 [0,2] ->2 for 9\nstart 9 [0,2] ->2 deferred\n");
}

TEST(who_may_not_be_resized_is_no_victim) {
    SnapshotBuilder b({0});
    RunningJob& job = b.run(1, malleable(2, 8, 8), {8}, 100);
    b.queue(9, rigid(4), 10);
    const std::string blocked = "reserve 9 [4] ->4 at +100\n";
    job.resizable = false;
    check_eq(plan(b), blocked);
    job.resizable = true;
    job.not_before = 1001;
    check_eq(plan(b), blocked);
    job.not_before = 1000;
    job.last_resize = 971;  // the policy's gap is 30 s
    check_eq(plan(b), blocked);
    job.elastic.gap = 29;
    check_eq(plan(b), "shrink 1 [4] ->4 for 9\nstart 9 [4] ->4 deferred\n");
}

TEST(a_later_job_does_not_delay_the_head_by_its_idle_nodes) {
    SnapshotBuilder b({2});
    b.run(1, rigid(8), {8}, 100);
    b.run(2, malleable(1, 2, 2), {2}, 50);
    b.queue(8, rigid(11), 10);   // no victim suffices; reserved at +100
    b.queue(9, rigid(3), 5000);  // one extra node at +100, and needs a victim's
    check_eq(plan(b), "reserve 8 [11] ->11 at +100\n");
    b.snapshot.pending[1].duration = 60;  // ends before the shadow time
    check_eq(plan(b),
             "shrink 2 [1] ->1 for 9\nstart 9 [3] ->3 deferred\nreserve 8 [11] ->11 at +100\n");
}

TEST(a_victim_whose_longer_run_would_delay_the_head_is_passed_over) {
    SnapshotBuilder b({0});
    b.run(1, malleable(1, 4, 4), {4}, 90);  // at 2 nodes it would run for 180 s
    b.run(2, rigid(6), {6}, 100);
    b.queue(8, rigid(10), 10);
    b.queue(9, rigid(2), 50);
    check_eq(plan(b), "reserve 8 [10] ->10 at +100\n");
    b.snapshot.running[0].estimated_end = 1040;  // and now for 80 s
    check_eq(plan(b),
             "shrink 1 [2] ->2 for 9\nstart 9 [2] ->2 deferred\nreserve 8 [10] ->10 at +100\n");
}

TEST(when_the_head_starts_by_shrinking_the_next_job_is_reserved_for) {
    SnapshotBuilder b({0});
    b.run(1, malleable(2, 6, 6), {6}, 100);
    b.queue(8, rigid(4), 10);
    b.queue(9, rigid(4), 10);
    check_eq(plan(b),
             "shrink 1 [4] ->2 for 8\nstart 8 [4] ->4 deferred\nreserve 9 [4] ->4 at +10\n");
}

TEST(each_victim_is_asked_for_the_whole_size_whatever_others_gave) {
    SnapshotBuilder b({1});
    b.run(1, malleable(2, 8, 8), {8}, 100);
    b.run(2, malleable(3, 5, 8), {5}, 100);
    b.run(3, malleable(1, 6, 8), {6}, 100);
    b.queue(9, rigid(4), 10);
    Policy policy = shrink_only();
    check_eq(plan_text(b.snapshot, policy), "shrink 1 [3] ->5 for 9\nstart 9 [4] ->4 deferred\n");
    policy.shrink_amount = ShrinkAmount::each;
    check_eq(plan_text(b.snapshot, policy),
             "shrink 1 [4] ->4 for 9\nshrink 3 [4] ->2\nshrink 2 [2] ->3\n"
             "start 9 [4] ->4 deferred\n");
    b.snapshot.pending[0].elastic = rigid(15);  // 14 is all that there is
    check_eq(plan_text(b.snapshot, policy), "reserve 9 [15] ->15 at +100\n");
}

TEST(fcfs_shrinks_for_nobody_behind_a_blocked_job) {
    SnapshotBuilder b({0});
    b.run(1, malleable(4, 6, 6), {6}, 100);
    b.run(2, rigid(4), {4}, 200);
    b.queue(8, rigid(4), 10);
    b.queue(9, rigid(1), 10);
    Policy policy = shrink_only();
    policy.backfill = Backfill::none;
    check_eq(plan_text(b.snapshot, policy), "reserve 8 [4] ->4 at +100\n");
}

TEST(victims_are_not_shrunk_for_a_start_that_saves_less_than_it_costs_them) {
    SnapshotBuilder b({0});
    b.run(1, malleable(2, 8, 8), {8}, 60);
    b.queue(9, rigid(4), 10);  // it can start in 60 s
    Policy policy = shrink_only();
    policy.feasibility = Feasibility::payback;
    const char* const shrinks = "shrink 1 [4] ->4 for 9\nstart 9 [4] ->4 deferred\n";
    check_eq(plan_text(b.snapshot, policy), shrinks);
    b.snapshot.running[0].elastic.cost.sync = 29;  // there and back
    check_eq(plan_text(b.snapshot, policy), shrinks);
    b.snapshot.running[0].elastic.cost.sync = 31;
    check_eq(plan_text(b.snapshot, policy), "reserve 9 [4] ->4 at +60\n");
    policy.feasibility = Feasibility::none;
    check_eq(plan_text(b.snapshot, policy), shrinks);
}

// [mebf] algorithm 2, "excludes the previously configured ones". Job 1 was to have ended, and may
// go on for as long as it likes.
TEST(nobody_waits_for_a_job_that_has_outrun_its_estimate) {
    SnapshotBuilder b({0});
    b.run(1, rigid(4), {4}, 10);
    b.run(2, malleable(1, 8, 8), {8}, 1000).elastic.cost.sync = 6;
    b.queue(9, rigid(4), 10);
    Policy policy = *preset("lina-default");
    policy.feasibility = Feasibility::payback;
    check_eq(plan_text(b.snapshot, policy), "reserve 9 [4] ->4 at +10\n");
    b.snapshot.running[0].estimated_end = b.snapshot.now - 10;
    check_eq(plan_text(b.snapshot, policy), "shrink 2 [4] ->4 for 9\nstart 9 [4] ->4 deferred\n");
}

TEST(a_job_is_shrunk_again_in_the_next_round_or_never) {
    SnapshotBuilder b({0});
    b.run(1, malleable(1, 8, 8), {8}, 2000).shrinks = 1;
    b.snapshot.running[0].duration = 3000;
    b.queue(9, rigid(3), 10);
    check_eq(plan_text(b.snapshot, "mebf-basic"),
             "shrink 1 [3] ->5 for 9\nstart 9 [3] ->3 deferred\n");
    Policy policy = *preset("mebf-basic");
    policy.shrink_again = ShrinkAgain::never;
    check_eq(plan_text(b.snapshot, policy), "reserve 9 [3] ->3 at +2000\n");
    b.snapshot.running[0].shrinks = 0;
    check_eq(plan_text(b.snapshot, policy), "shrink 1 [3] ->5 for 9\nstart 9 [3] ->3 deferred\n");
}

// [mebf] algorithm 3: the static time is that of the limit it asked for, 2000 s here.  It ran 1000
// s and would take 2000 s for what is left, but 3400 s if it gave two of five nodes.
TEST(feasibility_measures_against_the_time_that_was_asked_for) {
    SnapshotBuilder b({0});
    b.run(1, malleable(1, 8, 8), {5}, 2000).duration = 2000;
    b.queue(9, rigid(2), 10);
    check_eq(plan_text(b.snapshot, "mebf-basic"), "reserve 9 [2] ->2 at +2000\n");
    b.snapshot.running[0].duration = 2200;
    check_eq(plan_text(b.snapshot, "mebf-basic"),
             "shrink 1 [2] ->3 for 9\nstart 9 [2] ->2 deferred\n");
}

// Its prose names no beneficiary: jobs are shrunk though no job can start by it, and the next plan
// finds the nodes.
TEST(jobs_are_shrunk_for_anybody) {
    Policy policy = *preset("mebf-basic");
    policy.shrink_for = ShrinkFor::anybody;
    SnapshotBuilder b({0});
    b.run(1, malleable(1, 10, 10), {10}, 2000).duration = 3000;
    b.run(2, rigid(12), {12}, 1000);
    b.run(3, malleable(1, 5, 10), {5}, 3000).duration = 4000;
    b.queue(9, rigid(12), 10);
    check_eq(plan_text(b.snapshot, "mebf-basic"), "reserve 9 [12] ->12 at +1000\n");
    check_eq(plan_text(b.snapshot, policy),
             "shrink 1 [4] ->6\nshrink 3 [2] ->3\nreserve 9 [12] ->12 at +1000\n");
    // Jobs are left alone if the reservation needs all of their nodes when they end.
    b.snapshot.pending[0].elastic = rigid(21);
    check_eq(plan_text(b.snapshot, policy), "shrink 3 [2] ->3\nreserve 9 [21] ->21 at +2000\n");
}

TEST(nobody_is_shrunk_for_anybody_while_nobody_waits) {
    Policy policy = *preset("mebf-basic");
    policy.shrink_for = ShrinkFor::anybody;
    SnapshotBuilder b({0});
    b.run(1, malleable(1, 10, 10), {10}, 2000);
    check_eq(plan_text(b.snapshot, policy), "");
}

// [lina] algorithm 7: its listing looks whether a job ends soon, its text does not.
TEST(the_system_guard_has_two_readings) {
    SnapshotBuilder b({0});
    b.run(1, malleable(1, 10, 10), {10}, 2000);
    b.queue(9, rigid(4), 10);
    const std::string shrunk = "shrink 1 [4] ->6 for 9\nstart 9 [4] ->4 deferred\n";
    check_eq(plan_text(b.snapshot, "lina-system"), shrunk);
    check_eq(plan_text(b.snapshot, "lina-system-text"), "reserve 9 [4] ->4 at +2000\n");
    b.snapshot.pools[0] = {2, 12};  // 83 % in use
    check_eq(plan_text(b.snapshot, "lina-system-text"), "reserve 9 [4] ->4 at +2000\n");
    b.snapshot.pools[0] = {3, 13};  // 77 %
    check_eq(plan_text(b.snapshot, "lina-system-text"),
             "shrink 1 [1] ->9 for 9\nstart 9 [4] ->4 deferred\n");
}

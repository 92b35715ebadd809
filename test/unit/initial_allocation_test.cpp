// SPDX-License-Identifier: MIT
// Stage 2: order of the queue, EASY, several pools, shared nodes.
#include "plan_test.hpp"

using namespace elastic;
using namespace elastic::core;
using namespace elastic::testing;

TEST(jobs_start_in_order_while_they_fit) {
    SnapshotBuilder b({10});
    b.queue(1, rigid(4), 100);
    b.queue(2, rigid(6), 100);
    check_eq(plan_text(b.snapshot, "easy"), "start 1 [4] ->4\nstart 2 [6] ->6\n");
}

TEST(a_malleable_job_starts_at_its_preferred_size) {
    SnapshotBuilder b({10});
    b.queue(1, malleable(2, 5, 10), 100);
    check_eq(plan_text(b.snapshot, "easy"), "start 1 [5] ->5\n");
}

TEST(a_preferred_size_that_is_not_allowed_is_rounded_down) {
    SnapshotBuilder b({10});
    b.queue(1, malleable(2, 5, 10), 100).elastic.sizes = *parse_size_rule("pow2");
    check_eq(plan_text(b.snapshot, "easy"), "start 1 [4] ->4\n");
}

namespace {

Sizing range(int least, int most) {
    Sizing elastic = rigid(least);
    elastic.max = most;
    return elastic;
}

}  // namespace

TEST(a_job_with_a_range_takes_what_is_idle) {
    SnapshotBuilder b({10});
    b.queue(1, range(2, 6), 100);
    b.queue(2, range(2, 6), 100);
    check_eq(plan_text(b.snapshot, "easy"), "start 1 [6] ->6\nstart 2 [4] ->4\n");
}

// [packet]: with more nodes than it needs a group is over sooner, which backfilling counts on.
TEST(a_group_of_jobs_is_planned_by_its_time_on_the_nodes_it_takes) {
    const auto plan_with = [](Duration initialisation) {
        SnapshotBuilder b({4});
        b.run(1, rigid(4), {4}, 100);
        b.queue(10, rigid(8), 50);  // at +100
        PendingJob& group = b.queue(11, range(1, 6), 0);
        group.divisible = 300;
        group.duration = initialisation + group.divisible;
        return plan_text(b.snapshot, "easy");
    };
    check_eq(plan_with(25), "start 11 [4] ->4 backfilled\nreserve 10 [8] ->8 at +100\n");
    check_eq(plan_with(26), "reserve 10 [8] ->8 at +100\n");
}

TEST(a_job_with_a_range_delays_no_reservation) {
    SnapshotBuilder b({4});
    b.run(1, rigid(6), {6}, 100);
    b.queue(10, rigid(8), 50);       // 2 extra nodes at +100
    b.queue(11, range(1, 4), 1000);  // which it takes
    check_eq(plan_text(b.snapshot, "easy"),
             "start 11 [2] ->2 backfilled\nreserve 10 [8] ->8 at +100\n");
}

TEST(a_job_with_a_range_waits_for_its_least_size_only) {
    SnapshotBuilder b({1});
    b.run(1, rigid(2), {2}, 100);
    b.queue(10, range(2, 6), 50);
    check_eq(plan_text(b.snapshot, "easy"), "reserve 10 [2] ->2 at +100\n");
}

// Contiguous nodes, say, which only Slurm knows to find: 4 are free, but not 3 such.
TEST(a_job_that_has_no_room_yet_has_a_reservation_for_when_more_is_free) {
    SnapshotBuilder b({4});
    b.run(1, rigid(1), {1}, 100);
    b.queue(10, rigid(3), 50).not_before = b.snapshot.now + 100;
    b.queue(11, rigid(4), 100);  // is over by then
    check_eq(plan_text(b.snapshot, "easy"),
             "start 11 [4] ->4 backfilled\nreserve 10 [3] ->3 at +100\n");
    b.snapshot.pending[1].duration = 101;  // 2 of these are extra nodes
    check_eq(plan_text(b.snapshot, "easy"), "reserve 10 [3] ->3 at +100\n");
    b.snapshot.pending[1].elastic = rigid(2);
    check_eq(plan_text(b.snapshot, "easy"),
             "start 11 [2] ->2 backfilled\nreserve 10 [3] ->3 at +100\n");
}

TEST(first_fit_starts_whoever_fits_however_long_it_delays_others) {
    SnapshotBuilder b({4});
    b.run(1, rigid(6), {6}, 100);
    b.queue(10, rigid(10), 50);
    b.queue(11, rigid(3), 1000);
    b.queue(12, rigid(2), 1000);
    b.queue(13, rigid(1), 1000);
    check_eq(plan_text(b.snapshot, "easy"), "reserve 10 [10] ->10 at +100\n");
    Policy policy = *preset("easy");
    policy.backfill = Backfill::first_fit;
    check_eq(plan_text(b.snapshot, policy),
             "start 11 [3] ->3 backfilled\nstart 13 [1] ->1 backfilled\n");
}

TEST(nobody_waits_for_a_job_that_will_have_no_room) {
    SnapshotBuilder b({4});
    b.queue(10, rigid(3), 50).not_before = kNever;
    b.queue(11, rigid(4), 1000);
    for (const auto* policy : {"easy", "conservative", "fcfs"})
        check_eq(plan_text(b.snapshot, policy), "start 11 [4] ->4\n");
}

// A site's jobs of low priority, say.
TEST(nobody_waits_for_a_job_that_may_have_no_reservation) {
    SnapshotBuilder b({4});
    b.run(1, rigid(6), {6}, 100);
    b.queue(10, rigid(10), 50).reserves = 0;
    b.queue(11, rigid(4), 1000);
    for (const auto* policy : {"easy", "conservative", "fcfs"})
        check_eq(plan_text(b.snapshot, policy), "start 11 [4] ->4\n");
}

TEST(of_copies_as_many_have_reservations_as_may) {
    SnapshotBuilder b;
    b.run(1, rigid(2), {2}, 100);
    PendingJob& array = b.queue(10, rigid(2), 50);
    array.copies = 3;
    array.reserves = 2;
    check_eq(plan_text(b.snapshot, "conservative"),
             "reserve 10 [2] ->2 at +150\nreserve 10 [2] ->2 at +100\n");
    check_eq(plan_text(b.snapshot, "easy"), "reserve 10 [2] ->2 at +100\n");
}

TEST(a_reservation_begins_within_the_window) {
    SnapshotBuilder b({4});
    b.run(1, rigid(2), {2}, 50);
    b.run(2, rigid(4), {4}, 100);
    b.queue(10, rigid(10), 50);
    b.queue(11, rigid(6), 50);
    b.queue(12, rigid(4), 1000);
    b.snapshot.window = 100;
    check_eq(plan_text(b.snapshot, "easy"), "reserve 10 [10] ->10 at +100\n");
    b.snapshot.window = 99;  // the next one is whom others wait for
    check_eq(plan_text(b.snapshot, "easy"), "reserve 11 [6] ->6 at +50\n");
    b.snapshot.window = 49;
    check_eq(plan_text(b.snapshot, "easy"), "start 12 [4] ->4 backfilled\n");
}

TEST(easy_backfills_what_ends_by_the_shadow_time) {
    SnapshotBuilder b({4});
    b.run(1, rigid(6), {6}, 100);
    b.queue(10, rigid(10), 50);
    b.queue(11, rigid(2), 100);  // ends exactly at the shadow time
    b.queue(12, rigid(2), 101);  // a second too late
    check_eq(plan_text(b.snapshot, "easy"),
             "start 11 [2] ->2 backfilled\nreserve 10 [10] ->10 at +100\n");
}

TEST(easy_backfills_on_extra_nodes_and_uses_them_up) {
    SnapshotBuilder b({4});
    b.run(1, rigid(6), {6}, 100);
    b.queue(10, rigid(7), 50);    // 3 extra nodes at +100
    b.queue(11, rigid(2), 1000);  // takes two of them
    b.queue(12, rigid(2), 1000);  // one is left
    b.queue(13, rigid(1), 1000);
    check_eq(plan_text(b.snapshot, "easy"),
             "start 11 [2] ->2 backfilled\nstart 13 [1] ->1 backfilled\n"
             "reserve 10 [7] ->7 at +100\n");
}

// Job 9 was to start at +10, and can at +100.
TEST(nobody_is_backfilled_past_the_latest_start_that_was_promised) {
    SnapshotBuilder b({3});
    b.run(1, rigid(4), {4}, 100);
    b.queue(9, rigid(6), 50).promised = 1010;
    PendingJob& other = b.queue(10, rigid(3), 31);
    Policy policy = *preset("easy");
    policy.head_delay = 20;
    const std::string overtaken = "start 10 [3] ->3 backfilled\nreserve 9 [6] ->6 at +100\n";
    const std::string kept = "reserve 9 [6] ->6 at +100\n";
    check_eq(plan_text(b.snapshot, policy), overtaken);
    policy.head_delay_binds = HeadDelayBinds::all;
    check_eq(plan_text(b.snapshot, policy), kept);
    other.duration = 30;
    check_eq(plan_text(b.snapshot, policy), overtaken);
    policy.head_delay = kNever;
    other.duration = 100;
    check_eq(plan_text(b.snapshot, policy), overtaken);
}

// Job 9 was to start at +10.  Job 8, which comes before it, starts now and stays: it may, and so
// job 9 is promised another start, and nothing is idle for it meanwhile.
TEST(a_promise_does_not_bind_who_comes_before_the_job) {
    SnapshotBuilder b({5});
    b.run(1, rigid(2), {2}, 100);
    b.queue(8, rigid(2), 500);
    b.queue(9, rigid(6), 50).promised = 1010;
    b.queue(10, rigid(3), 90);
    Policy policy = *preset("easy");
    policy.head_delay = 20;
    policy.head_delay_binds = HeadDelayBinds::all;
    check_eq(plan_text(b.snapshot, policy),
             "start 8 [2] ->2\nstart 10 [3] ->3 backfilled\nreserve 9 [6] ->6 at +500 anew\n");
    b.snapshot.pending[0].duration = 10;
    check_eq(plan_text(b.snapshot, policy), "start 8 [2] ->2\nreserve 9 [6] ->6 at +100\n");
}

// Job 8 waits for the first pool, job 9 for both.  When it was promised a start it did not.
TEST(a_promise_does_not_bind_while_another_job_comes_first) {
    SnapshotBuilder b({1, 3});
    b.run(1, rigid(3), {3, 0}, 100);
    b.queue(8, rigid(4), 500, b.eligibility({0}));
    b.queue(9, rigid(6), 50).promised = 1010;
    b.queue(10, rigid(3), 90);
    Policy policy = *preset("easy");
    policy.head_delay = 20;
    policy.head_delay_binds = HeadDelayBinds::all;
    check_eq(plan_text(b.snapshot, policy),
             "start 10 [1,2] ->3 backfilled\nreserve 8 [4,0] ->4 at +100\n"
             "reserve 9 [4,2] ->6 at +600 anew\n");
}

TEST(a_head_without_a_promise_keeps_nothing) {
    SnapshotBuilder b({3});
    b.run(1, rigid(4), {4}, 100);
    b.queue(9, rigid(6), 50);
    b.queue(10, rigid(3), 100);
    Policy policy = *preset("easy");
    policy.head_delay = 0;
    policy.head_delay_binds = HeadDelayBinds::all;
    check_eq(plan_text(b.snapshot, policy),
             "start 10 [3] ->3 backfilled\nreserve 9 [6] ->6 at +100\n");
}

// The bound is over: what is idle is its own at once, but for what will be back.
TEST(past_the_bound_nothing_is_backfilled_but_within_the_resize_gap) {
    SnapshotBuilder b({3});
    b.run(1, rigid(4), {4}, 100);
    b.queue(9, rigid(6), 50).promised = 500;
    PendingJob& other = b.queue(10, rigid(3), 1);
    Policy policy = *preset("easy");
    policy.head_delay = 20;
    policy.head_delay_binds = HeadDelayBinds::all;
    check_eq(plan_text(b.snapshot, policy), "reserve 9 [6] ->6 at +100\n");
    policy.resize_gap = 2;
    check_eq(plan_text(b.snapshot, policy),
             "start 10 [3] ->3 backfilled\nreserve 9 [6] ->6 at +100\n");
    other.duration = 3;
    check_eq(plan_text(b.snapshot, policy), "reserve 9 [6] ->6 at +100\n");
}

TEST(jobs_that_end_at_one_instant_count_together_for_the_extra_nodes) {
    SnapshotBuilder b({2});
    b.run(1, rigid(3), {3}, 100);
    b.run(2, rigid(5), {5}, 100);
    b.queue(10, rigid(5), 50);
    b.queue(11, rigid(2), 1000);
    check_eq(plan_text(b.snapshot, "easy"),
             "start 11 [2] ->2 backfilled\nreserve 10 [5] ->5 at +100\n");
}

TEST(fcfs_lets_nobody_overtake_in_the_same_pool) {
    SnapshotBuilder b({4, 4});
    b.run(1, rigid(6), {6, 0}, 100);
    const EligibilityId first = b.eligibility({0}), second = b.eligibility({1});
    b.queue(10, rigid(10), 50, first);
    b.queue(11, rigid(1), 1, first);
    b.queue(12, rigid(3), 1000, second);
    check_eq(plan_text(b.snapshot, "fcfs"), "start 12 [0,3] ->3\nreserve 10 [10,0] ->10 at +100\n");
}

TEST(each_independent_group_of_jobs_has_its_own_head) {
    SnapshotBuilder b({2, 2});
    b.run(1, rigid(6), {6, 0}, 100);
    b.run(2, rigid(6), {0, 6}, 200);
    const EligibilityId first = b.eligibility({0}), second = b.eligibility({1});
    b.queue(10, rigid(8), 50, first);
    b.queue(11, rigid(8), 50, second);
    b.queue(12, rigid(2), 1000, second);
    b.queue(13, rigid(2), 200, second);
    check_eq(plan_text(b.snapshot, "easy"),
             "start 13 [0,2] ->2 backfilled\n"
             "reserve 10 [8,0] ->8 at +100\nreserve 11 [0,8] ->8 at +200\n");
}

TEST(pools_are_taken_in_the_order_of_the_eligibility) {
    SnapshotBuilder b({3, 3});
    b.queue(1, rigid(4), 10, b.eligibility({1, 0}));
    check_eq(plan_text(b.snapshot, "easy"), "start 1 [1,3] ->4\n");
}

TEST(a_job_larger_than_its_pools_blocks_nobody) {
    for (const char* policy : {"fcfs", "easy"}) {
        SnapshotBuilder b({4});
        b.queue(1, rigid(5), 10);
        b.queue(2, rigid(4), 1e6);
        check_eq(plan_text(b.snapshot, policy), "start 2 [4] ->4\n");
    }
}

TEST(a_job_that_has_outrun_its_estimate_ends_at_the_next_instant) {
    SnapshotBuilder b({4});
    b.run(1, rigid(6), {6}, -500);
    b.queue(10, rigid(10), 50);
    b.queue(11, rigid(2), 1);  // would end later than the next instant
    const std::string text = plan_text(b.snapshot, "easy");
    check_that(text.starts_with("reserve 10 [10] ->10 at +"));
}

TEST(jobs_without_limit_leave_the_head_without_reservation) {
    SnapshotBuilder b({4});
    b.run(1, rigid(6), {6}, 0).estimated_end = kNever;
    b.queue(10, rigid(10), 50);
    b.queue(11, rigid(4), kNever);
    check_eq(plan_text(b.snapshot, "easy"), "start 11 [4] ->4 backfilled\n");
}

TEST(a_zero_length_job_and_a_request_for_the_whole_machine) {
    SnapshotBuilder b({4});
    b.queue(1, rigid(4), 0);
    b.queue(2, rigid(4), 10);
    const std::string text = plan_text(b.snapshot, "easy");
    check_that(text.starts_with("start 1 [4] ->4\nreserve 2 [4] ->4 at +"));
}

TEST(a_job_that_shares_nodes_is_tried_on_partly_used_ones) {
    SnapshotBuilder b({0});
    b.share(0, 2, 1100);
    b.queue(1, rigid(1), 500).shares_nodes = true;
    check_eq(plan_text(b.snapshot, "easy"), "start 1 [0] ->1\n");
    b.snapshot.pending[0].not_before = b.snapshot.now + 100;
    check_eq(plan_text(b.snapshot, "easy"), "reserve 1 [1] ->1 at +100\n");
}

TEST(a_job_that_shares_nodes_does_not_delay_a_reservation) {
    SnapshotBuilder b({0});
    b.share(0, 2, 1100);
    b.queue(1, rigid(2), 500);
    b.queue(2, rigid(1), 101).shares_nodes = true;
    check_eq(plan_text(b.snapshot, "easy"), "reserve 1 [2] ->2 at +100\n");
    b.snapshot.pending[1].duration = 100;
    check_eq(plan_text(b.snapshot, "easy"),
             "start 2 [0] ->1 backfilled\nreserve 1 [2] ->2 at +100\n");
}

namespace {

PoolCounts of_action(const SnapshotBuilder& b, JobId job, PoolCounts Action::*counts) {
    Planner planner;
    Rng rng(1);
    for (const Action& action : planner.plan(b.snapshot, *preset("easy"), rng).actions)
        if (action.job == job) return action.*counts;
    return {};
}

PoolCounts spare(const SnapshotBuilder& b, JobId job) {
    return of_action(b, job, &Action::spare);
}

PoolCounts parts(const SnapshotBuilder& b, JobId job) {
    return of_action(b, job, &Action::parts);
}

}  // namespace

// The first pool is that of a reservation.
TEST(a_job_shares_nodes_of_a_pool_in_which_it_delays_nobody) {
    SnapshotBuilder b({0, 0, 0});
    for (const PoolId pool : {0, 1, 2}) b.share(pool, 1, 1100);
    b.queue(1, rigid(1), 500).eligible = b.eligibility({0});
    b.queue(2, rigid(1), 101).shares_nodes = true;
    check_eq(plan_text(b.snapshot, "easy"),
             "start 2 [0,0,0] ->1 backfilled\nreserve 1 [1,0,0] ->1 at +100\n");
    check_that((parts(b, 2) == PoolCounts{0, 1, 1}));
    b.snapshot.pending[1].duration = 100;  // so that it delays nobody in any pool
    check_that(parts(b, 2).empty());
    b.snapshot.pending[1].duration = 101;
    b.snapshot.pending[1].elastic = rigid(3);  // more than there are in the other two
    check_eq(plan_text(b.snapshot, "easy"),
             "reserve 1 [1,0,0] ->1 at +100\nreserve 2 [1,1,1] ->3 at +600\n");
}

TEST(what_nobody_else_is_planned_on_is_spare) {
    SnapshotBuilder b({4, 3, 2});
    const EligibilityId two = b.eligibility({0, 1}), third = b.eligibility({0, 2});
    b.queue(1, rigid(1), 100).eligible = two;
    b.queue(2, rigid(2), 100).eligible = third;
    check_that((spare(b, 1) == PoolCounts{1, 3, 0}));
    check_that((spare(b, 2) == PoolCounts{1, 0, 2}));
}

TEST(what_a_reservation_needs_before_the_job_ends_is_not_spare) {
    SnapshotBuilder b({4, 2});
    b.run(1, rigid(2), {0, 2}, 100);
    const EligibilityId second = b.eligibility({1});
    b.queue(2, rigid(4), 100).eligible = second;
    b.queue(3, rigid(1), 100);
    check_that((spare(b, 3) == PoolCounts{3, 2}));
    b.snapshot.pending[1].duration = 101;
    check_that((spare(b, 3) == PoolCounts{3, 0}));
}

TEST(a_head_of_no_length_has_a_reservation_all_the_same) {
    SnapshotBuilder b({12});
    b.run(1, rigid(5), {5}, 35);
    b.queue(2, rigid(13), 0);
    b.queue(3, rigid(9), 62);
    check_eq(plan_text(b.snapshot, "easy"), "reserve 2 [13] ->13 at +35\n");
}

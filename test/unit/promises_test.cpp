// SPDX-License-Identifier: MIT
// Agreements in flight: nodes kept for them, claims, offers taken back.
#include "plan_test.hpp"

using namespace elastic;
using namespace elastic::core;
using namespace elastic::testing;

TEST(nodes_of_an_accepted_expansion_are_not_given_away) {
    SnapshotBuilder b({4});
    b.run(1, malleable(1, 2, 5), {2}, 100);
    b.promise(ResizeKind::expand, 7, 1, {3});
    b.queue(9, rigid(1), 10);
    b.queue(10, rigid(1), 10);
    check_eq(plan_text(b.snapshot), "start 9 [1] ->1\nreserve 10 [1] ->1 at +10\n");
}

TEST(the_latest_offers_are_withdrawn_when_the_queue_needs_their_nodes) {
    SnapshotBuilder b({4});
    b.run(1, malleable(1, 2, 4), {2}, 100);
    b.run(2, malleable(1, 2, 4), {2}, 100);
    b.promise(ResizeKind::expand, 8, 2, {2}).revocable = true;
    b.promise(ResizeKind::expand, 7, 1, {2}).revocable = true;
    b.queue(9, rigid(2), 10);
    check_eq(plan_text(b.snapshot), "withdraw 2 op8 [2]\nstart 9 [2] ->2\n");
}

TEST(an_offer_is_withdrawn_when_a_reservation_counts_on_its_nodes) {
    SnapshotBuilder b({2});
    b.run(1, malleable(2, 2, 4), {2}, 200);
    b.run(2, rigid(2), {2}, 100);
    b.promise(ResizeKind::expand, 7, 1, {2}).revocable = true;
    check_eq(plan_text(b.snapshot), "");
    b.queue(9, rigid(4), 10);
    check_eq(plan_text(b.snapshot), "withdraw 1 op7 [2]\nreserve 9 [4] ->4 at +100\n");
    b.snapshot.running[0].estimated_end = 1100;  // it gives them back in time
    check_eq(plan_text(b.snapshot), "reserve 9 [4] ->4 at +100\n");
}

TEST(an_offer_of_nodes_that_slurm_has_refused_to_the_queue_is_not_withdrawn) {
    SnapshotBuilder b({4});
    b.run(1, malleable(2, 2, 6), {2}, 200);
    b.run(2, rigid(2), {2}, 100);
    b.promise(ResizeKind::expand, 7, 1, {4}).revocable = true;
    PendingJob& job = b.queue(9, rigid(3), 10);
    check_eq(plan_text(b.snapshot), "withdraw 1 op7 [4]\nstart 9 [3] ->3\n");
    job.not_before = b.snapshot.now + 100;
    check_eq(plan_text(b.snapshot), "reserve 9 [3] ->3 at +100\n");
}

TEST(a_claimed_job_waits_and_keeps_the_idle_nodes_it_needs) {
    SnapshotBuilder b({2});
    b.run(1, malleable(2, 6, 6), {6}, 100);
    b.promise(ResizeKind::shrink, 7, 1, {3}).beneficiary = 9;
    b.queue(8, rigid(2), 10);
    b.queue(9, rigid(4), 10).claimed = true;
    // One idle node is set aside; at +10 job 9 ends with its four.
    check_eq(plan_text(b.snapshot), "reserve 8 [2] ->2 at +10\n");
    b.snapshot.pools[0].idle = 3;
    b.snapshot.pools[0].nodes = 9;
    check_eq(plan_text(b.snapshot), "start 8 [2] ->2\n");
}

TEST(a_claimed_job_keeps_what_it_needs_for_the_size_it_is_to_start_with) {
    SnapshotBuilder b({2});
    b.run(1, malleable(2, 6, 6), {6}, 100);
    Promise& promise = b.promise(ResizeKind::shrink, 7, 1, {3});
    promise.beneficiary = 9;
    b.queue(8, rigid(2), 10);
    b.queue(9, malleable(3, 4, 8), 20).claimed = true;
    check_eq(plan_text(b.snapshot), "start 8 [2] ->2\n");
    promise.size = 5;
    check_eq(plan_text(b.snapshot), "reserve 8 [2] ->2 at +20\n");
    promise.size = 100;  // as many as it may have by now
    check_eq(plan_text(b.snapshot), "reserve 8 [2] ->2 at +20\n");
    b.snapshot.pending[1].elastic.max = 4;
    b.snapshot.pools[0].idle = 3;
    b.snapshot.pools[0].nodes = 9;
    check_eq(plan_text(b.snapshot), "start 9 [3] ->3 nodes came free\nreserve 8 [2] ->2 at +20\n");
}

TEST(a_claimed_job_keeps_the_idle_nodes_that_were_chosen_for_it) {
    SnapshotBuilder b({2, 2});
    b.run(1, malleable(2, 6, 6), {6, 0}, 100);
    b.promise(ResizeKind::shrink, 7, 1, {3, 0}).beneficiary = 9;
    b.queue(9, rigid(5), 10).claimed = true;
    b.queue(10, rigid(2), 10, b.eligibility({0}));
    b.queue(11, rigid(2), 10, b.eligibility({1}));
    // Of the pool that it prefers, if none were chosen.
    check_eq(plan_text(b.snapshot), "start 11 [0,2] ->2\nreserve 10 [2,0] ->2 at +10\n");
    b.snapshot.claims.push_back({9, {0, 2}});
    check_eq(plan_text(b.snapshot), "start 10 [2,0] ->2\nreserve 11 [0,2] ->2 at +10\n");
    b.snapshot.claims[0].nodes = {0, 1};  // one has gone since
    check_eq(plan_text(b.snapshot), "reserve 10 [2,0] ->2 at +10\nreserve 11 [0,2] ->2 at +10\n");
}

TEST(a_claimed_job_starts_when_idle_nodes_suffice) {
    SnapshotBuilder b({4});
    b.run(1, malleable(2, 6, 6), {6}, 100);
    b.promise(ResizeKind::shrink, 7, 1, {3}).beneficiary = 9;
    b.queue(9, rigid(4), 10).claimed = true;
    check_eq(plan_text(b.snapshot), "start 9 [4] ->4 nodes came free\n");
}

TEST(a_claimed_job_starts_at_its_preferred_size_if_that_is_idle) {
    SnapshotBuilder b({4});
    b.run(1, malleable(2, 6, 6), {6}, 100);
    b.promise(ResizeKind::shrink, 7, 1, {2}).beneficiary = 9;
    b.queue(9, malleable(2, 4, 8), 10).claimed = true;
    check_eq(plan_text(b.snapshot), "start 9 [4] ->4 nodes came free\n");
    b.snapshot.pools[0].idle = 3;
    Policy least = *preset("lina-default");
    least.initial_size = InitialSize::least;
    check_eq(plan_text(b.snapshot, least), "start 9 [2] ->2 nodes came free\n");
}

TEST(a_claimed_job_gets_no_second_round_of_shrinks) {
    SnapshotBuilder b({0});
    b.run(1, malleable(2, 6, 6), {6}, 100);
    b.run(2, malleable(2, 6, 6), {6}, 100);
    b.promise(ResizeKind::shrink, 7, 1, {3}).beneficiary = 9;
    b.queue(9, rigid(4), 10).claimed = true;  // another victim has declined
    check_eq(plan_text(b.snapshot), "");
}

TEST(a_growth_does_not_take_nodes_that_are_set_aside) {
    SnapshotBuilder b({2});
    b.run(1, malleable(2, 6, 6), {6}, 100);
    b.run(2, evolving(1, 2, 8), {2}, 100);
    b.promise(ResizeKind::shrink, 7, 1, {3}).beneficiary = 9;
    b.queue(9, rigid(4), 10).claimed = true;
    b.request(8, 2, 2, 2, 1000);
    check_eq(plan_text(b.snapshot), "deny 2 op8: not enough nodes until the deadline\n");
}

TEST(nodes_that_a_victim_gives_to_anybody_come_free_soon) {
    SnapshotBuilder b({0});
    b.run(1, malleable(2, 6, 6), {6}, 100);
    b.promise(ResizeKind::shrink, 7, 1, {4});
    b.queue(9, rigid(4), 10);
    check_that(plan_text(b.snapshot).starts_with("reserve 9 [4] ->4 at +"));
    check_that(!plan_text(b.snapshot).starts_with("reserve 9 [4] ->4 at +100"));
}

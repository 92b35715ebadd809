// SPDX-License-Identifier: MIT
// Reserved nodes that are lent: who gets them, when they come back, what a reservation counts on.
#include "plan_test.hpp"

using namespace elastic;
using namespace elastic::core;
using namespace elastic::testing;

namespace {

Policy lending() {
    Policy policy = *preset("lina-default");
    policy.reserved_nodes = ReservedNodes::lent;
    return policy;
}

// Job 9 waits until +100 for 9 nodes; of the 12 there will be then 4 are idle now.
SnapshotBuilder four_nodes_reserved() {
    SnapshotBuilder b({4});
    b.run(1, malleable(4, 4, 16), {4}, 500);
    b.run(2, rigid(8), {8}, 100);
    b.queue(9, rigid(9), 10);
    return b;
}

const std::string kLent = "expand 1 [4] ->8 lent\nreserve 9 [9] ->9 at +100\n";
const std::string kKept = "expand 1 [3] ->7\nreserve 9 [9] ->9 at +100\n";

}  // namespace

TEST(a_job_may_have_reserved_nodes_that_it_can_give_back) {
    const SnapshotBuilder b = four_nodes_reserved();
    check_eq(plan_text(b.snapshot, lending()), kLent);
    check_eq(plan_text(b.snapshot, "lina-default"), kKept);
}

TEST(the_reservation_stands_while_its_nodes_are_lent) {
    SnapshotBuilder b({0});
    b.run(1, malleable(4, 4, 16), {8}, 250);
    b.run(2, rigid(8), {8}, 100);
    b.queue(9, rigid(9), 10);
    check_eq(plan_text(b.snapshot, lending()), "reserve 9 [9] ->9 at +100\n");
}

TEST(lent_nodes_come_back_when_the_reserved_job_can_start) {
    SnapshotBuilder b({8});  // job 2 has ended
    b.run(1, malleable(4, 4, 16), {8}, 150);
    b.queue(9, rigid(9), 10);
    check_eq(plan_text(b.snapshot, lending()),
             "shrink 1 [1] ->7 for 9\nstart 9 [9] ->9 deferred\n");
}

// At +50 there will be 1 idle node, 5 of job 2 and 6 above the minimum of job 1.
TEST(a_reservation_counts_on_what_malleable_jobs_can_give_back) {
    SnapshotBuilder b({1});
    b.run(1, malleable(2, 8, 8), {8}, 500);
    b.run(2, rigid(5), {5}, 50);
    b.run(3, rigid(4), {4}, 100);
    b.queue(8, rigid(12), 10);
    check_eq(plan_text(b.snapshot, lending()), "reserve 8 [12] ->12 at +50\n");
    check_eq(plan_text(b.snapshot, "lina-default"), "reserve 8 [12] ->12 at +500\n");
    // So a job that would hold the idle node at +50 has to wait.
    b.queue(9, rigid(1), 51);
    check_eq(plan_text(b.snapshot, lending()), "reserve 8 [12] ->12 at +50\n");
    b.snapshot.pending[1].duration = 50;
    check_eq(plan_text(b.snapshot, lending()),
             "start 9 [1] ->1 backfilled\nreserve 8 [12] ->12 at +50\n");
}

// Victims for others give what no reservation counts on.
TEST(what_a_reservation_counts_on_is_not_given_to_others) {
    SnapshotBuilder b({0});
    b.run(1, malleable(2, 8, 8), {8}, 500);
    b.run(2, rigid(5), {5}, 50);
    b.queue(8, rigid(11), 10);
    b.queue(9, rigid(1), 60);
    check_eq(plan_text(b.snapshot, lending()), "reserve 8 [11] ->11 at +50\n");
    b.snapshot.pending[0].elastic = rigid(10);
    check_eq(plan_text(b.snapshot, lending()),
             "shrink 1 [1] ->7 for 9\nstart 9 [1] ->1 deferred\nreserve 8 [10] ->10 at +50\n");
}

// What takes 100 s on 4 nodes takes 50 s on 8; what it would save after that does not count.
TEST(a_loan_pays_for_its_resizes) {
    SnapshotBuilder b = four_nodes_reserved();
    b.snapshot.running[0].elastic.cost.sync = 24;
    check_eq(plan_text(b.snapshot, lending()), kLent);
    b.snapshot.running[0].elastic.cost.sync = 26;
    check_eq(plan_text(b.snapshot, lending()), kKept);
}

TEST(who_has_declined_or_not_answered_is_lent_nothing) {
    SnapshotBuilder b = four_nodes_reserved();
    b.snapshot.running[0].not_before = 1;
    check_eq(plan_text(b.snapshot, lending()), kKept);
}

TEST(who_asks_for_nodes_is_lent_nothing) {
    SnapshotBuilder b = four_nodes_reserved();
    b.snapshot.running[0].elastic.evolving = true;
    b.request(7, 1, 20, 20, kNever);
    check_eq(plan_text(b.snapshot, lending()),
             "deny 1 op7: beyond the job's maximum\nreserve 9 [9] ->9 at +100\n");
}

TEST(nothing_is_lent_that_cannot_be_back_in_time) {
    SnapshotBuilder b = four_nodes_reserved();
    Policy policy = lending();
    policy.resize_gap = 101;
    check_eq(plan_text(b.snapshot, policy), kKept);
    policy.resize_gap = 100;
    check_eq(plan_text(b.snapshot, policy), kLent);
}

// At +1 a job ends and the reserved job can start, but not if job 1 is resized now.
TEST(a_job_is_not_expanded_if_a_reservation_counts_on_it_before_its_gap_is_over) {
    SnapshotBuilder b({1});
    b.run(1, malleable(1, 4, 8), {4}, 500);
    b.run(2, rigid(4), {4}, 1);
    b.queue(9, rigid(8), 10);
    Policy policy = lending();
    policy.resize_gap = 2;
    check_eq(plan_text(b.snapshot, policy), "reserve 9 [8] ->8 at +1\n");
    policy.resize_gap = 1;
    check_eq(plan_text(b.snapshot, policy), "expand 1 [1] ->5 lent\nreserve 9 [8] ->8 at +1\n");
}

TEST(reserved_nodes_are_kept_where_a_shrink_might_be_refused) {
    SnapshotBuilder b = four_nodes_reserved();
    b.snapshot.running[0].start = 900;  // or it is not feasible, being nearly done
    Policy policy = lending();
    policy.shrink_guard = ShrinkGuard::application;
    check_eq(plan_text(b.snapshot, policy), kKept);
    policy = lending();
    policy.shrink_amount = ShrinkAmount::share;
    check_eq(plan_text(b.snapshot, policy), kKept);
    policy = lending();
    policy.feasibility = Feasibility::mebf;
    check_eq(plan_text(b.snapshot, policy), kKept);
}

TEST(an_offer_of_reserved_nodes_is_not_withdrawn) {
    SnapshotBuilder b = four_nodes_reserved();
    b.promise(ResizeKind::expand, 7, 1, {4}).revocable = true;
    check_eq(plan_text(b.snapshot, lending()), "reserve 9 [9] ->9 at +100\n");
    check_eq(plan_text(b.snapshot, "lina-default"),
             "withdraw 1 op7 [4]\nreserve 9 [9] ->9 at +100\n");
    b.snapshot.promises[0].revocable = false;  // accepted: it stays in any case, but
    check_eq(plan_text(b.snapshot, lending()), "reserve 9 [9] ->9 at +100\n");
    check_eq(plan_text(b.snapshot, "lina-default"), "reserve 9 [9] ->9 at +500\n");
}

// What it gives back is counted on in one pool only: first in others than its batch host's.
TEST(nodes_are_lent_in_the_pool_in_which_they_are_counted_on_to_come_back) {
    SnapshotBuilder b({0, 2});
    b.run(1, malleable(2, 2, 8), {2, 0}, 500);
    b.run(2, rigid(3), {0, 3}, 100);
    b.queue(9, rigid(5), 10, b.eligibility({1}));
    check_eq(plan_text(b.snapshot, lending()),
             "expand 1 [0,2] ->4 lent\nreserve 9 [0,5] ->5 at +100\n");
    SnapshotBuilder other({2, 0});
    other.run(1, malleable(2, 2, 8), {1, 1}, 500);
    other.run(2, rigid(3), {3, 0}, 100);
    other.queue(9, rigid(5), 10, other.eligibility({0}));
    check_eq(plan_text(other.snapshot, lending()), "reserve 9 [5,0] ->5 at +100\n");
}

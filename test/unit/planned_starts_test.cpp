// SPDX-License-Identifier: MIT
// What another scheduler has planned for jobs that wait (Starts=slurm) binds all that is decided.
#include "plan_test.hpp"

using namespace elastic;
using namespace elastic::core;
using namespace elastic::testing;

namespace {

void plan_start(SnapshotBuilder& b, JobId job, Duration in, Duration duration, PoolCounts nodes) {
    const Time from = b.snapshot.now + in;
    b.snapshot.planned.push_back({job, from, from + duration, std::move(nodes)});
    check_ok(validate(b.snapshot));
}

}  // namespace

TEST(an_expansion_leaves_nodes_that_are_planned_for_others) {
    SnapshotBuilder b({4});
    b.run(1, malleable(2, 2, 8), {2}, 500);
    b.run(2, rigid(4), {4}, 100);
    b.queue(8, rigid(5), 50);  // EASY reserves for it alone
    b.queue(9, rigid(2), 50);
    check_eq(plan_text(b.snapshot),
             "start 9 [2] ->2 backfilled\nexpand 1 [2] ->4\nreserve 8 [5] ->5 at +100\n");
    plan_start(b, 8, 100, 50, {5});
    plan_start(b, 9, 150, 50, {7});
    b.snapshot.pending[1].not_before = 1100;
    check_eq(plan_text(b.snapshot),
             "expand 1 [1] ->3\nreserve 8 [5] ->5 at +100\nreserve 9 [7] ->7 at +150\n");
}

TEST(a_job_that_only_the_other_scheduler_knows_has_its_nodes) {
    SnapshotBuilder b({4});
    b.run(1, malleable(1, 2, 8), {2}, 500);
    plan_start(b, 9, 10, 50, {3});
    check_eq(plan_text(b.snapshot), "expand 1 [1] ->3\n");
    b.snapshot.running[0].estimated_end = b.snapshot.now + 10;
    check_eq(plan_text(b.snapshot), "expand 1 [4] ->6\n");
}

TEST(a_shrink_that_would_delay_a_planned_start_is_not_made) {
    SnapshotBuilder b;
    b.run(1, malleable(2, 8, 8), {8}, 100);
    b.queue(9, rigid(4), 50);
    check_eq(plan_text(b.snapshot), "shrink 1 [4] ->4 for 9\nstart 9 [4] ->4 deferred\n");
    b.queue(10, rigid(8), 50);
    plan_start(b, 10, 100, 50, {8});
    check_eq(plan_text(b.snapshot), "reserve 9 [4] ->4 at +150\nreserve 10 [8] ->8 at +100\n");
}

TEST(its_own_planned_start_is_no_obstacle_to_a_job) {
    SnapshotBuilder b;
    b.run(1, malleable(2, 8, 8), {8}, 100);
    b.queue(9, rigid(4), 50);
    plan_start(b, 9, 100, 50, {4});
    check_eq(plan_text(b.snapshot), "shrink 1 [4] ->4 for 9\nstart 9 [4] ->4 deferred\n");
    b.snapshot.pools[0] = {4, 12};
    check_eq(plan_text(b.snapshot), "start 9 [4] ->4\n");
}

TEST(a_planned_start_that_is_over_or_impossible_takes_what_there_is) {
    SnapshotBuilder b({2});
    b.run(1, malleable(1, 2, 8), {2}, 500);
    plan_start(b, 9, 10, 50, {4});
    check_eq(plan_text(b.snapshot), "");
    b.snapshot.planned[0].from = b.snapshot.now - 5;
    check_eq(plan_text(b.snapshot), "expand 1 [2] ->4\n");
}

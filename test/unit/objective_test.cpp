// SPDX-License-Identifier: MIT
// Objective, from turnaround to slowdown: how far jobs grow, how small they start where others
// shrink for them, and whether that is worth it.
#include "plan_test.hpp"

using namespace elastic;
using namespace elastic::core;
using namespace elastic::testing;

namespace {

Policy with_objective(double objective) {
    Policy policy = *preset("elastic");
    policy.objective = objective;
    return policy;
}

// One that has run for long has all idle nodes to grow over.
Snapshot growing() {
    SnapshotBuilder b({20});
    b.run(1, malleable(1, 4, 12), {4}, 1000);
    b.snapshot.running[0].last_resize = -1e6;
    return b.snapshot;
}

// All nodes are in use by one job; another that may have 2 to 8 waits for `duration` seconds of
// work.
Snapshot crowded(Duration duration) {
    SnapshotBuilder b({0});
    b.run(1, malleable(1, 12, 12), {12}, 5000).duration = 10000;
    b.queue(9, malleable(2, 8, 8), duration);
    return b.snapshot;
}

}  // namespace

TEST(the_further_on_the_side_of_slowdown_the_less_jobs_grow_beyond_what_they_prefer) {
    check_eq(plan_text(growing(), with_objective(0)), "expand 1 [8] ->12\n");
    check_eq(plan_text(growing(), with_objective(0.5)), "expand 1 [4] ->8\n");
    check_eq(plan_text(growing(), with_objective(1)), "");
}

TEST(the_further_on_the_side_of_slowdown_the_smaller_jobs_start_at_others_expense) {
    check_eq(plan_text(crowded(100), with_objective(0)),
             "shrink 1 [8] ->4 for 9\nstart 9 [8] ->8 deferred\n");
    check_eq(plan_text(crowded(100), with_objective(0.5)),
             "shrink 1 [6] ->6 for 9\nstart 9 [6] ->6 deferred\n");
    check_eq(plan_text(crowded(100), with_objective(1)),
             "shrink 1 [2] ->10 for 9\nstart 9 [2] ->2 deferred\n");
}

TEST(a_long_job_saves_too_little_of_its_slowdown_to_start_at_others_expense) {
    check_eq(plan_text(crowded(40000), with_objective(1)), "reserve 9 [8] ->8 at +5000\n");
}

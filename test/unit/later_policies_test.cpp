// SPDX-License-Identifier: MIT
// The choices of [wagomu] and [sd], by their presets.
#include "plan_test.hpp"

using namespace elastic;
using namespace elastic::core;
using namespace elastic::testing;

namespace {

// Two jobs with 4 and 2 nodes above their preferred sizes, and one that waits for `nodes`.
SnapshotBuilder above_preferred(Sizing pending) {
    SnapshotBuilder b({0});
    b.run(1, malleable(2, 4, 8), {8}, 100);
    b.run(2, malleable(2, 6, 8), {8}, 200);
    b.queue(9, std::move(pending), 10);
    return b;
}

}  // namespace

TEST(wagomu_min_starts_a_job_with_its_minimum) {
    SnapshotBuilder b({8});
    b.queue(9, malleable(2, 4, 8), 10);
    b.queue(10, rigid(4), 10);
    check_eq(plan_text(b.snapshot, "wagomu-min"), "start 9 [2] ->2\nstart 10 [4] ->4\n");
}

// The other one has fewer nodes.
TEST(wagomu_min_expands_the_job_nearest_to_its_minimum_first) {
    SnapshotBuilder b({4});
    b.run(1, malleable(1, 2, 8), {3}, 200);
    b.run(2, malleable(4, 4, 8), {5}, 100);
    check_eq(plan_text(b.snapshot, "wagomu-min"), "expand 2 [3] ->8\nexpand 1 [1] ->4\n");
}

TEST(wagomu_pref_shrinks_to_preferred_sizes_if_that_suffices) {
    check_eq(plan_text(above_preferred(rigid(6)).snapshot, "wagomu-pref"),
             "shrink 1 [4] ->4 for 9\nshrink 2 [2] ->6 for 9\nstart 9 [6] ->6 deferred\n");
}

TEST(wagomu_pref_shrinks_below_only_for_the_least_that_a_job_needs) {
    check_eq(plan_text(above_preferred(rigid(8)).snapshot, "wagomu-pref"),
             "shrink 1 [6] ->2 for 9\nshrink 2 [2] ->6 for 9\nstart 9 [8] ->8 deferred\n");
    check_eq(plan_text(above_preferred(malleable(7, 8, 8)).snapshot, "wagomu-pref"),
             "shrink 1 [6] ->2 for 9\nshrink 2 [1] ->7 for 9\nstart 9 [7] ->7 deferred\n");
}

TEST(wagomu_keep_pref_never_shrinks_below_a_preferred_size) {
    check_eq(plan_text(above_preferred(rigid(6)).snapshot, "wagomu-keep-pref"),
             "shrink 1 [4] ->4 for 9\nshrink 2 [2] ->6 for 9\nstart 9 [6] ->6 deferred\n");
    check_eq(plan_text(above_preferred(rigid(7)).snapshot, "wagomu-keep-pref"),
             "reserve 9 [7] ->7 at +100\n");
    // Of 4 and 8 the preferred 6 allows 8 alone.
    SnapshotBuilder b = above_preferred(rigid(6));
    b.snapshot.running[1].elastic.sizes = *parse_size_rule("pow2");
    check_eq(plan_text(b.snapshot, "wagomu-keep-pref"), "reserve 9 [6] ->6 at +100\n");
}

TEST(wagomu_keep_pref_starts_no_job_below_its_preferred_size) {
    SnapshotBuilder b({3});
    b.run(1, rigid(4), {4}, 100);
    b.queue(9, malleable(2, 4, 8), 10);
    check_eq(plan_text(b.snapshot, "wagomu-pref"), "start 9 [3] ->3\n");
    check_eq(plan_text(b.snapshot, "wagomu-keep-pref"), "reserve 9 [4] ->4 at +100\n");
}

TEST(wagomu_pref_expands_to_preferred_sizes_first) {
    SnapshotBuilder b({6});
    b.run(1, malleable(2, 4, 12), {4}, 200);
    b.run(2, malleable(2, 6, 12), {4}, 100);
    check_eq(plan_text(b.snapshot, "wagomu-pref"), "expand 2 [2] ->6\nexpand 1 [4] ->8\n");
}

TEST(wagomu_average_leaves_victims_the_same_share_of_their_ranges) {
    SnapshotBuilder b({0});
    b.run(1, malleable(2, 4, 12), {8}, 100);
    b.run(2, malleable(2, 4, 12), {12}, 100);
    b.queue(9, rigid(6), 10);
    check_eq(plan_text(b.snapshot, "wagomu-average"),
             "shrink 2 [5] ->7 for 9\nshrink 1 [1] ->7 for 9\nstart 9 [6] ->6 deferred\n");
}

// The batch host of the second job is the one node of its pool that it could give.
TEST(wagomu_average_takes_more_of_the_others_where_one_cannot_give_its_part) {
    SnapshotBuilder b({0, 0});
    b.run(1, malleable(1, 4, 8), {8, 0}, 100);
    b.run(2, malleable(1, 4, 8), {1, 7}, 100);
    b.queue(9, rigid(6), 10, b.eligibility({0}));
    check_eq(plan_text(b.snapshot, "wagomu-average"),
             "shrink 1 [6,0] ->2 for 9\nstart 9 [6,0] ->6 deferred\n");
}

TEST(wagomu_average_leaves_no_idle_node) {
    SnapshotBuilder b({5});
    b.run(1, malleable(2, 4, 12), {6}, 200);
    b.run(2, malleable(2, 4, 12), {4}, 100);
    check_eq(plan_text(b.snapshot, "wagomu-average"), "expand 2 [4] ->8\nexpand 1 [1] ->7\n");
}

namespace {

// One job soon over and one later, of the same length; `duration`: of one that waits for 2 nodes.
SnapshotBuilder two_alike(Duration duration) {
    SnapshotBuilder b({0});
    b.run(1, malleable(1, 4, 8), {4}, 1000).duration = 2000;
    b.run(2, malleable(1, 4, 8), {4}, 100).duration = 2000;
    b.queue(9, rigid(2), duration);
    return b;
}

}  // namespace

TEST(sd_policy_shrinks_the_job_whose_slowdown_grows_least) {
    check_eq(plan_text(two_alike(10).snapshot, "sd-policy"),
             "shrink 2 [2] ->2 for 9\nstart 9 [2] ->2 deferred\n");
}

// It would start 100 s later; its victim would run for 100 s more of its 2000 s.
TEST(sd_policy_shrinks_only_if_slowdowns_gain_by_it) {
    check_eq(plan_text(two_alike(1990).snapshot, "sd-policy"),
             "shrink 2 [2] ->2 for 9\nstart 9 [2] ->2 deferred\n");
    check_eq(plan_text(two_alike(2010).snapshot, "sd-policy"), "reserve 9 [2] ->2 at +100\n");
}

TEST(sd_policy_expands_nobody_beyond_its_preferred_size) {
    SnapshotBuilder b({6});
    b.run(1, malleable(1, 4, 8), {2}, 100);
    check_eq(plan_text(b.snapshot, "sd-policy"), "expand 1 [2] ->4\n");
}

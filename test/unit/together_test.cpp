// SPDX-License-Identifier: MIT
// Jobs that start together or not at all: the components of heterogeneous jobs.
#include "core/pass/forecast.hpp"
#include "plan_test.hpp"

using namespace elastic;
using namespace elastic::core;
using namespace elastic::testing;

namespace {

constexpr JobId kLeader = 10;

// Components 10, 11, ... of these sizes, at the end of the queue.
void queue_together(SnapshotBuilder& b, std::initializer_list<int> sizes, Duration duration = 100) {
    JobId id = kLeader;
    for (const int size : sizes) b.queue(id++, rigid(size), duration).together = kLeader;
}

// One busy pool and one idle one, each of four nodes, with an eligibility for each.
struct TwoPartitions : SnapshotBuilder {
    EligibilityId busy, idle;

    TwoPartitions() : SnapshotBuilder({0, 4}), busy(eligibility({0})), idle(eligibility({1})) {
        run(1, rigid(4), {4, 0}, 50);
    }
    PendingJob& component(JobId id, int size, EligibilityId where, Duration duration = 100) {
        PendingJob& job = queue(id, rigid(size), duration, where);
        job.together = kLeader;
        return job;
    }
};

std::string forecast_text(const Snapshot& snapshot) {
    Forecast forecast;
    forecast.begin(snapshot, *preset("elastic"));
    while (forecast.step()) {
    }
    std::string text;
    for (const ExpectedStart& start : forecast.starts())
        text += fmt::format("{} +{}..+{}\n", snapshot.pending[start.place].id,
                            start.from - snapshot.now, start.to - snapshot.now);
    return text;
}

}  // namespace

TEST(components_start_together) {
    SnapshotBuilder b({10});
    queue_together(b, {4, 2, 3});
    check_eq(plan_text(b.snapshot, "easy"),
             "start 10 [4] ->4\nstart 11 [2] ->2\nstart 12 [3] ->3\n");
}

TEST(components_that_fit_one_by_one_but_not_together_wait) {
    SnapshotBuilder b({4});
    b.run(1, rigid(2), {2}, 50);
    queue_together(b, {2, 3});
    check_eq(plan_text(b.snapshot, "easy"),
             "reserve 10 [2] ->2 at +50\nreserve 11 [3] ->3 at +50\n");
}

TEST(a_component_waits_for_another_in_a_busy_partition) {
    TwoPartitions b;
    b.component(10, 2, b.idle);
    b.component(11, 2, b.busy);
    b.queue(20, rigid(3), 100, b.idle);  // would take what the first needs
    b.queue(21, rigid(2), 100, b.idle);  // beside it
    b.queue(22, rigid(2), 50, b.idle);   // before it
    check_eq(plan_text(b.snapshot, "easy"),
             "start 21 [0,2] ->2 backfilled\nstart 22 [0,2] ->2 backfilled\n"
             "reserve 10 [0,2] ->2 at +50\nreserve 11 [2,0] ->2 at +50\n");
}

TEST(reservations_begin_when_the_last_of_them_can) {
    SnapshotBuilder b({0, 0});
    const EligibilityId first = b.eligibility({0}), second = b.eligibility({1});
    b.run(1, rigid(4), {4, 0}, 50);
    b.run(2, rigid(4), {0, 4}, 80);
    b.queue(10, rigid(2), 100, first).together = kLeader;
    b.queue(11, rigid(2), 100, second).together = kLeader;
    b.queue(20, rigid(4), 40, first);  // from +50 to +90
    b.queue(21, rigid(4), 20, first);
    check_eq(plan_text(b.snapshot, "conservative"),
             "reserve 10 [2,0] ->2 at +80\nreserve 11 [0,2] ->2 at +80\n"
             "reserve 20 [4,0] ->4 at +180\nreserve 21 [4,0] ->4 at +50\n");
}

TEST(each_component_has_its_own_time) {
    SnapshotBuilder b({4});
    b.run(1, rigid(2), {2}, 50);
    b.queue(10, rigid(5), 30).together = kLeader;
    b.queue(11, rigid(1), 100).together = kLeader;
    b.queue(20, rigid(5), 10);
    check_eq(plan_text(b.snapshot, "conservative"),
             "reserve 10 [5] ->5 at +50\nreserve 11 [1] ->1 at +50\nreserve 20 [5] ->5 at +80\n");
}

TEST(who_never_fits_together_waits_for_nothing_and_keeps_nobody) {
    SnapshotBuilder b({4});
    b.run(1, rigid(2), {2}, 50);
    queue_together(b, {4, 3});
    b.queue(20, rigid(4), 1000);
    for (const auto* policy : {"easy", "conservative", "fcfs"})
        check_eq(plan_text(b.snapshot, policy), "start 20 [4] ->4\n");
}

// Each of them would have room beside what runs, but only one after the other.
TEST(who_fits_only_one_after_the_other_has_no_reservation) {
    SnapshotBuilder b({0, 0});
    const EligibilityId both = b.eligibility({0, 1}), one = b.eligibility({0});
    b.run(1, rigid(3), {3, 0}, kNever);
    b.run(2, rigid(2), {2, 2}, 50);
    b.queue(10, rigid(2), 100, one).together = kLeader;
    b.queue(11, rigid(3), 100, both).together = kLeader;
    check_eq(plan_text(b.snapshot, "conservative"), "");
}

TEST(whoever_can_have_the_fewest_nodes_chooses_first) {
    SnapshotBuilder b({2, 2});
    const EligibilityId any = b.eligibility({0, 1}), some = b.eligibility({0});
    b.queue(10, rigid(2), 100, any).together = kLeader;
    b.queue(11, rigid(2), 100, some).together = kLeader;
    check_eq(plan_text(b.snapshot, "easy"), "start 10 [0,2] ->2\nstart 11 [2,0] ->2\n");
}

TEST(a_component_takes_the_first_partition_that_has_room) {
    TwoPartitions b;
    b.component(10, 2, b.idle);
    b.component(11, 2, b.busy);
    b.component(11, 2, b.idle).alternative = true;
    check_eq(plan_text(b.snapshot, "easy"), "start 10 [0,2] ->2\nstart 11 [0,2] ->2\n");
    b.snapshot.pending[0].elastic = rigid(3);
    check_eq(plan_text(b.snapshot, "easy"),
             "reserve 10 [0,3] ->3 at +50\nreserve 11 [2,0] ->2 at +50\n");
}

TEST(components_may_share_nodes) {
    SnapshotBuilder b({2});
    b.share(0, 1, 1030);
    queue_together(b, {2, 1});
    check_eq(plan_text(b.snapshot, "easy"),
             "reserve 10 [2] ->2 at +30\nreserve 11 [1] ->1 at +30\n");
    b.snapshot.pending[1].shares_nodes = true;
    check_eq(plan_text(b.snapshot, "easy"), "start 10 [2] ->2\nstart 11 [0] ->1\n");
    SnapshotBuilder shared({0});
    shared.share(0, 3, 1030);
    queue_together(shared, {2, 2});
    for (PendingJob& job : shared.snapshot.pending) job.shares_nodes = true;
    check_eq(plan_text(shared.snapshot, "easy"), "");  // not on the same nodes
    shared.share(0, 1, 1040);
    check_eq(plan_text(shared.snapshot, "easy"), "start 10 [0] ->2\nstart 11 [0] ->2\n");
}

TEST(components_overtake_only_where_they_delay_nobody) {
    TwoPartitions b;
    b.queue(5, rigid(4), 100);  // at once, on the idle ones
    b.queue(6, rigid(8), 100);  // at +100
    b.component(10, 2, b.busy, 40);
    b.component(11, 2, b.busy, 50);
    check_eq(plan_text(b.snapshot, "easy"), "start 5 [0,4] ->4\nreserve 6 [4,4] ->8 at +100\n");
}

TEST(deferred_components_wait_together) {
    SnapshotBuilder b({10});
    queue_together(b, {4, 2});
    for (PendingJob& job : b.snapshot.pending) job.not_before = b.snapshot.now + 70;
    check_eq(plan_text(b.snapshot, "easy"),
             "reserve 10 [4] ->4 at +70\nreserve 11 [2] ->2 at +70\n");
}

// Nobody can hand nodes over to several jobs: they come free, and are reserved until all are there.
TEST(others_shrink_for_components_as_for_anybody) {
    SnapshotBuilder b({2});
    b.run(1, malleable(1, 6, 6), {6}, 100);
    queue_together(b, {2, 3});
    check_eq(plan_text(b.snapshot),
             "shrink 1 [3] ->3\nreserve 10 [2] ->2 at +100\nreserve 11 [3] ->3 at +100\n");
    b.promise(ResizeKind::shrink, 1, 1, {3});
    b.run(2, malleable(1, 6, 6), {6}, 1000);
    check_eq(plan_text(b.snapshot, "easy"), plan_text(b.snapshot));  // they are on their way
    SnapshotBuilder later({5});
    later.run(1, malleable(1, 3, 6), {3}, 100).resizable = false;
    queue_together(later, {2, 3});
    check_eq(plan_text(later.snapshot), "start 10 [2] ->2\nstart 11 [3] ->3\n");
}

TEST(nobody_shrinks_where_that_helps_only_some_components) {
    TwoPartitions b;
    b.run(2, malleable(1, 4, 4), {0, 4}, 100).eligible = b.idle;
    b.snapshot.pools[1].idle = 0;
    b.snapshot.pools[1].nodes = 4;
    b.component(10, 2, b.idle);
    b.component(11, 2, b.busy);
    check_eq(plan_text(b.snapshot), "reserve 10 [0,2] ->2 at +100\nreserve 11 [2,0] ->2 at +100\n");
}

TEST(a_job_grows_only_beside_what_components_wait_for) {
    TwoPartitions b;
    b.run(2, malleable(1, 2, 4), {0, 2}, 1000).eligible = b.idle;
    b.component(10, 3, b.idle);
    b.component(11, 2, b.busy);
    check_eq(plan_text(b.snapshot),
             "expand 2 [0,1] ->3\nreserve 10 [0,3] ->3 at +50\nreserve 11 [2,0] ->2 at +50\n");
}

TEST(components_are_expected_together) {
    TwoPartitions b;
    b.queue(5, rigid(2), 80, b.busy);
    b.component(10, 2, b.idle);
    b.component(11, 4, b.busy, 30);
    b.queue(20, rigid(3), 10, b.idle);
    b.queue(21, rigid(3), 200, b.idle);
    check_eq(forecast_text(b.snapshot),
             "5 +50..+130\n10 +130..+230\n11 +130..+160\n20 +0..+10\n21 +230..+430\n");
    TwoPartitions free;
    free.component(10, 2, free.idle);
    free.component(11, 2, free.idle);
    check_eq(forecast_text(free.snapshot), "10 +0..+100\n11 +0..+100\n");
}

TEST(a_snapshot_says_who_starts_together) {
    SnapshotBuilder b({10});
    queue_together(b, {4, 2});
    const auto again = snapshot_from_json(to_json(b.snapshot));
    check_ok(again);
    check_eq(again->pending[1].together, kLeader);
    b.queue(20, rigid(1), 10);
    queue_together(b, {1});
    check_that(!validate(b.snapshot));
    SnapshotBuilder malleable_one({10});
    malleable_one.queue(10, malleable(1, 2, 3), 10).together = kLeader;
    check_that(!validate(malleable_one.snapshot));
}

// SPDX-License-Identifier: MIT
// When and where jobs are expected to start, as text: "JOB [NODES] +FROM..+TO", "?" behind it where
// others do not wait for that.
#include "core/pass/forecast.hpp"

#include "plan_test.hpp"

using namespace elastic;
using namespace elastic::core;
using namespace elastic::testing;

namespace {

std::string show(const ExpectedStart& start, const Snapshot& snapshot) {
    return fmt::format("{} [{}] +{}..+{}{}\n", snapshot.pending[start.place].id,
                       fmt::join(start.nodes, ","), start.from - snapshot.now,
                       start.to - snapshot.now, start.is_reserved ? "" : " ?");
}

std::string forecast_text(const Snapshot& snapshot, int steps = 1000,
                          std::string_view policy = "elastic") {
    const Result<void> valid = validate(snapshot);
    ck_assert_msg(static_cast<bool>(valid), "%s", valid ? "" : valid.error().message.c_str());
    Forecast forecast;
    forecast.begin(snapshot, *preset(policy));
    while (steps-- > 0 && forecast.step()) {
    }
    std::string text;
    for (const ExpectedStart& start : forecast.starts()) text += show(start, snapshot);
    return text;
}

}  // namespace

TEST(nobody_waits_for_nothing) {
    check_eq(forecast_text(SnapshotBuilder({4}).snapshot), "");
}

TEST(each_job_of_the_queue_has_an_expected_start) {
    SnapshotBuilder b({2});
    b.run(1, rigid(6), {6}, 100);
    b.queue(10, rigid(8), 50);
    b.queue(11, rigid(4), 30);  // behind it
    b.queue(12, rigid(2), 90);  // before it, on what is idle
    b.queue(13, rigid(8), 10);
    for (const auto* policy : {"elastic", "easy", "fcfs"})
        check_eq(forecast_text(b.snapshot, 1000, policy),
                 "10 [8] +100..+150\n11 [4] +150..+180\n12 [2] +0..+90\n13 [8] +180..+190\n");
}

TEST(a_forecast_that_is_stopped_has_the_first_jobs) {
    SnapshotBuilder b;
    b.run(1, rigid(6), {6}, 100);
    for (JobId job = 10; job < 20; ++job) b.queue(job, rigid(6), 50);
    check_eq(forecast_text(b.snapshot, 2), "10 [6] +100..+150\n11 [6] +150..+200\n");
}

TEST(nobody_is_expected_to_shrink) {
    SnapshotBuilder b;
    b.run(1, malleable(1, 6, 6), {6}, 100);
    b.queue(10, rigid(2), 50);
    check_eq(forecast_text(b.snapshot), "10 [2] +100..+150\n");
}

TEST(a_job_that_never_has_room_has_no_expected_start) {
    SnapshotBuilder b({4});
    b.queue(10, rigid(2), 50).not_before = kNever;
    b.queue(11, rigid(9), 50);
    b.queue(12, rigid(2), 50).not_before = b.snapshot.now + 20;
    check_eq(forecast_text(b.snapshot), "12 [2] +20..+70\n");
}

// Nobody waits for it, and it is told when it could start all the same.
TEST(a_job_without_a_reservation_has_an_expected_start) {
    SnapshotBuilder b({1});
    b.run(1, rigid(3), {3}, 100);
    b.queue(10, rigid(4), 50).reserves = 0;
    b.queue(11, rigid(4), 50);
    check_eq(forecast_text(b.snapshot), "10 [4] +100..+150 ?\n11 [4] +100..+150\n");
    b.snapshot.window = 99;
    b.snapshot.pending[0].reserves = 1;
    check_eq(forecast_text(b.snapshot), "10 [4] +100..+150 ?\n11 [4] +100..+150 ?\n");
}

TEST(of_copies_the_first_one_is_told) {
    SnapshotBuilder b({3});
    b.run(1, rigid(1), {1}, 100);
    b.queue(10, rigid(2), 50).copies = 3;
    b.queue(11, rigid(4), 50);
    // One starts now, the others at 50 and 100.
    check_eq(forecast_text(b.snapshot), "10 [2] +0..+50\n11 [4] +150..+200\n");
}

TEST(a_job_that_victims_make_room_for_starts_next) {
    SnapshotBuilder b({1});
    b.run(1, malleable(2, 6, 6), {6}, 100);
    Promise& promise = b.promise(ResizeKind::shrink, 5, 1, {3});
    promise.beneficiary = 10;
    promise.size = 4;
    b.queue(10, rigid(4), 50).claimed = true;
    b.snapshot.claims.push_back({10, {1}});
    b.queue(11, rigid(1), 50);
    check_eq(forecast_text(b.snapshot), "10 [4] +0..+50\n11 [1] +50..+100\n");
}

TEST(jobs_of_other_pools_do_not_wait_for_each_other) {
    SnapshotBuilder b({0, 2});
    b.run(1, rigid(4), {4, 0}, 100);
    b.queue(10, rigid(4), 50, b.eligibility({0}));
    b.queue(11, rigid(2), 50, b.eligibility({1}));
    b.queue(12, rigid(2), 50, b.eligibility({1}));
    check_eq(forecast_text(b.snapshot),
             "10 [4,0] +100..+150\n11 [0,2] +0..+50\n12 [0,2] +50..+100\n");
}

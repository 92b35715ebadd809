// SPDX-License-Identifier: MIT
// Jobs that may end others: those shrink first, and are ended only where that does not suffice.
#include <cmath>

#include "plan_test.hpp"

using namespace elastic;
using namespace elastic::core;
using namespace elastic::testing;

namespace {

// Shrinks nobody but who would be ended.
Policy easy() {
    return *preset("easy");
}

std::string plan(const SnapshotBuilder& builder) {
    return plan_text(builder.snapshot, easy());
}

// How the plan has a reservation that begins as soon as who is ended has left.
std::string reserved_at_once(JobId job, int nodes) {
    const Time now = SnapshotBuilder({0}).snapshot.now;
    return fmt::format("reserve {} [{}] ->{} at +{}\n", job, nodes, nodes,
                       std::nextafter(now, kNever) - now);
}

Preemptor& preempts(SnapshotBuilder& b, std::uint32_t place, std::vector<JobId> victims) {
    Preemptor& preemptor = b.snapshot.preemptors.emplace_back();
    preemptor.place = place;
    preemptor.victims = std::move(victims);
    preemptor.ends = true;
    return preemptor;
}

}  // namespace

TEST(who_may_be_ended_shrinks_instead) {
    SnapshotBuilder b({1});
    b.run(1, malleable(2, 6, 6), {6}, 100);
    b.queue(9, rigid(4), 10);
    check_eq(plan(b), "reserve 9 [4] ->4 at +100\n");
    preempts(b, 0, {1});
    check_eq(plan(b), "shrink 1 [3] ->3 for 9\nstart 9 [4] ->4 deferred\n");
}

TEST(nobody_else_does) {
    SnapshotBuilder b({1});
    b.run(1, malleable(2, 6, 6), {6}, 100);
    b.run(2, rigid(4), {4}, 100);
    b.queue(9, rigid(4), 10);
    preempts(b, 0, {2});
    check_eq(plan(b), "preempt 2 [4] for 9\n" + reserved_at_once(9, 4));
}

TEST(neither_the_gap_nor_the_guard_spares_a_job_that_would_be_ended) {
    SnapshotBuilder b({1});
    b.run(1, malleable(2, 6, 6), {6}, 100).last_resize = b.snapshot.now;
    b.snapshot.running[0].elastic.gap = 1000;
    b.queue(9, rigid(4), 10);
    preempts(b, 0, {1});
    check_eq(plan(b), "shrink 1 [3] ->3 for 9\nstart 9 [4] ->4 deferred\n");
}

TEST(where_shrinking_does_not_suffice_nobody_shrinks) {
    SnapshotBuilder b({1});
    b.run(1, malleable(4, 6, 6), {6}, 100);
    b.queue(9, rigid(4), 10);
    preempts(b, 0, {1});
    check_eq(plan(b), "preempt 1 [6] for 9\n" + reserved_at_once(9, 4));
}

TEST(who_was_asked_in_vain_is_ended) {
    SnapshotBuilder b({1});
    b.run(1, malleable(2, 6, 6), {6}, 100);
    b.queue(9, rigid(4), 10);
    preempts(b, 0, {1}).asked = true;
    check_eq(plan(b), "preempt 1 [6] for 9\n" + reserved_at_once(9, 4));
}

TEST(another_scheduler_may_have_to_end_them) {
    SnapshotBuilder b({1});
    b.run(1, malleable(4, 6, 6), {6}, 100);
    b.queue(9, rigid(4), 10);
    preempts(b, 0, {1}).ends = false;
    check_eq(plan(b), "reserve 9 [4] ->4 at +100\n");
}

TEST(no_more_is_ended_than_is_needed) {
    SnapshotBuilder b({0});
    for (const JobId id : {1, 2, 3}) b.run(id, rigid(2), {2}, 100);
    b.run(4, rigid(5), {5}, 100);
    b.queue(9, rigid(4), 10);
    // In the order in which they are to be ended, without those that the last one makes needless.
    preempts(b, 0, {1, 4, 2});
    check_eq(plan(b), "preempt 4 [5] for 9\n" + reserved_at_once(9, 4));
    b.snapshot.preemptors[0].victims = {3, 1, 2};
    check_eq(plan(b), "preempt 3 [2] for 9\npreempt 1 [2] for 9\n" + reserved_at_once(9, 4));
    // Nor is anybody for nothing.
    b.snapshot.preemptors[0].victims = {3};
    check_eq(plan(b), "reserve 9 [4] ->4 at +100\n");
}

TEST(nobody_is_ended_for_a_job_that_others_are_before) {
    SnapshotBuilder b({0});
    b.run(1, malleable(2, 6, 6), {6}, 100);
    b.run(2, rigid(6), {6}, 50);
    b.queue(8, rigid(6), 10);
    b.queue(9, rigid(2), 10);
    preempts(b, 1, {2});
    check_eq(plan(b), "reserve 8 [6] ->6 at +50\n");
    // What shrinks for it is no loss to them.
    b.snapshot.preemptors[0].victims = {2, 1};
    check_eq(plan(b),
             "shrink 1 [2] ->4 for 9\nstart 9 [2] ->2 deferred\nreserve 8 [6] ->6 at +50\n");
}

TEST(two_preemptors_ask_different_jobs) {
    SnapshotBuilder b({0});
    b.run(1, malleable(2, 4, 4), {4}, 100);
    b.run(2, malleable(2, 4, 4), {4}, 100);
    b.queue(8, rigid(2), 10);
    b.queue(9, rigid(2), 10);
    preempts(b, 0, {1, 2});
    preempts(b, 1, {1, 2});
    check_eq(plan(b),
             "shrink 1 [2] ->2 for 8\nstart 8 [2] ->2 deferred\n"
             "shrink 2 [2] ->2 for 9\nstart 9 [2] ->2 deferred\n");
}

TEST(it_comes_before_what_is_planned_for_jobs_behind_it) {
    SnapshotBuilder b({2});
    b.run(1, malleable(2, 6, 6), {6}, 10);
    b.queue(8, rigid(4), 100);
    b.queue(9, rigid(6), 100);
    preempts(b, 0, {1}).ends = false;
    const Time now = b.snapshot.now;
    b.snapshot.planned.push_back({9, now + 10, now + 110, {6}});
    check_eq(plan(b),
             "shrink 1 [2] ->4 for 8\nstart 8 [4] ->4 deferred\nreserve 9 [6] ->6 at +100\n");
}

TEST(what_does_not_run_cannot_be_ended) {
    SnapshotBuilder b({1});
    b.run(1, rigid(6), {6}, 100);
    b.queue(9, rigid(4), 10);
    preempts(b, 0, {9});
    check_error(validate(b.snapshot),
                "the preemptor at place 0: victim 9 does not run, or is there twice");
    b.snapshot.preemptors[0] = {1, {1}};
    check_error(validate(b.snapshot),
                "preemptors: place 1 does not follow place -1 in a queue of 1");
}

// SPDX-License-Identifier: MIT
// What a job that waits for victims may start on (StartsOn), and trades of claims.
#include <tuple>

#include "plan_test.hpp"

using namespace elastic;
using namespace elastic::core;
using namespace elastic::testing;

namespace {

Policy starting_on(StartsOn starts_on) {
    Policy policy = *preset("lina-default");
    policy.starts_on = starts_on;
    return policy;
}

// So many nodes of the job are to be given up for another, which starts with `size`.
Promise& give_up(SnapshotBuilder& b, OpId op, JobId victim, JobId beneficiary, int size) {
    Promise& promise = b.promise(ResizeKind::shrink, op, victim, {2});
    promise.beneficiary = beneficiary;
    promise.size = size;
    return promise;
}

// Job 11 has the nodes of victim 1 and waits for those of victim 2, job 12 waits for victim 3.
SnapshotBuilder one_could_start(int idle = 0) {
    SnapshotBuilder b({idle});
    for (JobId victim : {1, 2, 3}) b.run(victim, malleable(1, 3, 3), {3}, 100);
    give_up(b, 21, 1, 11, 4).released = true;
    give_up(b, 22, 2, 11, 4);
    give_up(b, 23, 3, 12, 2);
    b.queue(11, rigid(4), 50).claimed = true;
    b.queue(12, rigid(2), 50).claimed = true;
    return b;
}

constexpr const char* kTraded = "trade 3 op23 [2] for 11\nstart 12 [2] ->2 by trading\n";

}  // namespace

TEST(a_job_waits_for_its_victims_if_no_idle_nodes_do_as_well) {
    const SnapshotBuilder b = one_could_start();
    check_eq(plan_text(b.snapshot, starting_on(StartsOn::idle)), "");
    check_eq(plan_text(b.snapshot, starting_on(StartsOn::agreed)), "");
}

TEST(only_who_may_starts_on_idle_nodes) {
    const SnapshotBuilder b = one_could_start(2);
    check_eq(plan_text(b.snapshot, starting_on(StartsOn::idle)),
             "start 12 [2] ->2 nodes came free\n");
    check_eq(plan_text(b.snapshot, starting_on(StartsOn::pool)), "start 11 [4] ->4 by trading\n");
    check_eq(plan_text(b.snapshot, starting_on(StartsOn::agreed)), "");
    check_eq(plan_text(b.snapshot, starting_on(StartsOn::steal)), kTraded);
}

TEST(a_job_starts_on_what_is_there_for_another_and_leaves_it_its_own) {
    const SnapshotBuilder b = one_could_start();
    check_eq(plan_text(b.snapshot, starting_on(StartsOn::steal)), kTraded);
    check_eq(plan_text(b.snapshot, starting_on(StartsOn::pool)), kTraded);
}

TEST(idle_nodes_that_are_kept_for_another_are_traded_too) {
    SnapshotBuilder b = one_could_start(2);
    b.snapshot.promises[0].released = false;
    b.snapshot.promises[0].size = b.snapshot.promises[1].size = 6;
    b.snapshot.pending[0].elastic = rigid(6);
    b.snapshot.claims.push_back({11, {2}});
    check_eq(plan_text(b.snapshot, starting_on(StartsOn::steal)), kTraded);
}

TEST(nothing_is_traded_for_what_no_application_has_agreed_to) {
    SnapshotBuilder b = one_could_start();
    b.snapshot.promises[2].revocable = true;
    check_eq(plan_text(b.snapshot, starting_on(StartsOn::steal)), "");
}

TEST(a_job_leaves_its_nodes_to_another_once) {
    SnapshotBuilder b = one_could_start();
    b.snapshot.pending[0].has_traded = true;
    check_eq(plan_text(b.snapshot, starting_on(StartsOn::steal)), "");
    b.snapshot.promises[1].released = true;  // and who has all is handed it over
    b.snapshot.pending[0].has_traded = false;
    check_eq(plan_text(b.snapshot, starting_on(StartsOn::steal)), "");
}

TEST(a_job_that_has_traded_may_be_left_nodes_itself) {
    SnapshotBuilder b = one_could_start();
    b.snapshot.pending[1].has_traded = true;
    check_eq(plan_text(b.snapshot, starting_on(StartsOn::steal)), kTraded);
}

TEST(only_nodes_of_the_same_pools_are_traded) {
    SnapshotBuilder b({0, 0});
    b.run(1, malleable(1, 3, 3), {3, 0}, 100);
    b.run(2, malleable(1, 3, 3), {3, 0}, 100);
    b.run(3, malleable(1, 3, 3), {0, 3}, 100);
    for (const auto& [op, victim, beneficiary, size, nodes] :
         {std::tuple<OpId, JobId, JobId, int, PoolCounts>{21, 1, 11, 4, {2, 0}},
          {22, 2, 11, 4, {2, 0}},
          {23, 3, 12, 2, {0, 2}}}) {
        Promise& promise = b.promise(ResizeKind::shrink, op, victim, nodes);
        promise.beneficiary = beneficiary;
        promise.size = size;
        promise.released = op == 21;
    }
    b.queue(11, rigid(4), 50).claimed = true;
    b.queue(12, rigid(2), 50).claimed = true;
    check_eq(plan_text(b.snapshot, starting_on(StartsOn::steal)), "");
}

TEST(the_last_of_the_queue_is_the_first_to_lose) {
    SnapshotBuilder b({0});
    for (JobId victim : {1, 2, 3, 4, 5}) b.run(victim, malleable(1, 3, 3), {3}, 100);
    give_up(b, 21, 1, 11, 4).released = true;
    give_up(b, 22, 2, 11, 4);
    give_up(b, 23, 3, 12, 2);
    give_up(b, 24, 4, 13, 4).released = true;
    give_up(b, 25, 5, 13, 4);
    b.queue(11, rigid(4), 50).claimed = true;
    b.queue(12, rigid(2), 50).claimed = true;
    b.queue(13, rigid(4), 50).claimed = true;
    // The head of the queue takes what the last has; the second finds none but the head gone.
    check_eq(plan_text(b.snapshot, starting_on(StartsOn::steal)),
             "trade 2 op22 [2] for 13\nstart 11 [4] ->4 by trading\n");
    b.snapshot.promises[0].released = false;
    check_eq(plan_text(b.snapshot, starting_on(StartsOn::steal)),
             "trade 3 op23 [2] for 13\nstart 12 [2] ->2 by trading\n");
}

TEST(a_job_may_take_from_several_others) {
    SnapshotBuilder b({0});
    for (JobId victim : {1, 2, 3, 4, 5, 6}) b.run(victim, malleable(1, 3, 3), {3}, 100);
    give_up(b, 21, 1, 11, 4);
    give_up(b, 22, 2, 11, 4);
    give_up(b, 23, 3, 12, 4).released = true;
    give_up(b, 24, 4, 12, 4);
    give_up(b, 25, 5, 13, 4).released = true;
    give_up(b, 26, 6, 13, 4);
    for (JobId job : {11, 12, 13}) b.queue(job, rigid(4), 50).claimed = true;
    check_eq(plan_text(b.snapshot, starting_on(StartsOn::steal)),
             "trade 1 op21 [2] for 13\ntrade 2 op22 [2] for 12\nstart 11 [4] ->4 by trading\n");
}

TEST(the_pool_adds_idle_nodes_to_what_others_were_promised) {
    SnapshotBuilder b({2});
    for (JobId victim : {1, 2, 3, 4}) b.run(victim, malleable(1, 3, 3), {3}, 100);
    give_up(b, 21, 1, 11, 4);
    give_up(b, 22, 2, 11, 4);
    give_up(b, 23, 3, 12, 4).released = true;
    give_up(b, 24, 4, 12, 4);
    for (JobId job : {11, 12}) b.queue(job, rigid(4), 50).claimed = true;
    check_eq(plan_text(b.snapshot, starting_on(StartsOn::steal)), "");
    check_eq(plan_text(b.snapshot, starting_on(StartsOn::pool)),
             "trade 1 op21 [2] for 12\nstart 11 [4] ->4 by trading\n");
}

// Whoever keeps agreements by the plan: each job has what it was promised, at most one trade late.
TEST(a_wide_job_starts_though_narrow_ones_come_again_and_again) {
    SnapshotBuilder b = one_could_start();
    check_eq(plan_text(b.snapshot, starting_on(StartsOn::steal)), kTraded);
    // As carried out: victim 3 leaves for the wide job, and another narrow one has come.
    b.snapshot.promises[2].beneficiary = 11;
    b.snapshot.promises[2].size = 4;
    b.snapshot.promises[2].released = true;
    b.snapshot.pending[0].has_traded = true;
    b.snapshot.running[0].held = {1};
    b.run(12, rigid(2), {2}, 50);
    b.snapshot.pools[0].nodes -= 2;
    b.snapshot.promises.erase(b.snapshot.promises.begin());
    b.run(4, malleable(1, 3, 3), {3}, 100);
    give_up(b, 24, 4, 13, 2);
    b.snapshot.pending.back() = b.snapshot.pending.front();
    b.snapshot.pending.back().id = 13;
    b.snapshot.pending.back().elastic = rigid(2);
    b.snapshot.pending.back().has_traded = false;
    check_eq(plan_text(b.snapshot, starting_on(StartsOn::steal)), "");
    b.snapshot.pending.front().has_traded = false;  // which is what keeps it its nodes
    check_eq(plan_text(b.snapshot, starting_on(StartsOn::steal)),
             "trade 4 op24 [2] for 11\nstart 13 [2] ->2 by trading\n");
}

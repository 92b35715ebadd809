// SPDX-License-Identifier: MIT
// Snapshots and plans as JSON; hostile snapshots.
#include "plan_test.hpp"

using namespace elastic;
using namespace elastic::core;
using namespace elastic::testing;

namespace {

SnapshotBuilder example() {
    SnapshotBuilder b({4, 5});
    RunningJob& job = b.run(1, malleable(2, 6, 8), {4, 2}, 100.25);
    job.limit_end = 1500;
    job.last_resize = 900;
    job.gain = -3;
    job.elastic.speedup.believed = 0.25;
    job.expansions = 2;
    job.not_before = 5;
    b.run(2, evolving(1, 2, 8), {0, 2}, 100);
    b.snapshot.window = 3600;
    PendingJob& sharing = b.queue(8, rigid(2), 10, b.eligibility({1}));
    sharing.shares_nodes = true;
    sharing.reserves = 0;
    PendingJob& claimed = b.queue(9, malleable(2, 4, 8), kNever);
    claimed.claimed = true;
    claimed.elastic.speedup.believed = 0.5;
    b.share(1, 2, 1234.5);
    Promise& promise = b.promise(ResizeKind::shrink, 7, 1, {1, 0});
    promise.beneficiary = 9;
    promise.revocable = true;
    b.snapshot.claims.push_back({9, {2, 1}});
    b.request(6, 2, 3, 2, 1010);
    return b;
}

std::string error_of(std::string_view text) {
    Result<Json> json = Json::parse(text);
    check_ok(json);
    Result<Snapshot> snapshot = snapshot_from_json(*json);
    return snapshot ? "" : snapshot.error().message;
}

}  // namespace

TEST(a_snapshot_survives_json) {
    const SnapshotBuilder b = example();
    const std::string text = to_json(b.snapshot).dump();
    Result<Json> json = Json::parse(text);
    check_ok(json);
    Result<Snapshot> again = snapshot_from_json(*json);
    check_ok(again);
    check_eq(to_json(*again).dump(), text);
    check_eq(plan_text(*again), plan_text(b.snapshot));
    check_eq(again->running[0].gain, -3);
    check_eq(again->running[0].elastic.speedup.believed, 0.25);
    check_eq(again->pending[1].elastic.speedup.believed, 0.5);
    check_eq(again->pending[1].duration, kNever);
    check_that(again->promises[0].revocable && again->pending[0].shares_nodes);
    check_eq(again->window, 3600.0);
    check_eq(again->pending[0].reserves, 0);
    check_eq(again->pending[1].reserves, kMaxNodes);
}

TEST(a_plan_is_written_as_json) {
    SnapshotBuilder b({1});
    b.run(1, malleable(2, 8, 8), {8}, 100);
    b.queue(9, rigid(4), 10);
    Planner planner;
    Rng rng(1);
    check_eq(to_json(planner.plan(b.snapshot, Policy{}, rng)).dump(),
             R"({"actions":[{"action":"shrink","job":1,"reason":"a pending job needs the nodes",)"
             R"("nodes":[3],"size_after":5,"beneficiary":9},{"action":"start","job":9,)"
             R"("reason":"nodes come from shrunk jobs","nodes":[4],"size_after":4,)"
             R"("deferred":true}]})");
}

TEST(every_member_that_is_missing_or_of_another_type_is_an_error) {
    const Json whole = to_json(example().snapshot);
    for (const std::string& key : whole.keys()) {
        for (const Json& wrong : {Json(), Json("x"), Json(-7.5e300), Json::object()}) {
            Json copy = *Json::parse(whole.dump());
            copy.set(key, wrong);
            check_that(!snapshot_from_json(copy));
        }
        const Json list = whole.get(key);
        for (std::size_t i = 0; list.is_array() && i < list.size(); ++i) {
            for (const std::string& member : list.at(i).keys()) {
                Json copy = *Json::parse(whole.dump());
                copy.get(key).at(i).set(member, Json::array());
                Result<Snapshot> snapshot = snapshot_from_json(copy);
                check_that(!snapshot);
            }
        }
    }
}

TEST(errors_say_where_they_are) {
    check_eq(error_of("[]"), "a snapshot must be an object");
    check_eq(error_of(R"({"now":0,"pools":[{"idle":1,"nodes":2},{}]})"),
             "pools[1]: idle is missing");
    check_eq(error_of(R"({"now":0,"pools":[{"idle":3,"nodes":2}],"eligibilities":[],)"
                      R"("running":[],"pending":[],"shared_until":[],"promises":[],)"
                      R"("requests":[]})"),
             "3 nodes of pool 0 are accounted for, which has 2");
    check_eq(error_of(R"({"now":0,"pools":[],"eligibilities":[[-1]]})"),
             "eligibilities[0][0] must be an integer from 0 to 4294967295, not -1");
    check_eq(error_of(R"({"now":0,"pools":[],"eligibilities":[[0]],"running":[],"pending":[],)"
                      R"("shared_until":[],"promises":[],"requests":[]})"),
             "eligibility 0 names pool 0 twice or it does not exist");
}

TEST(references_out_of_range_are_refused) {
    const SnapshotBuilder good = example();
    check_ok(validate(good.snapshot));
    const auto refused = [&](auto change) {
        Snapshot bad = good.snapshot;
        change(bad);
        return !validate(bad);
    };
    check_that(refused([](Snapshot& s) { s.running[0].eligible = 2; }));
    check_that(refused([](Snapshot& s) { s.pending[0].eligible = 99; }));
    check_that(refused([](Snapshot& s) { s.running[0].batch_host_pool = 2; }));
    check_that(refused([](Snapshot& s) { s.running[0].held.pop_back(); }));
    check_that(refused([](Snapshot& s) { s.running[0].held[0] = -1; }));
    check_that(refused([](Snapshot& s) { s.running[0].held[0] += 1; }));
    check_that(refused([](Snapshot& s) { s.running[0].elastic.min = 0; }));
    check_that(refused([](Snapshot& s) { s.pending[0].id = s.running[0].id; }));
    check_that(refused([](Snapshot& s) { s.running.push_back(s.running[0]); }));
    check_that(refused([](Snapshot& s) { s.eligibilities[0].push_back(0); }));
    check_that(refused([](Snapshot& s) { s.eligibilities[0].push_back(7); }));
    check_that(refused([](Snapshot& s) { s.promises[0].nodes[0] = 5; }));
    check_that(refused([](Snapshot& s) { s.promises[0].job = 77; }));
    check_that(refused([](Snapshot& s) { s.promises.push_back(s.promises[0]); }));
    check_that(refused([](Snapshot& s) { s.requests[0].least = 4; }));
    check_that(refused([](Snapshot& s) { s.claims[0].nodes.pop_back(); }));
    check_that(refused([](Snapshot& s) { s.claims[0].nodes[0] = 1000; }));
    check_that(refused([](Snapshot& s) { s.claims[0].job = 77; }));
    check_that(refused([](Snapshot& s) { s.claims.push_back(s.claims[0]); }));
    check_that(refused([](Snapshot& s) { s.shared_until[0].pool = 9; }));
    check_that(refused([](Snapshot& s) {
        s.promises[0].kind = ResizeKind::expand;
        s.promises[0].nodes = {5, 0};
    }));
}

// For another partition, or as the next task of a job array.
TEST(a_job_may_wait_twice) {
    SnapshotBuilder builder = example();
    builder.snapshot.pending.push_back(builder.snapshot.pending[0]);
    check_ok(validate(builder.snapshot));
    check_ok(snapshot_from_json(to_json(builder.snapshot)));
}

// SPDX-License-Identifier: MIT
// EASY once more, as the textbooks have it and with nothing shared with the planner: for one pool
// by shadow time and extra nodes, for several by looking at every instant at which anything
// changes.
#include <map>
#include <optional>

#include "random_snapshot.hpp"
#include "testing.hpp"

using namespace elastic;
using namespace elastic::core;
using namespace elastic::testing;

namespace {

struct Outcome {
    std::vector<JobId> started;
    std::map<JobId, Time> reserved;
    friend bool operator==(const Outcome&, const Outcome&) = default;
};

Time soon(Time now) {
    return std::nextafter(now, kNever);
}

Outcome planned(const Snapshot& snapshot, std::string_view policy) {
    Planner planner;
    Rng rng(1);
    Outcome outcome;
    for (const Action& action : planner.plan(snapshot, *preset(policy), rng).actions) {
        if (action.kind == ActionKind::start) outcome.started.push_back(action.job);
        if (action.kind == ActionKind::reserve) outcome.reserved[action.job] = action.time;
    }
    return outcome;
}

// One pool: start in order while they fit, then backfill around the head.
Outcome textbook_easy(const Snapshot& snapshot) {
    Outcome outcome;
    std::multimap<Time, int> ends;
    for (const RunningJob& job : snapshot.running)
        ends.emplace(std::max(job.estimated_end, soon(snapshot.now)), job.held[0]);
    int free = snapshot.pools[0].idle;
    std::optional<Time> shadow;
    int extra = 0;
    for (const PendingJob& job : snapshot.pending) {
        const int need = job.elastic.pref;
        const Time end = std::max(snapshot.now + job.duration, soon(snapshot.now));
        const bool in_time = !shadow || end <= *shadow;
        if (need <= free && (in_time || need <= extra)) {
            free -= need;
            if (!in_time) extra -= need;
            if (!shadow) ends.emplace(end, need);
            outcome.started.push_back(job.id);
        } else if (!shadow) {
            int available = free;
            for (auto at = ends.begin(); at != ends.end() && at->first < kNever;) {
                const Time time = at->first;
                for (; at != ends.end() && at->first == time; ++at) available += at->second;
                if (available < need) continue;
                shadow = outcome.reserved[job.id] = time;
                extra = available - need;
                break;
            }
        }
    }
    return outcome;
}

// Any pools: intervals of use, and a look at every instant.
class Instants {
  public:
    explicit Instants(const Snapshot& snapshot) : snapshot_(snapshot) {
        for (const RunningJob& job : snapshot.running)
            use(snapshot.now, std::max(job.estimated_end, soon(snapshot.now)), job.held);
    }

    Outcome run() {
        Outcome outcome;
        std::vector<bool> covered(snapshot_.pools.size(), false);
        for (const PendingJob& job : snapshot_.pending) {
            const Time length =
                std::max(snapshot_.now + job.duration, soon(snapshot_.now)) - snapshot_.now;
            if (auto nodes = fit(job, snapshot_.now, length)) {
                use(snapshot_.now, snapshot_.now + length, *nodes);
                outcome.started.push_back(job.id);
                continue;
            }
            const Eligibility& eligible = snapshot_.eligibilities[job.eligible];
            if (std::all_of(eligible.begin(), eligible.end(), [&](PoolId p) { return covered[p]; }))
                continue;
            for (Time at : times()) {
                const auto nodes = fit(job, at, length);
                if (!nodes) continue;
                use(at, std::max(at + length, std::nextafter(at, kNever)), *nodes);
                outcome.reserved[job.id] = at;
                for (PoolId p : eligible) covered[p] = true;
                break;
            }
        }
        return outcome;
    }

  private:
    struct Use {
        Time from, to;
        PoolCounts nodes;
    };

    void use(Time from, Time to, const PoolCounts& nodes) { uses_.push_back({from, to, nodes}); }

    std::vector<Time> times() const {
        std::vector<Time> times{snapshot_.now};
        for (const Use& use : uses_)
            for (Time time : {use.from, use.to})
                if (time < kNever) times.push_back(time);
        std::sort(times.begin(), times.end());
        return times;
    }

    // All that is not in use: running jobs are, so this is idle nodes and theirs.
    int free_at(PoolId pool, Time time) const {
        int free = snapshot_.pools[pool].nodes;
        for (const Use& use : uses_)
            if (use.from <= time && time < use.to) free -= use.nodes[pool];
        return free;
    }

    std::optional<PoolCounts> fit(const PendingJob& job, Time from, Duration length) const {
        PoolCounts nodes(snapshot_.pools.size(), 0);
        int missing = job.elastic.pref;
        for (PoolId pool : snapshot_.eligibilities[job.eligible]) {
            int least = free_at(pool, from);
            for (Time time : times())
                if (from < time && time < from + length)
                    least = std::min(least, free_at(pool, time));
            nodes[pool] = std::clamp(least, 0, missing);
            missing -= nodes[pool];
        }
        return missing == 0 ? std::optional(nodes) : std::nullopt;
    }

    const Snapshot& snapshot_;
    std::vector<Use> uses_;
};

void check_same(const Snapshot& snapshot, const Outcome& actual, const Outcome& expected) {
    ck_assert_msg(actual == expected, "started %s, not %s; reserved %s, not %s\n%s",
                  fmt::format("{}", actual.started).c_str(),
                  fmt::format("{}", expected.started).c_str(),
                  fmt::format("{}", actual.reserved).c_str(),
                  fmt::format("{}", expected.reserved).c_str(), to_json(snapshot).dump().c_str());
}

}  // namespace

TEST(the_planner_is_easy_with_one_pool) {
    Rng rng(seed(2));
    int backfilled = 0;
    for (int i = 0; i < 5000; ++i) {
        const Snapshot snapshot = RandomSnapshot(rng).rigid_only(1);
        const Outcome expected = textbook_easy(snapshot);
        check_same(snapshot, planned(snapshot, "easy"), expected);
        backfilled += !expected.reserved.empty() && !expected.started.empty() &&
                      expected.started.back() > expected.reserved.begin()->first;
    }
    check_that(backfilled > 200);
}

TEST(the_planner_is_easy_with_several_pools) {
    Rng rng(seed(3));
    int several = 0;
    for (int i = 0; i < 3000; ++i) {
        const Snapshot snapshot = RandomSnapshot(rng).rigid_only(1 + i % 4);
        const Outcome expected = Instants(snapshot).run();
        check_same(snapshot, planned(snapshot, "easy"), expected);
        several += expected.reserved.size() > 1;
    }
    check_that(several > 50);
}

TEST(fcfs_starts_are_a_prefix_of_the_queue) {
    Rng rng(seed(4));
    for (int i = 0; i < 2000; ++i) {
        const Snapshot snapshot = RandomSnapshot(rng).rigid_only(1);
        const Outcome outcome = planned(snapshot, "fcfs");
        std::size_t next = 0;
        for (const PendingJob& job : snapshot.pending) {
            if (job.elastic.pref > snapshot.pools[0].nodes) continue;
            if (next == outcome.started.size()) break;
            check_eq(outcome.started[next++], job.id);
        }
        check_eq(next, outcome.started.size());
    }
}

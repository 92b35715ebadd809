// SPDX-License-Identifier: MIT
// A cluster that has been through any number of events gives the same plans as a snapshot of it
// that is made anew.
#include "core/availability/cluster.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <vector>

#include "core/pass/planner.hpp"
#include "testing.hpp"

using namespace elastic;
using namespace elastic::core;
using namespace elastic::testing;

namespace {

constexpr int kNodes = 40;

class RandomLife {
  public:
    explicit RandomLife(std::uint64_t seed) : random_(seed), cluster_(kNodes) {}

    void step() {
        now_ += below(5);
        cluster_.advance(now_);
        const int what = below(3);
        if (what < 2) below(4) > 0 ? arrive() : arrive_together();
        if (what == 2 && !cluster_.snapshot().running.empty()) cluster_.end(any_running());
        if (below(10) == 0) withdraw_some();
        if (below(10) == 0) bring_back();
        if (below(10) == 0 && !cluster_.snapshot().running.empty()) bound(any_running());
    }

    // Does some of what the plan says, at most once a job; jobs that start together do so, or none.
    void carry_out(const Plan& plan) {
        for (const Action& action : plan.actions)
            if (action.kind == ActionKind::shrink)
                cluster_.resize(action.job, action.size_after, now_ + below(100));
        std::map<JobId, bool> starts;
        for (const Action& action : plan.actions) {
            if (action.kind != ActionKind::start) continue;
            const auto [start, is_first] = starts.try_emplace(first_[action.job]);
            if (is_first) start->second = below(5) > 0;
            if (start->second) cluster_.start(action.job, action.size_after, now_ + below(100));
        }
    }

    const Cluster& cluster() const { return cluster_; }

    // Without the holes of the queue.
    Snapshot fresh() const {
        Snapshot snapshot = cluster_.snapshot();
        std::vector<PendingJob> queue;
        const QueueIndex& index = cluster_.index().queue;
        for (auto i = index.next(0); i < index.end(); i = index.next(i + 1))
            queue.push_back(snapshot.pending[i]);
        snapshot.pending = queue;
        return snapshot;
    }

  private:
    int below(int n) { return static_cast<int>(random_() % n); }
    JobId any_running() {
        const auto& running = cluster_.snapshot().running;
        return running[below(running.size())].id;
    }
    void arrive() {
        PendingJob job;
        job.id = ++last_;
        job.duration = below(100);
        Sizing& a = job.elastic;
        a.min = a.pref = a.max = 1 + below(kNodes);
        a.malleable = below(2);
        if (a.malleable) {
            a.min = 1 + below(a.pref);
            a.max = a.pref + below(kNodes);
        }
        first_[job.id] = job.id;
        cluster_.arrive(std::move(job));
    }
    void withdraw_some() {
        const QueueIndex& queue = cluster_.index().queue;
        for (auto i = queue.next(0); i < queue.end(); i = queue.next(i + 1)) {
            const PendingJob& job = cluster_.snapshot().pending[i];
            if (!job.together && below(3) == 0) aside_.push_back(job);
        }
        for (const PendingJob& job : aside_)
            if (!is_aside_[job.id]) cluster_.withdraw(job.id);
        for (const PendingJob& job : aside_) is_aside_[job.id] = true;
    }
    // The queue is in the order in which jobs came.
    void bring_back() {
        std::ranges::sort(aside_, {}, &PendingJob::id);
        is_aside_.clear();
        cluster_.arrive(std::move(aside_), std::less<JobId>());
        aside_.clear();
    }
    void bound(JobId id) {
        const RunningJob& job = cluster_.running(id);
        const int size = total(job.held);
        if (job.elastic.malleable && job.elastic.max > size)
            cluster_.bound(id, size + below(job.elastic.max - size + 1), job.elastic.pref);
    }
    void arrive_together() {
        const JobId first = last_ + 1;
        for (int left = 2 + below(2); left > 0; --left) {
            PendingJob job;
            job.id = ++last_;
            job.together = first;
            job.duration = below(100);
            job.elastic.min = job.elastic.pref = job.elastic.max = 1 + below(kNodes / 2);
            first_[job.id] = first;
            cluster_.arrive(std::move(job));
        }
    }

    Rng random_;
    Cluster cluster_;
    Time now_ = 0;
    JobId last_ = 0;
    std::vector<PendingJob> aside_;  // have left the queue, and come back
    std::map<JobId, bool> is_aside_;
    std::map<JobId, JobId> first_;  // of those that start together with it
};

std::string text(const Plan& plan) {
    Plan copy = plan;
    for (Action& action : copy.actions) action.place = 0;  // places differ by the holes
    return to_json(copy).dump();
}

}  // namespace

TEST(events_and_a_fresh_snapshot_agree) {
    const auto names = preset_names();
    for (int life = 0; life < 130; ++life) {
        RandomLife random(seed(31) + life);
        const Policy policy = *preset(names[life % names.size()]);
        Planner by_events, by_snapshot;
        for (int step = 0; step < 300; ++step) {
            random.step();
            Rng rng(step), again(step);
            const Snapshot fresh = random.fresh();
            check_ok(validate(fresh));
            const Plan& plan = by_events.plan(random.cluster(), policy, rng);
            check_eq(text(plan), text(by_snapshot.plan(fresh, policy, again)));
            random.carry_out(plan);
        }
    }
}

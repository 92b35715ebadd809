// SPDX-License-Identifier: MIT
// First come first served, EASY and conservative backfilling as the manual states them, on whole
// workloads, with nothing shared with the simulator or the planner and no data structure but lists.
// simulate() must start every job at the same instant.
#include <algorithm>
#include <limits>

#include "random_workload.hpp"
#include "simulator/engine.hpp"
#include "simulator/generators.hpp"
#include "simulator/make_workload.hpp"
#include "testing.hpp"

using namespace elastic;
using namespace elastic::testing;
using simulator::Job;
using simulator::Workload;

namespace {

enum class Discipline { fcfs, easy, lightest, conservative };

// What starts in one instant: a job, or the components of a heterogeneous one.
using Whole = std::vector<std::size_t>;

class BruteForce {
  public:
    BruteForce(const Workload& workload, Discipline discipline)
        : jobs_(workload.jobs),
          discipline_(discipline),
          free_(workload.nodes),
          starts_(jobs_.size(), -1),
          state_(jobs_.size(), State::future) {
        for (std::size_t i = 0; i < jobs_.size(); ++i) wholes_.push_back({i});
        for (const auto& components : workload.heterogeneous) {
            for (const std::uint32_t job : components) wholes_[job].clear();
            wholes_[components.front()].assign(components.begin(), components.end());
        }
    }

    std::vector<Time> starts() {
        while (next_instant()) {
            for (std::size_t i = 0; i < jobs_.size(); ++i)
                if (state_[i] == State::running && starts_[i] + jobs_[i].run == now_) {
                    state_[i] = State::gone;
                    free_ += jobs_[i].nodes;
                }
            arrive();
            schedule();
        }
        return starts_;
    }

    int backfilled() const { return backfilled_; }

  private:
    enum class State { future, queued, running, gone };

    bool next_instant() {
        Time next = std::numeric_limits<Time>::infinity();
        for (std::size_t i = 0; i < jobs_.size(); ++i) {
            if (state_[i] == State::future) next = std::min(next, jobs_[i].submit);
            if (state_[i] == State::running) next = std::min(next, starts_[i] + jobs_[i].run);
        }
        now_ = next;
        return next != std::numeric_limits<Time>::infinity();
    }

    // The queue is ordered by submission, then by the log: jobs of one instant come in its order.
    void arrive() {
        for (const Whole& whole : wholes_) {
            if (whole.empty() || state_[whole[0]] != State::future) continue;
            if (jobs_[whole[0]].submit != now_) continue;
            for (const std::size_t job : whole) state_[job] = State::queued;
            queue_.push_back(whole);
        }
    }

    int nodes_of(const Whole& whole) const {
        int nodes = 0;
        for (const std::size_t job : whole) nodes += jobs_[job].nodes;
        return nodes;
    }

    // How many have started.
    int start(std::size_t place) {
        const Whole whole = queue_[place];
        queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(place));
        for (const std::size_t job : whole) {
            state_[job] = State::running;
            starts_[job] = now_;
            free_ -= jobs_[job].nodes;
        }
        return static_cast<int>(whole.size());
    }

    // Each job of the queue, in its order, gets the earliest place that those before it and the
    // running ones leave.
    struct Use {
        Time from, to;
        int nodes;
    };

    void schedule_conservatively() {
        std::vector<Use> uses;
        const int nodes = free_ + running_nodes();
        for (std::size_t i = 0; i < jobs_.size(); ++i)
            if (state_[i] == State::running)
                uses.push_back({now_, expected_end(i), jobs_[i].nodes});
        bool in_order = true;
        for (std::size_t place = 0; place < queue_.size();) {
            const Whole& whole = queue_[place];
            const Time from = earliest(uses, nodes, whole);
            for (const std::size_t job : whole)
                uses.push_back({from, from + jobs_[job].estimate, jobs_[job].nodes});
            in_order = in_order && from == now_;
            if (from != now_) {
                ++place;
                continue;
            }
            const int started = start(place);
            if (!in_order) backfilled_ += started;
        }
    }

    int running_nodes() const {
        int nodes = 0;
        for (std::size_t i = 0; i < jobs_.size(); ++i)
            if (state_[i] == State::running) nodes += jobs_[i].nodes;
        return nodes;
    }

    static int used_at(const std::vector<Use>& uses, Time time) {
        int nodes = 0;
        for (const Use& use : uses)
            if (use.from <= time && time < use.to) nodes += use.nodes;
        return nodes;
    }

    // Use begins to grow only where some use begins, so those are the places to look.
    Time earliest(const std::vector<Use>& uses, int nodes, const Whole& whole) const {
        Time best = std::numeric_limits<Time>::infinity();
        const auto fits = [&](Time from) {
            std::vector<Use> all = uses;
            for (const std::size_t job : whole)
                all.push_back({from, from + jobs_[job].estimate, jobs_[job].nodes});
            return std::ranges::all_of(all, [&](const Use& use) {
                return use.from < from || used_at(all, use.from) <= nodes;
            });
        };
        if (fits(now_)) return now_;
        for (const Use& use : uses)
            if (use.to < best && fits(use.to)) best = use.to;
        return best;
    }

    void schedule() {
        if (discipline_ == Discipline::conservative) return schedule_conservatively();
        while (!queue_.empty() && nodes_of(queue_[0]) <= free_) start(0);
        if (queue_.empty() || discipline_ == Discipline::fcfs) return;
        const auto [shadow, extra] = reservation(nodes_of(queue_[0]));
        int left = extra;
        for (const Whole& whole : candidates()) {
            int beyond = 0;
            for (const std::size_t job : whole)
                if (now_ + jobs_[job].estimate > shadow) beyond += jobs_[job].nodes;
            if (nodes_of(whole) > free_ || beyond > std::max(left, 0)) continue;
            left -= beyond;
            backfilled_ +=
                start(static_cast<std::size_t>(std::ranges::find(queue_, whole) - queue_.begin()));
        }
    }

    // Who may overtake the first of the queue, in the order in which they are tried.
    std::vector<Whole> candidates() const {
        std::vector<Whole> list(queue_.begin() + 1, queue_.end());
        const auto weight = [&](const Whole& whole) {
            return jobs_[whole[0]].estimate * std::sqrt(jobs_[whole[0]].nodes);
        };
        if (discipline_ == Discipline::lightest) std::ranges::stable_sort(list, {}, weight);
        return list;
    }

    // A job that outruns its estimate may end at any moment: next.
    Time expected_end(std::size_t job) const {
        const Time end = starts_[job] + jobs_[job].estimate;
        return end > now_ ? end : std::nextafter(now_, std::numeric_limits<Time>::infinity());
    }

    std::pair<Time, int> reservation(int nodes) const {
        Time shadow = std::numeric_limits<Time>::infinity();
        for (std::size_t i = 0; i < jobs_.size(); ++i)
            if (state_[i] == State::running && free_at(expected_end(i)) >= nodes)
                shadow = std::min(shadow, expected_end(i));
        return {shadow, free_at(shadow) - nodes};
    }

    int free_at(Time time) const {
        int free = free_;
        for (std::size_t i = 0; i < jobs_.size(); ++i)
            if (state_[i] == State::running && expected_end(i) <= time) free += jobs_[i].nodes;
        return free;
    }

    const std::vector<Job>& jobs_;
    const Discipline discipline_;
    Time now_ = 0;
    int free_;
    std::vector<Time> starts_;
    std::vector<State> state_;
    std::vector<Whole> wholes_;  // by their first job; empty for other components
    std::vector<Whole> queue_;
    int backfilled_ = 0;
};

simulator::Outcome simulated(const Workload& workload, std::string_view policy) {
    simulator::SimulationOptions options;
    options.policy = *core::preset(policy);
    return simulator::simulate(workload, options);
}

void check_same(const Workload& workload, const std::vector<Time>& expected,
                const simulator::Outcome& actual, int round) {
    for (std::size_t i = 0; i < expected.size(); ++i) {
        ck_assert_msg(actual.jobs[i].start == expected[i],
                      "workload %d, job %zu of %zu starts at %g, not %g", round, i, expected.size(),
                      actual.jobs[i].start, expected[i]);
        check_eq(actual.jobs[i].end, expected[i] + workload.jobs[i].run);
        check_eq(actual.jobs[i].nodes_start, workload.jobs[i].nodes);
    }
    check_eq(actual.lost, 0);
}

}  // namespace

TEST(easy_starts_every_job_when_the_rules_say) {
    core::Rng rng(seed(11));
    std::int64_t backfilled = 0;
    for (int round = 0; round < 600; ++round) {
        RandomWorkload random(rng);
        const Workload workload = random.rigid(random.between(0, 120), round % 2 == 1);
        BruteForce easy(workload, Discipline::easy);
        const simulator::Outcome outcome = simulated(workload, "easy");
        check_same(workload, easy.starts(), outcome, round);
        check_eq(outcome.counters.backfilled, easy.backfilled());
        backfilled += easy.backfilled();
    }
    check_that(backfilled > 1000);
}

TEST(the_lightest_overtakes_when_the_rules_say) {
    core::Rng rng(seed(15));
    int otherwise = 0;
    for (int round = 0; round < 300; ++round) {
        RandomWorkload random(rng);
        const Workload workload = random.rigid(random.between(0, 120), round % 2 == 1);
        const std::vector<Time> expected = BruteForce(workload, Discipline::lightest).starts();
        check_same(workload, expected, simulated(workload, "easy-lightest"), round);
        otherwise += expected != BruteForce(workload, Discipline::easy).starts();
    }
    check_that(otherwise > 100);
}

TEST(fcfs_starts_every_job_when_the_rules_say) {
    core::Rng rng(seed(12));
    for (int round = 0; round < 300; ++round) {
        RandomWorkload random(rng);
        const Workload workload = random.rigid(random.between(0, 120), round % 2 == 1);
        const simulator::Outcome outcome = simulated(workload, "fcfs");
        check_same(workload, BruteForce(workload, Discipline::fcfs).starts(), outcome, round);
        check_eq(outcome.counters.backfilled, 0);
        check_eq(outcome.counters.in_order, static_cast<std::int64_t>(workload.jobs.size()));
    }
}

TEST(conservative_backfilling_starts_every_job_when_the_rules_say) {
    core::Rng rng(seed(13));
    std::int64_t backfilled = 0;
    for (int round = 0; round < 300; ++round) {
        RandomWorkload random(rng);
        const Workload workload = random.rigid(random.between(0, 60), round % 2 == 1);
        BruteForce conservative(workload, Discipline::conservative);
        const simulator::Outcome outcome = simulated(workload, "conservative");
        check_same(workload, conservative.starts(), outcome, round);
        check_eq(outcome.counters.backfilled, conservative.backfilled());
        backfilled += conservative.backfilled();
    }
    check_that(backfilled > 100);
}

TEST(components_start_together_when_the_rules_say) {
    core::Rng rng(seed(14));
    std::size_t heterogeneous = 0;
    int backfilled = 0;
    for (int round = 0; round < 400; ++round) {
        RandomWorkload random(rng);
        Workload workload = random.rigid(random.between(2, 60), round % 2 == 1);
        random.bind(workload);
        heterogeneous += workload.heterogeneous.size();
        for (const auto& [name, discipline] :
             {std::pair("fcfs", Discipline::fcfs), std::pair("easy", Discipline::easy),
              std::pair("conservative", Discipline::conservative)}) {
            BruteForce expected(workload, discipline);
            const simulator::Outcome outcome = simulated(workload, name);
            check_same(workload, expected.starts(), outcome, round);
            check_eq(outcome.counters.backfilled, expected.backfilled());
            backfilled += expected.backfilled();
        }
    }
    check_that(heterogeneous > 1000);
    check_that(backfilled > 1000);
}

// The same on logs as the workload models make them.
TEST(generated_logs_run_as_the_rules_say) {
    simulator::DowneyOptions downey;
    downey.common.jobs = 400;
    simulator::LublinOptions lublin;
    lublin.common.jobs = 400;
    lublin.common.load = 0.9;
    lublin.common.estimate_factor = 5;
    const auto logs = {simulator::generate_downey(downey), simulator::generate_lublin(lublin)};
    int round = 0;
    for (const auto& log : logs) {
        check_ok(log);
        const auto workload = simulator::make_workload(*log, {});
        check_ok(workload);
        for (const auto& [name, discipline] :
             {std::pair("fcfs", Discipline::fcfs), std::pair("easy", Discipline::easy),
              std::pair("easy-lightest", Discipline::lightest),
              std::pair("conservative", Discipline::conservative)})
            check_same(*workload, BruteForce(*workload, discipline).starts(),
                       simulated(*workload, name), round++);
    }
}

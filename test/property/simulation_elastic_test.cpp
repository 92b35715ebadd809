// SPDX-License-Identifier: MIT
// What holds for every simulation, under every preset: an outside checker adds up the segments,
// with its own formulas; and the journal passes the replay checker.
#include <cmath>
#include <map>

#include "journal/replay.hpp"
#include "random_workload.hpp"
#include "simulator/engine.hpp"
#include "simulator/journal_observer.hpp"
#include "simulator/metrics.hpp"
#include "simulator/output.hpp"
#include "simulator/references.hpp"
#include "testing.hpp"

using namespace elastic;
using namespace elastic::simulator;
using elastic::testing::RandomWorkload;
using elastic::testing::seed;

namespace {

Outcome simulated(const Workload& workload, const core::Policy& policy,
                  Observer* observer = nullptr) {
    SimulationOptions options;
    options.policy = policy;
    options.segments = true;
    options.observer = observer;
    return simulate(workload, options);
}

// Run time at n nodes, by that at the preferred size p.
double stretch(const core::SpeedupModel& model, int n, int p) {
    const double x = model.a;
    if (model.kind == core::SpeedupModel::Kind::power) return std::pow(double(n) / p, x - 1);
    if (model.kind == core::SpeedupModel::Kind::rho) return (x + (1 - x) / n) / (x + (1 - x) / p);
    return x * n / p + (1 - x) * p / n;
}

// One simulation, added up.
class Audit {
  public:
    Audit(const Workload& workload, const Outcome& outcome, std::string text)
        : workload_(workload), outcome_(outcome), text_(std::move(text)) {}

    void run() {
        check(outcome_.lost == 0, "no job is lost");
        std::size_t next = 0;
        for (std::size_t job = 0; job < workload_.jobs.size(); ++job) {
            const std::size_t first = next;
            while (next < outcome_.segments.size() && outcome_.segments[next].job == job) ++next;
            check_job(job, first, next);
        }
        check(next == outcome_.segments.size(), "segments are ordered by job");
        check_machine();
        check_sums();
    }

  private:
    void check(bool holds, const char* what) const {
        ck_assert_msg(holds, "not so: %s\n%s", what, text_.c_str());
    }
    bool near(double a, double b) const { return std::fabs(a - b) <= 1e-6 * (1 + std::fabs(b)); }

    void check_job(std::size_t index, std::size_t first, std::size_t last) {
        const Job& job = workload_.jobs[index];
        const JobResult& result = outcome_.jobs[index];
        check(first < last, "each job runs");
        check(result.start >= job.submit, "no job starts before it is submitted");
        Time at = result.start;
        double work = 0;
        int changes = 0;
        for (std::size_t i = first; i < last; ++i) {
            const Segment& segment = outcome_.segments[i];
            check(segment.from == at && segment.to > segment.from, "segments are contiguous");
            check_size(job, segment.nodes);
            changes += i > first && segment.nodes != outcome_.segments[i - 1].nodes;
            work += work_done(job, segment);
            at = segment.to;
        }
        check(at == result.end, "a job's last segment ends with it");
        check(near(work, job.run), "work done is work to do");
        check(changes <= result.resizes, "a change of size is a resize");
        check(outcome_.segments[last - 1].nodes == result.nodes_end, "final size");
        if (job.elasticity < 0) check(result.resizes == 0, "rigid jobs are not resized");
        paid_ += job.elasticity < 0
                     ? 0
                     : workload_.elasticities[job.elasticity].negotiation * result.resizes;
    }

    void check_size(const Job& job, int nodes) const {
        if (job.elasticity < 0) return check(nodes == job.nodes, "rigid jobs keep their size");
        const core::Annotation& elastic = workload_.elasticities[job.elasticity].annotation;
        check(nodes >= elastic.min && nodes <= elastic.max, "a job stays inside [min, max]");
        check(elastic.sizes.allows(nodes), "a job has an allowed size");
    }

    double work_done(const Job& job, const Segment& segment) {
        const Duration time = segment.to - segment.from;
        node_seconds_ += time * segment.nodes;
        if (segment.kind == Segment::Kind::redistribute) {
            resizing_ += time * segment.nodes;
            resizing_time_ += time;
            return 0;
        }
        if (job.elasticity < 0) return time;
        return time / stretch(workload_.elasticities[job.elasticity].true_speedup, segment.nodes,
                              job.nodes);
    }

    void check_machine() const {
        std::map<Time, int> changes;
        for (const Segment& segment : outcome_.segments) {
            changes[segment.from] += segment.nodes;
            changes[segment.to] -= segment.nodes;
        }
        int used = 0;
        for (const auto& [time, change] : changes) {
            used += change;
            check(used >= 0 && used <= workload_.nodes, "never more nodes than there are");
        }
        check(used == 0, "all nodes are idle in the end");
    }

    void check_sums() const {
        const Counters& c = outcome_.counters;
        check(near(c.busy, node_seconds_), "busy node-seconds");
        check(near(c.redistribution + c.negotiation, resizing_), "node-seconds of resizes");
        check(resizing_time_ >= paid_ - 1e-6 * (1 + paid_), "each resize takes its time");
        const Summary summary = summarise(workload_, outcome_);
        check(summary.utilisation <= 1 + 1e-9, "utilisation is at most 1");
        check(summary.useful_utilisation <= summary.utilisation + 1e-12, "useful utilisation");
        check_bounds(summary);
        std::int64_t resizes = 0;
        for (const JobResult& job : outcome_.jobs) resizes += job.resizes;
        check(resizes == c.shrinks + c.expansions, "resizes are shrinks and expansions");
        check(c.in_order + c.backfilled + c.by_shrinking <=
                  static_cast<std::int64_t>(outcome_.jobs.size()),
              "a job starts once");
    }

    void check_bounds(const Summary& summary) const {
        constexpr double kRounding = 1 + 1e-9;
        const Means least = lower_bound(workload_);
        check(least.turnaround <= summary.turnaround.mean * kRounding, "least turnaround");
        check(least.slowdown <= summary.slowdown.mean * kRounding, "least slowdown");
        check(least.bounded_slowdown <= summary.bounded_slowdown.mean * kRounding,
              "least bounded slowdown");
        check(least.makespan <= summary.makespan * kRounding, "least makespan");
        const Means greedily = greedy(workload_);
        check(least.turnaround <= greedily.turnaround * kRounding, "no schedule is below");
        check(least.bounded_slowdown <= greedily.bounded_slowdown * kRounding, "nor by slowdown");
        check(least.makespan <= greedily.makespan * kRounding, "nor by makespan");
    }

    const Workload& workload_;
    const Outcome& outcome_;
    const std::string text_;
    double node_seconds_ = 0, resizing_ = 0;
    Duration resizing_time_ = 0, paid_ = 0;
};

// Presets, some with another resize gap.
template <class Check>
void for_presets(std::uint64_t standard_seed, int rounds, int percent, Check check) {
    core::Rng rng(seed(standard_seed));
    for (int round = 0; round < rounds; ++round) {
        RandomWorkload random(rng);
        const Workload workload =
            random.elastic(random.between(1, 60), percent < 0 ? random.between(1, 100) : percent);
        const Duration gap = random.chance(40) ? 0 : random.between(1, 100);
        for (const std::string_view name : core::preset_names()) {
            core::Policy policy = *core::preset(name);
            if (round % 2 == 1) policy.resize_gap = gap;
            check(workload, policy, fmt::format("round {}, {}", round, name));
        }
    }
}

// Presets that order rigid jobs in another way than EASY does.
bool is_another_order(std::string_view text) {
    return text.ends_with("fcfs") || text.ends_with("conservative") ||
           text.ends_with("easy-lightest");
}

// Checks, as things happen, that the components of a heterogeneous job that have not ended start,
// and are preempted, in one instant.
class Together : public Observer {
  public:
    explicit Together(const Workload& workload)
        : whole_(workload.jobs.size(), -1), state_(workload.heterogeneous.size()) {
        for (std::size_t i = 0; i < workload.heterogeneous.size(); ++i) {
            state_[i].left = static_cast<int>(workload.heterogeneous[i].size());
            for (const std::uint32_t job : workload.heterogeneous[i])
                whole_[job] = static_cast<int>(i);
        }
    }

    void arrived(Time now, std::size_t) override { check_until(now); }
    void started_on_parts(Time, std::size_t, const std::vector<SharedNode>&) override {}
    void started(Time now, std::size_t job, const core::PoolCounts&) override {
        change(now, job, +1);
    }
    void preempted(Time now, std::size_t job, int) override {
        change(now, job, -1);
        preempted_ += whole_[job] >= 0;
    }
    void ended(Time now, std::size_t job, int) override {
        check_until(now);
        if (whole_[job] < 0) return;
        --state_[whole_[job]].running;
        --state_[whole_[job]].left;
    }
    void asked(Time now, std::size_t, OpId, int, int) override { check_until(now); }
    void denied(Time now, std::size_t, OpId, int, core::Reason) override { check_until(now); }
    void resized(Time now, const Resize&) override { check_until(now); }
    void stepped(Time now, std::size_t, int, int, int) override { check_until(now); }

    void finish() {
        check_until(kNever);
        for (const State& whole : state_) check_eq(whole.left, 0);
    }
    int starts() const { return starts_; }
    int preempted() const { return preempted_; }

  private:
    // Components that run, and that have not ended.
    struct State {
        int running = 0, left = 0;
    };

    void change(Time now, std::size_t job, int by) {
        check_until(now);
        if (whole_[job] < 0) return;
        state_[whole_[job]].running += by;
        starts_ += by > 0;
        changed_ = true;
    }
    // What began before this instant is complete.
    void check_until(Time now) {
        if (now > now_ && changed_) {
            for (const State& whole : state_)
                ck_assert_msg(whole.running == 0 || whole.running == whole.left,
                              "%d of %d components run from %g on", whole.running, whole.left,
                              now_);
            changed_ = false;
        }
        now_ = now;
    }

    std::vector<int> whole_;  // by job; -1: it is no component
    std::vector<State> state_;
    Time now_ = 0;
    bool changed_ = false;
    int starts_ = 0, preempted_ = 0;
};

// The journal of what `simulated` does passes the checker.
template <class Simulate>
void check_journal(const Workload& workload, const std::string& text, Simulate simulated) {
    journal::Replay replay({false, 0});
    std::size_t line = 0;
    JournalObserver observer(workload, "test",
                             [&](const journal::Event& event) { replay.feed(++line, event); });
    simulated(observer);
    observer.finish();
    replay.finish();
    for (const journal::Violation& violation : replay.violations())
        ck_abort_msg("%s: line %zu: %s", text.c_str(), violation.line, violation.message.c_str());
}

// Jobs that start later than HeadDelay after what they were promised; `bounded`: and not later
// than the last of those ends that had started by then, and a resize gap.
int starts_past_the_bound(const Outcome& outcome, const core::Policy& policy, bool bounded,
                          const std::string& text) {
    int late = 0;
    for (const JobResult& job : outcome.jobs) {
        const Time bound = job.promised + policy.head_delay;
        if (job.start <= bound) continue;
        Time last_end = 0;
        for (const JobResult& other : outcome.jobs)
            if (other.start <= bound) last_end = std::max(last_end, other.end);
        if (bounded)
            ck_assert_msg(job.start <= last_end + policy.resize_gap,
                          "%s: promised %g, starts at %g, not %g", text.c_str(), job.promised,
                          job.start, last_end);
        late += job.start > last_end;
    }
    return late;
}

// All times by a factor.
Workload scaled(Workload workload, double factor) {
    for (Job& job : workload.jobs) {
        job.submit *= factor;
        job.run *= factor;
        job.estimate *= factor;
    }
    for (Elasticity& e : workload.elasticities) {
        core::ResizeCost& cost = e.annotation.cost;
        for (double* value : {&cost.alpha, &cost.beta, &cost.b, &cost.sync, &e.negotiation})
            *value *= factor;
        if (e.annotation.gap > 0) e.annotation.gap *= factor;
    }
    return workload;
}

}  // namespace

TEST(nodes_and_work_are_conserved_under_every_preset) {
    std::int64_t shrinks = 0, expansions = 0, granted = 0, denied = 0, by_shrinking = 0;
    for_presets(21, 250, -1,
                [&](const Workload& workload, const core::Policy& policy, const std::string& text) {
                    const Outcome outcome = simulated(workload, policy);
                    Audit(workload, outcome, text).run();
                    shrinks += outcome.counters.shrinks;
                    expansions += outcome.counters.expansions;
                    granted += outcome.counters.granted;
                    denied += outcome.counters.denied;
                    by_shrinking += outcome.counters.by_shrinking;
                });
    check_that(shrinks > 1000 && expansions > 1000 && by_shrinking > 100);
    check_that(granted > 100 && denied > 100);
}

TEST(jobs_with_profiles_never_wait_for_each_other_for_ever) {
    std::int64_t late = 0;
    core::Rng rng(seed(26));
    for (int round = 0; round < 150; ++round) {
        const Workload workload = RandomWorkload(rng).with_profiles(60, 40);
        for (const std::string_view name : core::preset_names()) {
            const Outcome outcome = simulated(workload, *core::preset(name));
            late += outcome.counters.late_steps;
            const std::string text = fmt::format("round {}, {}", round, name);
            ck_assert_msg(outcome.lost == 0, "%s: jobs never ended", text.c_str());
        }
    }
    check_that(late > 100);
}

TEST(the_journal_passes_the_checker_under_every_preset) {
    for_presets(22, 60, -1,
                [&](const Workload& workload, const core::Policy& policy, const std::string& text) {
                    journal::Replay replay({false, 0});
                    std::size_t line = 0;
                    JournalObserver observer(workload, "test", [&](const journal::Event& event) {
                        const auto again = journal::event_from_json(journal::to_json(event));
                        check_ok(again);
                        replay.feed(++line, *again);
                    });
                    const Outcome outcome = simulated(workload, policy, &observer);
                    observer.finish();
                    replay.finish();
                    for (const journal::Violation& violation : replay.violations())
                        ck_abort_msg("%s: line %zu: %s", text.c_str(), violation.line,
                                     violation.message.c_str());
                    check_eq(replay.summary().completed, static_cast<int>(workload.jobs.size()));
                    check_eq(replay.summary().shrinks, outcome.counters.shrinks);
                    check_eq(replay.summary().expands, outcome.counters.expansions);
                    // Watching changes nothing.
                    check_eq(jobs_csv(workload, outcome),
                             jobs_csv(workload, simulated(workload, policy)));
                });
}

TEST(components_start_together_under_every_preset) {
    core::Rng rng(seed(29));
    std::int64_t starts = 0, shrinks = 0;
    for_presets(30, 150, -1,
                [&](Workload workload, const core::Policy& policy, const std::string& text) {
                    RandomWorkload(rng).bind(workload);
                    Together together(workload);
                    const Outcome outcome = simulated(workload, policy, &together);
                    together.finish();
                    Audit(workload, outcome, text).run();
                    check_journal(workload, text, [&](Observer& observer) {
                        check_eq(jobs_csv(workload, outcome),
                                 jobs_csv(workload, simulated(workload, policy, &observer)));
                    });
                    starts += together.starts();
                    shrinks += outcome.counters.shrinks;
                });
    check_that(starts > 10000 && shrinks > 1000);
}

TEST(components_are_preempted_together_and_start_together_again) {
    core::Rng rng(seed(31));
    std::int64_t preempted = 0, spared = 0;
    for (int round = 0; round < 100; ++round) {
        RandomWorkload random(rng);
        Workload workload = random.elastic(random.between(2, 60), 40);
        random.bind(workload);
        for (std::size_t i = 0; i < workload.jobs.size(); ++i)
            workload.levels.push_back(random.between(0, 2));
        for (const auto& components : workload.heterogeneous)
            for (const std::uint32_t job : components)
                workload.levels[job] = workload.levels[components.front()];
        for (const std::string_view name : core::preset_names()) {
            const std::string text = fmt::format("round {}, {}", round, name);
            Together together(workload);
            const Outcome outcome = simulated(workload, *core::preset(name), &together);
            together.finish();
            ck_assert_msg(outcome.lost == 0, "%s: jobs never ended", text.c_str());
            check_journal(workload, text, [&](Observer& observer) {
                simulated(workload, *core::preset(name), &observer);
            });
            preempted += together.preempted();
            spared += outcome.counters.spared;
        }
    }
    check_that(preempted > 1000 && spared > 1000);
}

TEST(the_same_seed_gives_the_same_bytes) {
    for_presets(23, 40, -1,
                [&](const Workload& workload, const core::Policy& policy, const std::string& text) {
                    const Outcome a = simulated(workload, policy), b = simulated(workload, policy);
                    ck_assert_msg(jobs_csv(workload, a) == jobs_csv(workload, b), "%s",
                                  text.c_str());
                    check_eq(segments_csv(workload, a), segments_csv(workload, b));
                    check_eq(to_json(summarise(workload, a)).dump(),
                             to_json(summarise(workload, b)).dump());
                });
}

TEST(without_elastic_jobs_every_preset_is_easy) {
    core::Rng rng(seed(32));
    for_presets(
        24, 100, 0, [&](Workload workload, const core::Policy& policy, const std::string& text) {
            if (is_another_order(text)) return;
            if (rng() % 2 == 0) RandomWorkload(rng).bind(workload);
            const std::string easy = jobs_csv(workload, simulated(workload, *core::preset("easy")));
            ck_assert_msg(jobs_csv(workload, simulated(workload, policy)) == easy, "%s",
                          text.c_str());
        });
}

TEST(scaling_all_times_scales_all_results) {
    constexpr double kFactor = 4;  // a power of two, so that nothing is rounded differently
    for_presets(25, 60, -1,
                [&](const Workload& workload, core::Policy policy, const std::string& text) {
                    const Outcome once = simulated(workload, policy);
                    policy.resize_gap *= kFactor;
                    policy.head_delay *= kFactor;
                    policy.guard_time *= kFactor;
                    const Outcome scaled_outcome = simulated(scaled(workload, kFactor), policy);
                    for (std::size_t i = 0; i < once.jobs.size(); ++i) {
                        const JobResult &a = once.jobs[i], &b = scaled_outcome.jobs[i];
                        ck_assert_msg(b.start == kFactor * a.start && b.end == kFactor * a.end &&
                                          a.nodes_end == b.nodes_end && a.resizes == b.resizes,
                                      "%s, job %zu: %g-%g becomes %g-%g", text.c_str(), i, a.start,
                                      a.end, b.start, b.end);
                    }
                });
}

// On a machine on which every job can have its largest size at once, nothing waits and, if jobs may
// not grow, nothing changes, but where they start with their minimum anyway.
TEST(an_idle_machine_changes_nothing) {
    for_presets(26, 100, -1,
                [&](Workload workload, const core::Policy& policy, const std::string& text) {
                    if (policy.initial_size == core::InitialSize::minimum) return;
                    for (Elasticity& e : workload.elasticities) {
                        e.annotation.max = e.annotation.pref;
                        e.events.clear();
                    }
                    for (const Job& job : workload.jobs) workload.nodes += job.nodes;
                    const Outcome outcome = simulated(workload, policy);
                    for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
                        const Job& job = workload.jobs[i];
                        const JobResult& result = outcome.jobs[i];
                        ck_assert_msg(result.start == job.submit &&
                                          result.end == job.submit + job.run && result.resizes == 0,
                                      "%s, job %zu", text.c_str(), i);
                    }
                });
}

// Nobody shrinks others here: what an evolving job does to a head is not undone by that.
TEST(a_head_waits_past_its_bound_only_for_who_runs_by_then) {
    core::Rng rng(seed(27));
    int late_if_it_binds_requests = 0;
    for (int round = 0; round < 2000; ++round) {
        RandomWorkload random(rng);
        Workload workload = random.elastic(random.between(20, 60), random.between(50, 100));
        for (Elasticity& e : workload.elasticities)
            if (e.annotation.evolving && random.chance(70))
                e.events = {{0.1 * random.between(1, 5), -random.between(1, 60)}};
        core::Policy policy = *core::preset("easy");
        policy.head_delay = random.between(0, 60);
        const std::string text = fmt::format("round {}", round);
        late_if_it_binds_requests +=
            starts_past_the_bound(simulated(workload, policy), policy, false, text);
        policy.head_delay_binds = core::HeadDelayBinds::all;
        starts_past_the_bound(simulated(workload, policy), policy, true, text);
    }
    check_that(late_if_it_binds_requests > 20);
}

// The same where jobs are shrunk and expanded.  What is free is lent for a resize gap at a time;
// that of a job's own (gap=) is left out.
TEST(a_head_waits_past_its_bound_for_who_runs_by_then_and_a_resize_gap_where_jobs_shrink) {
    core::Rng rng(seed(28));
    int shrinks = 0, past_the_bound = 0, late_if_it_binds_requests = 0;
    for (int round = 0; round < 700; ++round) {
        RandomWorkload random(rng);
        Workload workload = random.elastic(random.between(20, 60), random.between(50, 100));
        for (Elasticity& e : workload.elasticities) e.annotation.gap = -1;
        const Duration delay = random.between(0, 60), gap = random.between(1, 200);
        for (const std::string_view name : core::preset_names()) {
            core::Policy policy = *core::preset(name);
            // Those that differ in StartsOn alone are the same in simulation.
            if (!policy.resizes() || policy.starts_on != core::StartsOn::idle) continue;
            const std::string text = fmt::format("round {}, {}", round, name);
            policy.head_delay = delay;
            policy.resize_gap = 0;
            policy.head_delay_binds = core::HeadDelayBinds::requests;
            late_if_it_binds_requests +=
                starts_past_the_bound(simulated(workload, policy), policy, false, text);
            policy.head_delay_binds = core::HeadDelayBinds::all;
            const Outcome outcome = simulated(workload, policy);
            starts_past_the_bound(outcome, policy, true, text);
            shrinks += outcome.counters.shrinks;
            past_the_bound += std::ranges::count_if(outcome.jobs, [&](const JobResult& job) {
                return job.start > job.promised + delay;
            });
            policy.resize_gap = gap;
            starts_past_the_bound(simulated(workload, policy), policy, true, text);
        }
    }
    check_that(shrinks > 10000);
    check_that(past_the_bound > 300);
    check_that(late_if_it_binds_requests > 10);
}

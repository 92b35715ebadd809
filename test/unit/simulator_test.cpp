// SPDX-License-Identifier: MIT
// The engine on examples small enough to be done by hand, its figures and tables.
#include <algorithm>
#include <array>

#include "journal/event.hpp"
#include "journal/replay.hpp"
#include "simulator/comparison.hpp"
#include "simulator/engine.hpp"
#include "simulator/journal_observer.hpp"
#include "simulator/metrics.hpp"
#include "simulator/node_allocator.hpp"
#include "simulator/output.hpp"
#include "simulator/references.hpp"
#include "testing.hpp"

using namespace elastic;
using namespace elastic::simulator;

namespace {

class Builder {
  public:
    explicit Builder(int nodes) { workload.nodes = nodes; }

    Job& job(Time submit, Duration run, int nodes) {
        Job job;
        job.id = 10 * (std::ssize(workload.jobs) + 1);
        job.submit = submit;
        job.run = job.estimate = run;
        job.nodes = nodes;
        return workload.jobs.emplace_back(job);
    }

    Elasticity& elastic(Time submit, Duration run, int min, int pref, int max) {
        job(submit, run, pref).elasticity = static_cast<int>(workload.elasticities.size());
        Elasticity& elasticity = workload.elasticities.emplace_back();
        elasticity.annotation.malleable = true;
        elasticity.annotation.min = min;
        elasticity.annotation.pref = pref;
        elasticity.annotation.max = max;
        return elasticity;
    }

    Elasticity& evolving(Time submit, Duration run, int min, int pref, int max,
                         std::vector<EvolvingEvent> events) {
        Elasticity& elasticity = elastic(submit, run, min, pref, max);
        elasticity.annotation.malleable = false;
        elasticity.annotation.evolving = true;
        elasticity.events = std::move(events);
        return elasticity;
    }

    void stepping(Time submit, Duration run, core::EvolutionProfile profile) {
        const auto [min, max] =
            std::ranges::minmax(profile, {}, [](const auto& step) { return step.nodes; });
        Elasticity& elasticity =
            evolving(submit, run, min.nodes, profile.front().nodes, max.nodes, {});
        elasticity.annotation.profile = std::move(profile);
    }

    Outcome run(std::string_view policy, bool settle = false) const {
        SimulationOptions options;
        options.settle = settle;
        options.policy = *core::preset(policy);
        options.segments = true;
        return simulate(workload, options);
    }

    Workload workload;
};

}  // namespace

TEST(a_short_job_is_backfilled) {
    Builder b(4);
    b.job(0, 100, 3);
    b.job(1, 50, 4);
    b.job(2, 60, 1);
    b.job(3, 40, 1).estimate = 200;
    const Outcome outcome = b.run("easy");
    check_eq(
        jobs_csv(b.workload, outcome),
        "job_id,class,submit,start,end,nodes_start,nodes_end,wait,turnaround,slowdown,resizes\n"
        "10,rigid,0,0,100,3,3,0,100,1,0\n"
        "20,rigid,1,100,150,4,4,99,149,2.98,0\n"
        "30,rigid,2,2,62,1,1,0,60,1,0\n"
        "40,rigid,3,150,190,1,1,147,187,4.675,0\n");
    check_eq(outcome.counters.backfilled, 1);
    check_eq(outcome.counters.in_order, 3);
}

TEST(who_comes_before_others_ends_them) {
    Builder b(4);
    b.job(0, 100, 3);
    b.job(0, 100, 1);
    b.job(10, 50, 4);
    b.job(11, 20, 2);
    b.workload.levels = {0, 0, 1, 1};
    const Outcome outcome = b.run("easy");
    check_eq(
        jobs_csv(b.workload, outcome),
        "job_id,class,submit,start,end,nodes_start,nodes_end,wait,turnaround,slowdown,resizes\n"
        "10,rigid,0,80,180,3,3,80,180,1.8,0\n"
        "20,rigid,0,60,160,1,1,60,160,1.6,0\n"
        "30,rigid,10,10,60,4,4,0,50,1,0\n"
        "40,rigid,11,60,80,2,2,49,69,3.45,0\n");
    check_eq(outcome.counters.preempted, 2);
    check_eq(outcome.counters.lost, 40.0);
    check_eq(outcome.counters.busy, 400.0 + 200 + 40 + 40);
    check_eq(outcome.lost, 0);
}

TEST(who_would_be_ended_shrinks_first) {
    Builder b(8);
    b.elastic(0, 100, 2, 8, 8);
    b.job(10, 50, 4);
    b.workload.levels = {0, 1};
    Outcome outcome = b.run("easy");
    check_eq(outcome.jobs[1].start, 10.0);
    check_eq(outcome.jobs[0].start, 0.0);
    check_eq(outcome.jobs[0].nodes_end, 4);
    check_eq(outcome.counters.spared, 1);
    check_eq(outcome.counters.preempted, 0);

    SimulationOptions at_once;
    at_once.policy = *core::preset("easy");
    at_once.shrinks_first = false;
    outcome = simulate(b.workload, at_once);
    check_eq(outcome.jobs[0].start, 60.0);
    check_eq(outcome.jobs[0].end, 160.0);
    check_eq(outcome.counters.preempted, 1);
    check_eq(outcome.counters.lost, 80.0);
}

TEST(components_start_together_and_end_one_by_one) {
    Builder b(4);
    b.job(0, 100, 2);
    b.job(1, 30, 1);
    b.job(1, 50, 3);  // stands between the components in the log, and behind them in the queue
    b.job(1, 60, 2);
    b.job(2, 90, 2);
    b.job(3, 120, 1);
    b.workload.heterogeneous = {{1, 3}};
    const auto times = [&](const char* policy) {
        std::vector<std::pair<Time, Time>> times;
        for (const JobResult& job : b.run(policy).jobs) times.emplace_back(job.start, job.end);
        return times;
    };
    using Times = std::vector<std::pair<Time, Time>>;
    // Each component alone would fit in turn.
    check_eq(times("fcfs"),
             (Times{{0, 100}, {100, 130}, {160, 210}, {100, 160}, {210, 300}, {210, 330}}));
    // Two nodes for 90 s end in time for both, and then one node is to spare.
    check_eq(times("easy"),
             (Times{{0, 100}, {100, 130}, {160, 210}, {100, 160}, {2, 92}, {92, 212}}));
}

TEST(components_are_counted_as_jobs) {
    Builder b(4);
    b.job(0, 100, 4);
    b.job(10, 30, 1);
    b.job(10, 60, 2);
    b.workload.heterogeneous = {{1, 2}};
    const Summary summary = summarise(b.workload, b.run("easy"));
    check_eq(summary.jobs, 3);
    check_eq(summary.heterogeneous, 1);
    check_eq(summary.components, 2);
    check_eq(summary.wait.mean, (0 + 90 + 90) / 3.0);
    check_that(to_text(summary).find("heterogeneous                        1  whose 2 components "
                                     "count as jobs\n") != std::string::npos);
    check_eq(to_json(summary).get_int("components", -1), 2);
    b.workload.heterogeneous.clear();
    check_that(to_text(summarise(b.workload, b.run("easy"))).find("hetero") == std::string::npos);
}

TEST(others_shrink_for_components_in_the_same_instant) {
    Builder b(8);
    b.elastic(0, 10000, 2, 8, 8);
    b.job(400, 1000, 2);
    b.job(400, 2000, 3);
    b.workload.heterogeneous = {{1, 2}};
    const Outcome outcome = b.run("elastic");
    check_eq(outcome.counters.shrinks, 1);
    check_eq(outcome.jobs[1].start, 400.0);
    check_eq(outcome.jobs[2].start, 400.0);
}

TEST(who_ends_a_component_ends_all_that_run) {
    Builder b(4);
    b.job(0, 20, 1);  // ends before anybody comes
    b.job(0, 100, 1);
    b.job(0, 200, 2);
    b.job(50, 30, 2);
    b.workload.heterogeneous = {{0, 1, 2}};
    b.workload.levels = {0, 0, 0, 1};
    const Outcome outcome = b.run("easy");
    check_eq(outcome.jobs[0].end, 20.0);
    check_eq(outcome.jobs[3].start, 50.0);
    check_eq(outcome.jobs[1].start, 80.0);
    check_eq(outcome.jobs[2].start, 80.0);
    check_eq(outcome.counters.preempted, 2);
    check_eq(outcome.counters.lost, 50.0 + 100);
    // They end nobody.
    b.workload.levels = {1, 1, 1, 0};
    b.workload.jobs[3].submit = 0;
    for (const int job : {0, 1, 2}) b.workload.jobs[job].submit = 10;
    const Outcome other = b.run("easy");
    check_eq(other.counters.preempted, 0);
    check_eq(other.jobs[0].start, 30.0);
}

TEST(whoever_ends_others_by_a_second_plan_of_an_instant_starts_in_it) {
    Builder b(4);
    b.evolving(0, 100, 1, 2, 4, {{0.5, 1}});
    b.job(50, 30, 4);  // comes when the other asks, which is granted first
    b.workload.levels = {0, 1};
    const Outcome outcome = b.run("lina-default", true);
    check_eq(outcome.counters.granted, 2);  // it asks in each of its runs
    check_eq(outcome.jobs[1].start, 50.0);
    check_eq(outcome.jobs[0].start, 80.0);
    check_eq(outcome.lost, 0);
}

TEST(the_journal_of_preemptions_replays) {
    Builder b(8);
    b.elastic(0, 100, 2, 8, 8);
    b.evolving(1, 60, 1, 2, 6, {{0.5, 4}});
    for (int i = 0; i < 20; ++i) b.job(5 * i, 12 + i % 7, 1 + i % 8);
    b.stepping(3, 20, {{2, 10}, {4, 10}});
    for (std::size_t i = 0; i < b.workload.jobs.size(); ++i)
        b.workload.levels.push_back(static_cast<int>(i % 3));
    for (const std::string_view policy : core::preset_names()) {
        journal::Replay replay;
        std::size_t line = 0;
        JournalObserver observer(b.workload, policy,
                                 [&](const journal::Event& event) { replay.feed(++line, event); });
        SimulationOptions options;
        options.policy = *core::preset(policy);
        options.observer = &observer;
        const Outcome outcome = simulate(b.workload, options);
        observer.finish();
        replay.finish();
        check_eq(outcome.lost, 0);
        for (const journal::Violation& violation : replay.violations())
            ck_abort_msg("%s: %s", std::string(policy).c_str(), violation.message.c_str());
        check_that(outcome.counters.preempted > 0);
    }
}

TEST(a_job_goes_through_the_steps_of_its_profile) {
    Builder b(8);
    b.stepping(0, 70, {{2, 10}, {6, 20}, {3, 40}});
    const Outcome outcome = b.run("easy");
    check_eq(outcome.jobs[0].end, 70);
    check_eq(outcome.segments.size(), 3u);
    const std::array<std::pair<Time, int>, 3> expected{{{10, 2}, {30, 6}, {70, 3}}};
    for (std::size_t i = 0; i < expected.size(); ++i) {
        check_eq(outcome.segments[i].to, expected[i].first);
        check_eq(outcome.segments[i].nodes, expected[i].second);
    }
    check_eq(outcome.counters.late_steps, 0);
}

TEST(a_step_waits_for_nodes_that_somebody_holds_for_longer_than_was_said) {
    Builder b(4);
    b.job(0, 25, 2).estimate = 5;
    b.stepping(0, 20, {{2, 10}, {4, 10}});
    const Outcome outcome = b.run("easy");
    check_eq(outcome.jobs[0].end, 25);
    check_eq(outcome.jobs[1].start, 0);
    check_eq(outcome.jobs[1].end, 35);
    check_eq(outcome.counters.late_steps, 1);
    check_eq(outcome.counters.step_wait, 15.0);
    check_eq(outcome.counters.busy, 25.0 * 2 + 25 * 2 + 10 * 4);
}

TEST(jobs_that_each_hold_half_and_need_all_do_not_wait_for_each_other) {
    Builder b(4);
    b.stepping(0, 20, {{2, 10}, {4, 10}});
    b.stepping(0, 20, {{2, 10}, {4, 10}});
    for (const char* policy : {"easy", "conservative", "elastic", "lina-default"}) {
        const Outcome outcome = b.run(policy);
        check_eq(outcome.lost, 0);
        check_eq(outcome.counters.late_steps, 0);
        check_eq(outcome.jobs[0].end, 20);
        check_eq(outcome.jobs[1].end, 40);
    }
}

TEST(a_job_that_waits_is_not_started_on_nodes_of_later_steps) {
    Builder b(4);
    b.stepping(0, 20, {{2, 10}, {4, 10}});
    b.job(1, 15, 2);
    b.job(2, 8, 2);
    const Outcome outcome = b.run("easy");
    check_eq(outcome.jobs[1].start, 20);
    check_eq(outcome.jobs[2].start, 2);
    check_eq(outcome.counters.late_steps, 0);
}

TEST(ends_come_before_arrivals) {
    Builder b(2);
    b.job(0, 10, 2);
    b.job(10, 5, 2);
    check_eq(b.run("fcfs").jobs[1].start, 10);
}

TEST(the_queue_is_in_the_order_of_submission_then_of_the_log) {
    Builder b(1);
    b.job(5, 10, 1);
    b.job(0, 10, 1);
    b.job(5, 10, 1);
    const Outcome outcome = b.run("fcfs");
    check_eq(outcome.jobs[1].start, 0);
    check_eq(outcome.jobs[0].start, 10);
    check_eq(outcome.jobs[2].start, 20);
}

TEST(a_job_that_expands_does_its_work_at_the_new_size) {
    Builder b(4);
    b.job(0, 10, 2);
    Elasticity& e = b.elastic(0, 100, 1, 2, 4);
    e.annotation.cost.sync = 6;
    e.negotiation = 2;
    const Outcome outcome = b.run("lina-default");
    // At 10 s 90 of its 100 s are left, 45 on twice the nodes, after 8 s for the resize.
    check_eq(outcome.jobs[1].end, 63);
    check_eq(outcome.jobs[1].nodes_end, 4);
    check_eq(segments_csv(b.workload, outcome),
             "job_id,from,to,nodes,kind\n"
             "10,0,10,2,run\n"
             "20,0,10,2,run\n"
             "20,10,18,4,redistribute\n"
             "20,18,63,4,run\n");
    check_eq(outcome.counters.redistribution, 24);
    check_eq(outcome.counters.negotiation, 8);
    check_eq(outcome.counters.expansions, 1);
}

TEST(a_job_gives_nodes_to_one_that_waits) {
    Builder b(4);
    b.elastic(0, 100, 2, 4, 4);
    b.job(20, 30, 2);
    const Outcome outcome = b.run("lina-default");
    check_eq(outcome.jobs[1].start, 20);
    check_eq(outcome.counters.by_shrinking, 1);
    // 80 s are left at 4 nodes; 30 s at half speed do 15 of them.
    check_eq(outcome.jobs[0].end, 115);
    check_eq(outcome.jobs[0].resizes, 2);
}

TEST(an_evolving_job_asks_when_its_work_is_half_done) {
    Builder b(4);
    b.evolving(0, 100, 1, 2, 8, {{0.5, 2}});
    const Outcome outcome = b.run("easy");
    check_eq(outcome.jobs[0].end, 75);
    check_eq(outcome.jobs[0].nodes_end, 4);
    check_eq(outcome.counters.granted, 1);
}

TEST(an_evolving_job_takes_fewer_and_asks_once) {
    Builder b(4);
    b.evolving(0, 100, 1, 2, 8, {{0.5, 6}});
    b.job(0, 60, 2);
    b.evolving(70, 100, 1, 2, 2, {{0.5, 1}});
    const Outcome outcome = b.run("easy");
    check_eq(outcome.counters.granted, 0);
    check_eq(outcome.counters.denied, 2);  // no nodes at 50 s; beyond its maximum
    check_eq(outcome.jobs[0].end, 100);
}

TEST(a_wish_for_fewer_nodes_is_granted_down_to_the_minimum) {
    Builder b(4);
    b.evolving(0, 100, 3, 4, 4, {{0.5, -2}, {0.1, -1}});
    const Outcome outcome = b.run("easy");
    check_eq(outcome.jobs[0].nodes_end, 3);
    check_eq(outcome.jobs[0].resizes, 1);
    check_eq(outcome.counters.granted, 2);
    check_near(outcome.jobs[0].end, 50 + 50 * 4 / 3.0, 1e-9);
}

TEST(an_evolving_job_gets_nodes_of_others) {
    Builder b(4);
    b.evolving(0, 100, 1, 2, 4, {{0.5, 1}});
    b.elastic(0, 100, 1, 2, 2);
    const Outcome outcome = b.run("lina-default");
    check_eq(outcome.counters.granted, 1);
    check_eq(outcome.jobs[0].nodes_end, 3);
    check_eq(outcome.counters.shrinks, 1);
}

// At 200 s the shares of four jobs are 5, 2, 4 and 4 of 16 nodes.  The node that is left over is
// nobody's until the others, in their gap, drop out of the shares.
TEST(a_plan_is_followed_by_another_if_it_is_to_settle) {
    Builder b(16);
    b.job(0, 200, 10);
    b.elastic(0, 125, 5, 10, 10);
    b.elastic(0, 500, 1, 2, 2);
    b.elastic(150, 1000, 2, 4, 16);
    b.elastic(160, 1000, 4, 8, 8);
    check_eq(b.run("equipartition").jobs[1].nodes_end, 5);
    check_eq(b.run("equipartition", true).jobs[1].nodes_end, 6);
}

// What is freed for nobody can be used at once, gap or not.
TEST(nodes_that_are_freed_for_anybody_are_used_in_the_same_instant) {
    Builder b(8);
    b.elastic(0, 1000, 2, 8, 8);
    b.job(100, 50, 3);
    SimulationOptions options;
    options.policy = *core::preset("mebf-basic");
    options.policy.shrink_for = core::ShrinkFor::anybody;
    options.policy.resize_gap = 60;
    check_eq(simulate(b.workload, options).jobs[1].start, 100);
}

TEST(a_job_that_has_ended_asks_for_nothing) {
    Builder b(4);
    b.evolving(0, 100, 1, 2, 4, {{0, 1}});
    const Outcome outcome = b.run("easy");
    check_eq(outcome.counters.granted + outcome.counters.denied, 0);
    check_eq(outcome.jobs[0].end, 100);
}

// The expanded job ends at 60 s and no longer at 100 s, and the next job's reservation with it: one
// of 50 s may not go first.
TEST(a_resize_moves_the_reservations_that_count_on_it) {
    Builder b(8);
    b.evolving(0, 100, 1, 2, 4, {{0.8, 2}});
    b.job(30, 70, 5);
    b.job(30, 50, 4);
    const Outcome outcome = b.run("easy");
    check_eq(outcome.jobs[0].end, 60);
    check_eq(outcome.jobs[1].start, 60);
    check_eq(outcome.jobs[2].start, 130);
}

TEST(without_a_gap_a_job_that_starts_is_expanded_at_once) {
    Builder b(4);
    b.elastic(0, 100, 1, 2, 4);
    const Outcome outcome = b.run("lina-default");
    check_eq(outcome.jobs[0].nodes_start, 2);
    check_eq(outcome.jobs[0].end, 50);
    check_eq(outcome.counters.passes, 2);
}

TEST(a_job_that_is_expanded_from_its_start_is_never_resized) {
    Builder b(4);
    b.elastic(0, 100, 1, 2, 4);
    const Outcome outcome = b.run("elastic");
    check_eq(outcome.jobs[0].nodes_start, 4);
    check_eq(outcome.jobs[0].resizes, 0);
    check_eq(outcome.jobs[0].end, 50);
}

TEST(the_scheduler_may_be_wrong_about_the_speed_up) {
    Builder b(4);
    b.job(0, 10, 2);
    Elasticity& e = b.elastic(0, 100, 1, 2, 4);
    e.true_speedup = {core::SpeedupModel::Kind::rho, 1, 0};  // more nodes are of no use
    check_eq(b.run("lina-default").jobs[1].end, 100);
}

TEST(a_job_becomes_resizable_when_nothing_else_happens) {
    Builder b(4);
    b.elastic(0, 100, 1, 2, 4).annotation.gap = 20;
    const Outcome outcome = b.run("lina-default");
    // Alone on the machine; its gap is over at 20 s.
    check_eq(outcome.jobs[0].resizes, 1);
    check_eq(outcome.jobs[0].end, 60);
}

// Each resize costs more time than there is between two of them.
TEST(resizes_that_never_pay_end_all_the_same) {
    Builder b(8);
    for (int i = 0; i < 40; ++i) {
        Elasticity& e = b.elastic(i, 100, 1, 2, 8);
        e.annotation.cost.sync = 1000;
        e.annotation.gap = 1;
    }
    for (const std::string_view policy : core::preset_names()) check_eq(b.run(policy).lost, 0);
}

TEST(nothing_to_run_is_a_result) {
    const Builder b(4);
    const Outcome outcome = b.run("easy");
    const Summary summary = summarise(b.workload, outcome);
    check_eq(summary.jobs, 0);
    check_eq(summary.utilisation, 0);
    check_that(to_text(summary).find("lost") != std::string::npos);
    check_eq(to_json(summary).get_int("jobs", -1), 0);
}

TEST(the_summary_is_what_the_manual_says) {
    Builder b(2);
    b.job(10, 4, 2);
    b.job(10, 20, 1);
    b.job(10, 20, 2);
    b.job(12, 40, 1).estimate = 50;
    b.workload.skipped = 3;
    b.workload.rejected = 1;
    // starts 10, 14, 34, 54; ends 14, 34, 54, 94
    const Summary s = summarise(b.workload, b.run("fcfs"));
    check_eq(s.jobs, 4);
    check_eq(s.skipped, 3);
    check_eq(s.rejected, 1);
    check_eq(s.wait.mean, (0 + 4 + 24 + 42) / 4.0);
    check_eq(s.wait.median, 14);
    check_eq(s.turnaround.mean, (4 + 24 + 44 + 82) / 4.0);
    check_eq(s.turnaround.median, 34);
    check_near(s.slowdown.mean, (1 + 1.2 + 2.2 + 2.05) / 4, 1e-12);
    check_near(s.bounded_slowdown.mean, (1 + 1.2 + 2.2 + 2.05) / 4, 1e-12);
    check_eq(s.makespan, 84);
    check_near(s.utilisation, (8 + 20 + 40 + 40) / 168.0, 1e-12);
    check_eq(s.useful_utilisation, s.utilisation);
    check_near(s.work_done, s.utilisation, 1e-12);  // nobody is resized
    check_eq(s.wait.p95, 42);
    check_eq(s.wait.max, 42);
    check_eq(s.rigid.jobs, 4);
    check_eq(s.rigid.turnaround.mean, s.turnaround.mean);
}

TEST(percentiles_are_what_so_many_jobs_do_not_exceed) {
    Builder b(1);
    for (int i = 0; i < 100; ++i) b.job(0, 1, 1);  // job i waits i seconds
    const Summary s = summarise(b.workload, b.run("fcfs"));
    check_eq(s.wait.median, 49.5);
    check_eq(s.wait.p95, 94);
    check_eq(s.wait.p99, 98);
    check_eq(s.wait.max, 99);
}

TEST(rigid_jobs_are_summed_up_alone) {
    Builder b(4);
    b.elastic(0, 100, 4, 4, 4);
    b.job(0, 50, 4);
    const Summary s = summarise(b.workload, b.run("easy"));
    check_eq(s.jobs, 2);
    check_eq(s.elastic, 1);
    check_eq(s.rigid.jobs, 1);
    check_eq(s.rigid.wait.mean, 100);
    check_eq(s.wait.mean, 50);
    check_eq(to_json(s).get("rigid").get("wait").get_number("p99"), 100);
}

TEST(a_comparison_names_who_waits_over_an_hour_longer) {
    Builder b(4);
    b.job(0, 10000, 3);
    b.job(0, 3601, 4);
    b.job(0, 3600, 1);  // backfilled by EASY
    b.job(0, 7000, 4);
    const Outcome easy = b.run("easy"), fcfs = b.run("fcfs");
    const Comparison c = compare(b.workload, fcfs, easy);
    // The third waits 13601 s instead of none, the fourth 3600 s longer, which is not over an hour.
    check_eq(c.delayed.size(), 1U);
    check_eq(c.delayed_rigid, 1);
    check_eq(c.longest_delay, 13601);
    check_eq(c.delayed.front().job, 2U);
    check_eq(c.delayed.front().wait, 13601);
    check_eq(c.sooner, 0);
    check_eq(compare(b.workload, easy, fcfs).sooner, 1);
    check_eq(compare(b.workload, easy, easy).delayed.size(), 0U);
    const Compared compared{"fcfs", "easy", c, {}};
    const Json json = to_json(compared, b.workload);
    check_eq(json.get_string("policy"), "easy");
    check_eq(json.get("jobs_delayed").at(0).get_int("job"), 30);
    check_that(to_text(compared, b.workload).find("job 30, rigid, 1 node(s): waits 13601 s") !=
               std::string::npos);
}

// The third takes the last node, which the fourth, of a hundredth of its weight, would be given.
TEST(a_comparison_says_who_pays_for_the_order) {
    Builder b(4);
    b.job(0, 1000, 3);
    b.job(1, 10, 4);
    b.job(2, 900, 1);
    b.job(2, 9, 1);
    const Outcome easy = b.run("easy"), order = b.run("easy-lightest");
    check_eq(easy.jobs[2].start, 2);
    check_eq(easy.jobs[3].start, 902);
    check_eq(order.jobs[3].start, 2);
    check_eq(order.jobs[2].start, 11);
    check_eq(order.jobs[1].start, easy.jobs[1].start);  // what was promised is kept
    const Comparison c = compare(b.workload, order, easy);
    check_eq(c.longer, 1);
    check_eq(c.mean_longer, 9);
    check_eq(c.longest_delay, 9);
    check_eq(c.missed, 0);
    check_near(c.turnaround, (1000 + 1009 + 909 + 9) / (1000 + 1009 + 900 + 909.0), 1e-12);
    const Compared compared{"easy-lightest", "easy", c, c};
    const std::string text = to_text(compared, b.workload);
    check_that(
        text.find("  easy-lightest                   -23.34 %             1         9.0 s         "
                  "9.0 s         0\n") != std::string::npos);
    check_that(text.find("  the first by the second           0.00 %\n") != std::string::npos);
    check_eq(to_json(compared, b.workload).get("order_alone").get_int("longer"), 1);
}

// 10 s are asked for on 2 nodes, and more nodes are of no use.
TEST(work_done_does_not_rise_when_a_run_gets_slower) {
    Builder b(8);
    Elasticity& e = b.elastic(0, 100, 1, 2, 8);
    b.job(0, 10, 4);
    const Summary fixed = summarise(b.workload, b.run("easy"));
    e.annotation.speedup = {core::SpeedupModel::Kind::rho, 0, 0};
    e.true_speedup = {core::SpeedupModel::Kind::overhead, 0.9, 0};  // it gets slower, even
    const Summary grown = summarise(b.workload, b.run("lina-default"));
    check_that(grown.makespan > fixed.makespan);
    check_that(grown.useful_utilisation > fixed.useful_utilisation);
    check_near(fixed.work_done, (200 + 40) / (8 * 100.0), 1e-12);
    check_near(grown.work_done, (200 + 40) / (8 * grown.makespan), 1e-12);
}

TEST(work_done_goes_by_the_steps_of_a_profile) {
    Builder b(4);
    b.stepping(0, 100, {{1, 60}, {3, 40}});
    check_near(summarise(b.workload, b.run("easy")).work_done, (60 + 120) / 400.0, 1e-12);
}

// The second job is promised the end of the first, which gives nodes back at 90 and so ends at 130.
// Until then the third fits, which does the same.
TEST(a_head_starts_by_its_bound_if_that_binds_who_is_backfilled) {
    Builder b(10);
    b.evolving(0, 100, 1, 4, 4, {{0.1, -3}});
    b.job(1, 10, 10);
    b.evolving(80, 40, 1, 6, 6, {{0.25, -5}});
    SimulationOptions options;
    options.policy = *core::preset("easy");
    options.policy.head_delay = 20;
    const Outcome pushed = simulate(b.workload, options);
    check_eq(pushed.jobs[1].promised, 100);
    check_eq(pushed.jobs[1].start, 180);
    options.policy.head_delay_binds = core::HeadDelayBinds::all;
    const Outcome bound = simulate(b.workload, options);
    check_eq(bound.jobs[1].promised, 100);
    check_eq(bound.jobs[1].start, 130);
    const Summary s = summarise(b.workload, bound);
    check_eq(s.promised, 2);  // the third as well, which begins after the second
    check_eq(s.missed, 1);
    check_eq(s.latest_start, 30);
}

TEST(a_short_job_counts_as_ten_seconds_in_the_bounded_slowdown) {
    const Job job{1, 0, 2, 2, 1, -1};
    check_eq(bounded_slowdown(job, {8, 10, 1, 1, 0}), 1);
    check_eq(bounded_slowdown(job, {28, 30, 1, 1, 0}), 3);
    check_eq(slowdown(job, {28, 30, 1, 1, 0}), 15);
}

TEST(references_of_a_schedule_done_by_hand) {
    Builder b(2);
    b.job(0, 10, 2);
    b.job(0, 4, 1);
    // Alone 10 + 4; on one machine of twice the speed the second ends at 2, the first at 12; mean
    // busy times 1 and 7, and half of the run times.
    const Means least = lower_bound(b.workload), found = greedy(b.workload);
    check_eq(least.turnaround, 7.5);
    check_eq(least.makespan, 12);
    check_eq(least.bounded_slowdown, 1);
    check_eq(found.turnaround, 9);  // the second at once, the first after it
    check_eq(found.makespan, 14);
}

// Two jobs of one node wait for nobody on a machine of ten; of those that need all of it one waits.
TEST(a_bound_counts_narrow_jobs_alone) {
    Builder b(10);
    b.job(0, 100, 1);
    b.job(0, 100, 1);
    b.job(0, 100, 10);
    b.job(0, 100, 10);
    // Each alone 400, the shortest first 370, mean busy times 460; split, 200 and 100 + 200.
    check_eq(lower_bound(b.workload).turnaround, 500 / 4.0);
    check_eq(lower_bound(b.workload).slowdown, 5 / 4.0);
}

TEST(the_greedy_schedule_resizes_at_no_cost) {
    Builder b(4);
    Elasticity& e = b.elastic(0, 100, 1, 2, 4);
    e.annotation.cost.sync = 1000;
    b.job(25, 10, 3);
    // 4 nodes until 25, half of the work; then 1 until 35, which does 10 of its 200 node-seconds;
    // then 4.
    const Means found = greedy(b.workload);
    check_near(found.makespan, 35 + 90 / 4.0, 1e-9);
    check_near(found.turnaround, (35 + 90 / 4.0 + 10) / 2, 1e-9);
    check_eq(lower_bound(b.workload).makespan, 57.5);
}

TEST(the_greedy_schedule_passes_over_others) {
    Builder b(4);
    b.job(0, 100, 2);
    b.job(1, 100, 4);
    for (int i = 0; i < 9; ++i) b.job(2 + 50 * i, 50, 2);
    const Means found = greedy(b.workload);
    check_eq(found.makespan, 552);  // the large one is the last
}

TEST(numbers_are_written_as_short_as_they_can_be_read_back) {
    Builder b(1);
    b.job(100000, 100000, 1);
    b.job(0.5, 3, 1);
    const std::string csv = jobs_csv(b.workload, b.run("fcfs"));
    check_that(csv.find("10,rigid,100000,100000,200000,1,1,0,100000,1,0\n") != std::string::npos);
    check_that(csv.find("20,rigid,0.5,0.5,3.5,1,1,0,3,1,0\n") != std::string::npos);
}

TEST(jobs_get_blocks_of_nodes_and_keep_their_first) {
    NodeAllocator nodes({10}, 3);
    check_eq(to_string(nodes.take(0, {4})), "n[1-4]");
    check_eq(to_string(nodes.take(1, {1})), "n5");
    check_eq(to_string(nodes.take(2, {3})), "n[6-8]");
    check_eq(to_string(nodes.give_back(0, {3})), "n[2-4]");
    nodes.give_back_all(1);
    check_eq(to_string(nodes.take(1, {2})), "n[2-3]");
    check_eq(to_string(nodes.take(0, {4})), "n[4-5,9-10]");
    check_eq(to_string(nodes.give_back(0, {3})), "n[5,9-10]");
    nodes.give_back_all(0);
    check_eq(to_string(nodes.take(0, {5})), "n[1,4-5,9-10]");
}

TEST(nodes_are_numbered_pool_by_pool) {
    NodeAllocator nodes({2, 3}, 2);
    check_eq(to_string(nodes.take(0, {1, 2})), "n[1,3-4]");
    check_eq(to_string(nodes.take(1, {1, 1})), "n[2,5]");
    check_eq(to_string(nodes.give_back(0, {0, 1})), "n4");
    nodes.give_back_all(1);
    check_eq(to_string(nodes.take(1, {0, 2})), "n[4-5]");
}

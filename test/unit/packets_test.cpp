// SPDX-License-Identifier: MIT
// Small simulations of packets, calculated by hand.
#include "simulator/packets.hpp"

#include "testing.hpp"

using namespace elastic;
using namespace elastic::simulator;

namespace {

// Four nodes, an initialisation of 60 s.
PacketWorkload workload_of(std::vector<PacketJob> jobs, int types = 1) {
    PacketWorkload workload;
    workload.nodes = 4;
    workload.jobs = std::move(jobs);
    for (int i = 0; i < types; ++i) workload.types.push_back({std::to_string(i), 60});
    return workload;
}

PacketOptions with(double scale_ratio) {
    PacketOptions options;
    options.scale_ratio = scale_ratio;
    return options;
}

}  // namespace

TEST(packets_initialise_once_and_run_jobs_one_after_another) {
    const PacketWorkload workload = workload_of({{0, 120, 0}, {0, 240, 0}});
    const PacketOutcome outcome = simulate_packets(workload, with(3));
    check_eq(outcome.groups.size(), 1u);
    check_eq(outcome.groups[0].nodes, 2);  // 360 / (3 * 60)
    check_eq(outcome.jobs[0].start, 60.0);
    check_eq(outcome.jobs[0].end, 120.0);
    check_eq(outcome.jobs[1].start, 120.0);
    check_eq(outcome.jobs[1].end, 240.0);
    check_eq(outcome.groups[0].end, 240.0);
}

TEST(packets_that_arrive_while_a_group_runs_wait_for_the_next) {
    // The first takes all nodes until 160.
    const PacketWorkload workload = workload_of({{0, 400, 0}, {10, 40, 0}, {20, 80, 0}});
    const PacketOutcome outcome = simulate_packets(workload, with(0.1));
    check_eq(outcome.groups.size(), 2u);
    check_eq(outcome.groups[0].end, 160.0);
    check_eq(outcome.groups[1].start, 160.0);
    check_eq(outcome.groups[1].jobs, 2);
    check_eq(outcome.jobs[2].end, 160.0 + 60 + 30);
}

TEST(packets_alone_initialise_for_every_job) {
    const PacketWorkload workload = workload_of({{0, 400, 0}, {10, 40, 0}, {20, 80, 0}});
    PacketOptions options = with(0.1);
    options.alone = true;
    const PacketOutcome outcome = simulate_packets(workload, options);
    check_eq(outcome.groups.size(), 3u);
    check_eq(outcome.groups[1].start, 160.0);
    check_eq(outcome.groups[2].start, 160.0 + 60 + 10);
}

TEST(packets_choose_by_weight) {
    // Both wait for the first; the second type has more work, the third is worth four times as
    // much.
    PacketWorkload workload = workload_of({{0, 400, 0}, {10, 40, 1}, {20, 80, 2}}, 3);
    PacketOptions options = with(0.01);
    options.longest_wait = core::LongestWait::now;
    check_eq(simulate_packets(workload, options).groups[1].type, 2);
    workload.types[1].priority = 4;
    check_eq(simulate_packets(workload, options).groups[1].type, 1);
}

TEST(packets_are_measured_up_to_the_last_submission) {
    // 100 s: the first group holds four nodes, 60 s of it without use; the second job waits 90 s of
    // it, 150 in all, the third arrives at the end.
    const PacketWorkload workload = workload_of({{0, 400, 0}, {10, 40, 0}, {100, 80, 0}});
    const PacketSummary summary = summarise(workload, simulate_packets(workload, with(0.1)));
    check_eq(summary.full_utilisation, 1.0);
    check_eq(summary.useful_utilisation, 0.4);
    check_eq(summary.mean_queue_time, (0 + 150 + 60) / 3.0);
    check_eq(summary.median_queue_time, 60.0);
    // They end at 160, 160 + 60 + 10 and 250.
    check_eq(summary.mean_turnaround, 160 / 3.0 + 220 / 3.0 + 150 / 3.0);
    check_eq(summary.queue_length, 0.9);
    check_eq(summary.groups, 2);
    check_eq(summary.group_nodes, 4.0);
}

TEST(packets_of_an_instant_are_no_division_by_zero) {
    const PacketWorkload workload = workload_of({{0, 400, 0}});
    const PacketSummary summary = summarise(workload, simulate_packets(workload, with(1)));
    check_eq(summary.full_utilisation, 0.0);
    check_eq(summary.queue_length, 0.0);
    check_eq(summarise(workload_of({}), {}).groups, 0);
}

// S of [packet] section 6: 50 % is as long as the mean job.
TEST(packets_have_the_share_of_initialisation_asked_for) {
    check_eq(initialisation_for(0.5, 400, 2), 200.0);
    check_eq(initialisation_for(0.2, 400, 2), 50.0);  // 100 of 500 s
}

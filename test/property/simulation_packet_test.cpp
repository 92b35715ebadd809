// SPDX-License-Identifier: MIT
// What holds for every simulation of packets, on random workloads.
#include <algorithm>
#include <map>
#include <vector>

#include "simulator/packets.hpp"
#include "simulator/random.hpp"
#include "testing.hpp"

using namespace elastic;
using namespace elastic::simulator;

namespace {

constexpr int kRounds = 300;
constexpr double kDigits = 1e-9;  // of sums of times

PacketWorkload random_workload(Random& random) {
    PacketWorkload workload;
    workload.nodes = static_cast<int>(random.integer(1, 40));
    const std::int64_t types = random.integer(1, 6), jobs = random.integer(1, 200);
    for (std::int64_t i = 0; i < types; ++i)
        workload.types.push_back({std::to_string(i), random.uniform(0.5, 500),
                                  static_cast<double>(random.integer(1, 3))});
    Time submit = 0;
    for (std::int64_t i = 0; i < jobs; ++i) {
        workload.jobs.push_back(
            {submit, random.uniform(0.1, 2000), static_cast<int>(random.integer(0, types - 1))});
        if (random.chance(0.8)) submit += random.integer(0, 100);
    }
    return workload;
}

PacketOptions random_options(Random& random) {
    PacketOptions options;
    options.scale_ratio = random.uniform(0.1, 20);
    options.longest_wait = static_cast<core::LongestWait>(random.integer(0, 2));
    options.bound = 3600;
    options.alone = random.chance(0.3);
    return options;
}

void check_never_too_many_nodes(const PacketWorkload& workload, const PacketOutcome& outcome) {
    // By time; what ends at an instant is free for what begins then.
    std::vector<std::pair<Time, int>> changes;
    for (const PacketGroup& group : outcome.groups) {
        changes.emplace_back(group.start, group.nodes);
        changes.emplace_back(group.end, -group.nodes);
    }
    std::ranges::sort(changes);
    int busy = 0;
    for (const auto& [at, nodes] : changes) {
        busy += nodes;
        check_that(busy >= 0 && busy <= workload.nodes);
    }
    check_eq(busy, 0);
}

// Jobs of one type each, one after another behind one initialisation, until the group ends.
void check_groups(const PacketWorkload& workload, const PacketOutcome& outcome, bool alone) {
    std::map<int, std::vector<std::size_t>> members;
    for (std::size_t i = 0; i < workload.jobs.size(); ++i)
        members[outcome.jobs[i].group].push_back(i);
    check_eq(members.size(), outcome.groups.size());
    for (const auto& [number, jobs] : members) {
        const PacketGroup& group = outcome.groups[static_cast<std::size_t>(number)];
        check_eq(static_cast<int>(jobs.size()), group.jobs);
        if (alone) check_eq(group.jobs, 1);
        Time at = group.start + group.initialisation;
        for (const std::size_t i : jobs) {
            check_eq(workload.jobs[i].type, group.type);
            check_that(workload.jobs[i].submit <= group.start);
            check_that(std::abs(outcome.jobs[i].start - at) <= kDigits * at);
            at += workload.jobs[i].work / group.nodes;
            check_that(std::abs(outcome.jobs[i].end - at) <= kDigits * at);
        }
        check_that(std::abs(group.end - at) <= kDigits * at);
    }
}

void check_metrics(const PacketWorkload& workload, const PacketOutcome& outcome) {
    const PacketSummary summary = summarise(workload, outcome);
    check_that(summary.useful_utilisation >= 0);
    check_that(summary.useful_utilisation <= summary.full_utilisation + kDigits);
    check_that(summary.full_utilisation <= 1 + kDigits);
    check_that(summary.mean_queue_time >= 0 && summary.median_queue_time >= 0);
    check_that(summary.queue_length <= static_cast<double>(workload.jobs.size()));
}

}  // namespace

TEST(packets_run_every_job_once_by_type_on_the_nodes_there_are) {
    Random random(elastic::testing::seed());
    for (int i = 0; i < kRounds; ++i) {
        const PacketWorkload workload = random_workload(random);
        const PacketOptions options = random_options(random);
        const PacketOutcome outcome = simulate_packets(workload, options);
        check_never_too_many_nodes(workload, outcome);
        check_groups(workload, outcome, options.alone);
        check_metrics(workload, outcome);
    }
}

// Nodes stand idle only while nobody waits: the paper's groups fit on any number of them.
TEST(packets_leave_no_node_idle_while_a_job_waits) {
    Random random(elastic::testing::seed(2));
    for (int i = 0; i < kRounds; ++i) {
        const PacketWorkload workload = random_workload(random);
        const PacketOutcome outcome = simulate_packets(workload, random_options(random));
        for (std::size_t j = 0; j < workload.jobs.size(); ++j) {
            const Time start =
                outcome.groups[static_cast<std::size_t>(outcome.jobs[j].group)].start;
            const Time waits = workload.jobs[j].submit;
            if (start <= waits) continue;
            int busy = 0;
            for (const PacketGroup& group : outcome.groups)
                if (group.start <= waits && group.end > waits) busy += group.nodes;
            check_eq(busy, workload.nodes);
        }
    }
}

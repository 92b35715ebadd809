// SPDX-License-Identifier: MIT
// The algorithm of [packet] section 5, with its own example.
#include "core/model/packet.hpp"

#include "testing.hpp"

using namespace elastic::core;

namespace {

TypeQueue queue_of(double work, double initialisation, double first_submit = 0) {
    TypeQueue queue;
    queue.jobs = 1;
    queue.work = work;
    queue.initialisation = initialisation;
    queue.first_submit = first_submit;
    return queue;
}

}  // namespace

// Figure 3: an initialisation of a minute, jobs of four minutes on one node.
TEST(packet_sizes_groups_as_in_figure_3) {
    const TypeQueue queue = queue_of(240, 60);
    check_eq(group_nodes(queue, 0.5, 500), 8);
    check_eq(group_nodes(queue, 1, 500), 4);
    check_eq(group_nodes(queue, 2, 500), 2);
    check_eq(group_nodes(queue, 4, 500), 1);
}

TEST(packet_group_has_no_more_than_the_free_nodes_and_no_fewer_than_one) {
    check_eq(group_nodes(queue_of(240, 60), 0.5, 3), 3);
    check_eq(group_nodes(queue_of(240, 60), 1000, 500), 1);
    check_eq(group_nodes(queue_of(240, 60), 1, 0), 0);
    check_eq(group_nodes(queue_of(1e18, 1e-3), kLeastScaleRatio, 500), 500);
}

TEST(packet_group_runs_at_least_k_times_its_initialisation) {
    const TypeQueue queue = queue_of(299, 60);  // 4.98 nodes for k = 1
    check_eq(group_nodes(queue, 1, 500), 4);
}

TEST(packet_group_keeps_the_sizes_of_its_jobs) {
    TypeQueue queue = queue_of(240, 60);
    queue.least = 2, queue.most = 6;
    check_eq(group_nodes(queue, 0.5, 500), 6);
    check_eq(group_nodes(queue, 4, 500), 2);
    check_eq(group_nodes(queue, 4, 1), 0);
}

// W = C P (1 + T_cur / T_max), with C = 240 / 60.
TEST(packet_weighs_queues_by_work_priority_and_wait) {
    TypeQueue queue = queue_of(240, 60, 100);
    queue.longest_wait = 50;
    check_eq(advisability(queue), 4.0);
    check_eq(queue_weight(queue, 100), 4.0);
    check_eq(queue_weight(queue, 125), 6.0);
    check_eq(queue_weight(queue, 150), 8.0);
    check_eq(queue_weight(queue, 200), 12.0);  // a bound that is exceeded
    queue.priority = 3;
    check_eq(queue_weight(queue, 125), 18.0);
    queue.longest_wait = 0;
    check_eq(queue_weight(queue, 100), 24.0);
}

TEST(packet_reads_the_longest_wait_in_three_ways) {
    check_eq(longest_wait(LongestWait::now, 100, 130, 70, 3600), 30.0);
    check_eq(longest_wait(LongestWait::ever, 100, 130, 70, 3600), 70.0);
    check_eq(longest_wait(LongestWait::ever, 100, 190, 70, 3600), 90.0);
    check_eq(longest_wait(LongestWait::bound, 100, 130, 70, 3600), 3600.0);
}

TEST(packet_chooses_the_heaviest_queue_that_is_not_empty) {
    std::vector<TypeQueue> queues{queue_of(100, 10), queue_of(300, 10), queue_of(900, 10)};
    queues[2].jobs = 0;
    check_eq(*heaviest_queue(queues, 0), 1u);
    queues[0].priority = 4;
    check_eq(*heaviest_queue(queues, 0), 0u);
    for (TypeQueue& queue : queues) queue.jobs = 0;
    check_that(!heaviest_queue(queues, 0));
}

TEST(packet_prefers_the_longer_wait_among_equal_weights) {
    std::vector<TypeQueue> queues{queue_of(100, 10, 7), queue_of(100, 10, 5), queue_of(100, 10, 5)};
    for (TypeQueue& queue : queues) queue.longest_wait = 10 - queue.first_submit;
    check_eq(*heaviest_queue(queues, 10), 1u);
}

TEST(packet_starts_groups_while_nodes_are_free) {
    const std::vector<TypeQueue> queues{queue_of(100, 10), queue_of(300, 10), queue_of(200, 10)};
    using Starts = std::vector<GroupStart>;
    check_that(start_groups(queues, 10, 100, 0) == (Starts{{1, 3}, {2, 2}, {0, 1}}));
    check_that(start_groups(queues, 10, 4, 0) == (Starts{{1, 3}, {2, 1}}));
    check_that(start_groups(queues, 10, 0, 0).empty());
}

TEST(packet_lets_nothing_pass_a_heavier_queue_that_needs_more_nodes) {
    std::vector<TypeQueue> queues{queue_of(100, 10), queue_of(300, 10)};
    queues[1].least = 8;
    check_that(start_groups(queues, 10, 4, 0).empty());
    check_that(start_groups(queues, 10, 8, 0) == (std::vector<GroupStart>{{1, 8}}));
}

// SPDX-License-Identifier: MIT
// Groups of random queues: against a brute-force choice, and what always holds.
#include "core/model/packet.hpp"

#include <algorithm>
#include <random>
#include <set>

#include "testing.hpp"

using namespace elastic;
using namespace elastic::core;

namespace {

constexpr int kRounds = 3000;
constexpr Time kNow = 100000;

struct Draw {
    std::mt19937_64 engine;

    int integer(int low, int high) {
        return low + static_cast<int>(engine() % static_cast<std::uint64_t>(high - low + 1));
    }
    double real(double low, double high) {
        return low + (high - low) * static_cast<double>(engine() >> 11) / 9007199254740992.0;
    }
};

TypeQueue random_queue(Draw& draw) {
    TypeQueue queue;
    queue.jobs = draw.integer(0, 3);
    queue.work = draw.real(1, 1e5);
    queue.initialisation = draw.real(0.1, 1e3);
    queue.priority = draw.integer(1, 3);
    queue.first_submit = draw.integer(0, static_cast<int>(kNow));
    queue.longest_wait = kNow - queue.first_submit + draw.real(0, 1000);
    if (draw.integer(0, 3) == 0) queue.least = draw.integer(1, 20);
    if (draw.integer(0, 3) == 0) queue.most = draw.integer(queue.least, 40);
    return queue;
}

std::vector<TypeQueue> random_queues(Draw& draw) {
    std::vector<TypeQueue> queues(static_cast<std::size_t>(draw.integer(0, 9)));
    for (TypeQueue& queue : queues) queue = random_queue(draw);
    return queues;
}

// W(T), written down once more from the paper.
double weight(const TypeQueue& q) {
    return q.work * q.priority * (q.longest_wait + kNow - q.first_submit) /
           (q.longest_wait * q.initialisation);
}

// That no queue that was not chosen, and does not run already, is heavier.
void check_is_heaviest(const std::vector<TypeQueue>& queues, const std::set<std::size_t>& running,
                       std::size_t chosen) {
    for (std::size_t i = 0; i < queues.size(); ++i) {
        if (queues[i].jobs == 0 || running.contains(i) || i == chosen) continue;
        check_that(weight(queues[i]) <= weight(queues[chosen]) * (1 + 1e-12));
    }
}

// That no number of nodes from `least` up to what is free does better by the paper's rule: to run k
// times as long as it initialises, else as short as possible.
void check_size(const TypeQueue& queue, double scale_ratio, int free, int nodes) {
    int best = queue.least;
    for (int m = queue.least; m <= std::min(free, queue.most); ++m)
        if (queue.work / m >= scale_ratio * queue.initialisation) best = m;
    // At the very limit the last digit decides.
    check_that(nodes == best ||
               std::abs(queue.work / std::max(nodes, best) / (scale_ratio * queue.initialisation) -
                        1) < 1e-12);
}

void check_starts(const std::vector<TypeQueue>& queues, double scale_ratio, int free) {
    std::set<std::size_t> running;
    for (const GroupStart& start : start_groups(queues, scale_ratio, free, kNow)) {
        check_that(start.queue < queues.size() && queues[start.queue].jobs > 0);
        check_is_heaviest(queues, running, start.queue);
        check_that(running.insert(start.queue).second);
        check_that(start.nodes >= 1 && start.nodes <= free);
        check_size(queues[start.queue], scale_ratio, free, start.nodes);
        free -= start.nodes;
    }
    check_that(free >= 0);
    if (free == 0) return;
    // Nodes are left only where nobody waits, or the heaviest cannot run on so few.
    std::size_t heaviest = queues.size();
    for (std::size_t i = 0; i < queues.size(); ++i)
        if (queues[i].jobs > 0 && !running.contains(i) &&
            (heaviest == queues.size() || weight(queues[i]) > weight(queues[heaviest])))
            heaviest = i;
    check_that(heaviest == queues.size() || queues[heaviest].least > free);
}

}  // namespace

TEST(groups_are_of_the_heaviest_queues_and_fit_the_free_nodes) {
    Draw draw{std::mt19937_64(elastic::testing::seed())};
    for (int i = 0; i < kRounds; ++i) {
        const std::vector<TypeQueue> queues = random_queues(draw);
        const double scale_ratio = std::exp(draw.real(std::log(0.1), std::log(1000)));
        check_starts(queues, scale_ratio, draw.integer(0, 60));
    }
}

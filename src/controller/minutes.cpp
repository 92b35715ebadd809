// SPDX-License-Identifier: MIT
// What a run has used of a resource follows from its node-seconds, since the nodes of a job are
// alike as a rule: of each size only Slurm's database has more.
#include "controller/minutes.hpp"

#include <algorithm>

namespace elastic::controller {

namespace {

// Nothing in no time, nor in unlimited time: infinity times zero is not a number.
double product(std::uint64_t amount, Duration seconds) {
    return amount == 0 ? 0 : static_cast<double>(amount) * seconds;
}

double used_seconds(const GrowingRun& run, const Amount& amount) {
    return product(amount.held, run.node_seconds) / run.nodes;
}

}  // namespace

void NodeTime::add(Duration passed, int nodes) {
    seconds_ = seconds(passed, nodes);
    sizes_.push_back({nodes, std::max(0.0, passed - counted_)});
    if (sizes_.size() > kMostSizes) sizes_.erase(sizes_.begin());
    counted_ = passed;
}

Duration NodeTime::seconds(Duration passed, int nodes) const {
    return seconds_ + nodes * (passed - counted_);
}

double minutes_in_all(const GrowingRun& run, const Amount& amount) {
    return (used_seconds(run, amount) + product(amount.wanted, run.left)) / 60;
}

double minutes_by_last_size(const GrowingRun& run, const Amount& amount) {
    return product(amount.wanted, run.passed + run.left) / 60;
}

double minutes_more(const GrowingRun& run, const Amount& amount) {
    return amount.wanted <= amount.held ? 0 : product(amount.wanted - amount.held, run.left) / 60;
}

}  // namespace elastic::controller

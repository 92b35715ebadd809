// SPDX-License-Identifier: MIT
// Amdahl's law, and the book-keeping that makes a time limit follow the work.
//
// Always holds in a WorkLedger: resizing there and back at the same instant
// changes the estimated end by the costs of the two resizes and nothing else.
// That is why overhead is kept apart from work: it does not scale.
#include "core/speedup.hpp"

#include <algorithm>

namespace elastic::core {

namespace {

double relative_time(int nodes, double rho) {
    return rho + (1 - rho) / std::max(nodes, 1);
}

}  // namespace

double speedup(int nodes, double rho) {
    return 1 / relative_time(nodes, rho);
}

Duration rescale(Duration left, int from, int to, double rho) {
    return left * (relative_time(to, rho) / relative_time(from, rho));
}

WorkLedger::WorkLedger(Time now, Duration left, int nodes, double rho)
    : at_(now), left_(std::max(left, 0.0)), nodes_(nodes), rho_(rho) {}

Time WorkLedger::estimated_end() const {
    return at_ + overhead_ + left_;
}

void WorkLedger::resize(Time now, int nodes, Duration cost) {
    Duration passed = std::max(now - at_, 0.0);
    Duration in_overhead = std::min(passed, overhead_);
    Duration worked = std::min(passed - in_overhead, left_);
    at_ += passed;
    overhead_ += cost - in_overhead;
    left_ = rescale(left_ - worked, nodes_, nodes, rho_);
    nodes_ = nodes;
}

}  // namespace elastic::core

// SPDX-License-Identifier: MIT
// The closed forms of the speed-up models, and the book-keeping that makes a time limit follow the
// work.
//
// Always holds in a WorkLedger: resizing there and back at the same instant changes the estimated
// end by the costs of the two resizes and nothing else. That is why overhead is kept apart from
// work: it does not scale.
#include "core/model/speedup.hpp"

#include <algorithm>
#include <cmath>

namespace elastic::core {

namespace {

double amdahl(double n, double rho) {
    return rho + (1 - rho) / n;
}

double overhead(double n, double x, double pref) {
    return x * n / pref + (1 - x) * pref / n;
}

// Downey, "A parallel workload model and its implications for processor allocation", section 2:
// piecewise, for low and for high variance.
double downey_speedup(double n, double A, double sigma) {
    if (sigma < 1) {
        if (n <= A) return A * n / (A + sigma / 2 * (n - 1));
        if (n <= 2 * A - 1) return A * n / (sigma * (A - 0.5) + n * (1 - sigma / 2));
        return A;
    }
    if (n <= A + A * sigma - sigma) return n * A * (sigma + 1) / (sigma * (n + A - 1) + A);
    return A;
}

}  // namespace

double SpeedupModel::relative_time(int nodes, int pref) const {
    const double declared = declared_time(nodes, pref);
    if (believed >= 1 || nodes <= pref) return declared;
    const double preferred = declared_time(pref, pref);
    if (declared >= preferred) return declared;  // there is no speed-up to believe in
    return preferred / (1 + believed * (preferred / declared - 1));
}

double SpeedupModel::declared_time(int nodes, int pref) const {
    const double n = std::max(nodes, 1);
    switch (kind) {
        case Kind::rho:
            return amdahl(n, a);
        case Kind::power:
            return std::pow(n, a - 1);
        case Kind::overhead:
            return overhead(n, a, std::max(pref, 1));
        case Kind::downey:
            return 1 / downey_speedup(n, a, b);
    }
    return 1;
}

Duration rescale(Duration left, int from, int to, const SpeedupModel& model, int pref) {
    return left * (model.relative_time(to, pref) / model.relative_time(from, pref));
}

WorkLedger::WorkLedger(Time now, Duration left, int nodes, const SpeedupModel& model, int pref)
    : at_(now), left_(std::max(left, 0.0)), nodes_(nodes), model_(model), pref_(pref) {}

Time WorkLedger::estimated_end() const {
    return at_ + overhead_ + left_;
}

void WorkLedger::resize(Time now, int nodes, Duration cost) {
    Duration passed = std::max(now - at_, 0.0);
    Duration in_overhead = std::min(passed, overhead_);
    Duration worked = std::min(passed - in_overhead, left_);
    at_ += passed;
    overhead_ += cost - in_overhead;
    left_ = rescale(left_ - worked, nodes_, nodes, model_, pref_);
    nodes_ = nodes;
}

void WorkLedger::stand_still(Time from, Time to) {
    resize(from, nodes_, 0);
    at_ = std::max(at_, to);
}

}  // namespace elastic::core

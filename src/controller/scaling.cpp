// SPDX-License-Identifier: MIT
// An application says how many seconds it has left, not how much work. But its last word before a
// resize and a word after it are of the same work at two sizes, so their ratio is that of the run
// times at these sizes, and no unit of work is needed. The time in between, less what the resize
// took, is work done.
//
// Each ratio gives a linear equation for rho, and all together its least squares. The model of two
// ratios that contradict each other lies in between.
//
// Always holds: the job is neither held to be faster than linear nor slower with more nodes, which
// neither reading of rho can say.
#include "controller/scaling.hpp"

#include <algorithm>
#include <cmath>

namespace elastic::controller {

namespace {

constexpr std::size_t kMostPairs = 8;
constexpr Duration kLeastLeft = 1;  // seconds, below which a ratio says nothing

using core::SpeedupModel;

struct Equation {  // factor * rho = value
    double factor = 0, value = 0;
};

// T(n) = T(1) (rho + (1 - rho) / n).
Equation amdahl(const Scaling::Pair& pair) {
    const double from = pair.from, to = pair.to;
    return {from * (1 - 1 / to) - pair.ratio * (from - 1), pair.ratio - from / to};
}

// T(n) = T(1) n^(rho - 1).
Equation power(const Scaling::Pair& pair) {
    const double growth = std::log(static_cast<double>(pair.to) / pair.from);
    return {growth, growth + std::log(pair.ratio)};
}

}  // namespace

void Scaling::say_progress(Time now, int nodes, Duration remaining) {
    if (before_ && before_->nodes != nodes) {
        const Duration left = remaining + std::max(0.0, now - before_->work_since);
        if (left >= kLeastLeft) compare(before_->nodes, nodes, left / before_->left);
    }
    word_ = Word{now, remaining};
}

// A shrink has taken its time before it is in the books, an expansion will.
void Scaling::resize(Time now, int from, int to, Duration cost) {
    const Duration past = to < from ? cost : 0;
    before_.reset();
    if (word_) {
        const Duration left = word_->remaining - std::max(0.0, now - word_->at - past);
        if (left >= kLeastLeft) before_ = Before{from, left, now + cost - past};
    }
    word_.reset();
}

void Scaling::interrupt() {
    word_.reset();
    before_.reset();
}

void Scaling::compare(int from, int to, double ratio) {
    const double linear = static_cast<double>(from) / to;
    std::erase_if(pairs_, [&](const Pair& pair) { return pair.from == from && pair.to == to; });
    if (pairs_.size() >= kMostPairs) pairs_.erase(pairs_.begin());
    pairs_.push_back({from, to, std::clamp(ratio, std::min(linear, 1.0), std::max(linear, 1.0))});
}

SpeedupModel Scaling::model(const SpeedupModel& declared) const {
    const bool is_power = declared.kind == SpeedupModel::Kind::power;
    double squares = 0, products = 0;
    for (const Pair& pair : pairs_) {
        const auto [factor, value] = is_power ? power(pair) : amdahl(pair);
        squares += factor * factor;
        products += factor * value;
    }
    if (squares <= 0) return declared;
    return {.kind = is_power ? SpeedupModel::Kind::power : SpeedupModel::Kind::rho,
            .a = std::clamp(products / squares, 0.0, 1.0)};
}

}  // namespace elastic::controller

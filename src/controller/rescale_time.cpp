// SPDX-License-Identifier: MIT
// Each measurement counts as much as all before it, so that what a job does now is believed soon
// and one stray resize is forgotten soon.
//
// A declared cost says how it grows with the nodes, which a few measurements cannot: so they
// correct its amount and leave its shape. Without one they are the cost of any resize.
#include "controller/rescale_time.hpp"

#include <algorithm>

namespace elastic::controller {

namespace {

constexpr double kNew = 0.5;        // the weight of the newest measurement
constexpr double kMostRatio = 1e3;  // beyond which a declaration says nothing

double smoothed(double before, double now) {
    return before + kNew * (now - before);
}

}  // namespace

void RescaleTime::add(Duration seconds, Duration declared) {
    seconds = std::clamp(seconds, 0.0, core::kMaxCost);
    seconds_ = count_ == 0 ? seconds : smoothed(seconds_, seconds);
    if (declared > 0) ratio_ = smoothed(ratio_, std::min(seconds / declared, kMostRatio));
    ++count_;
}

core::ResizeCost RescaleTime::expected(const core::ResizeCost& declared) const {
    if (count_ == 0) return declared;
    core::ResizeCost cost = declared;
    cost.sync = seconds_;
    if (declared == core::ResizeCost{.rate = declared.rate}) return cost;
    const auto corrected = [this](double& part, double declared_part, double most) {
        part = std::min(declared_part * ratio_, most);
    };
    corrected(cost.alpha, declared.alpha, core::kMaxCost);
    corrected(cost.beta, declared.beta, core::kMaxCost);
    corrected(cost.b, declared.b, core::kMaxCost);
    corrected(cost.sync, declared.sync, core::kMaxCost);
    corrected(cost.data, declared.data, core::kMaxBytes);
    return cost;
}

}  // namespace elastic::controller

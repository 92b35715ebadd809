// SPDX-License-Identifier: MIT
// How many values were how large, in constant memory, for monitoring: sums that only grow.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "common/json.hpp"

namespace elastic::controller {

// Upper bounds in seconds, ascending; what is larger than the last is counted beyond it.
inline constexpr auto kBoundsOfWork =
    std::to_array<double>({0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3});
inline constexpr auto kBoundsOfResizes =
    std::to_array<double>({0.1, 0.3, 1, 3, 10, 30, 60, 120, 300, 600, 1800});
inline constexpr auto kBoundsOfWaits =
    std::to_array<double>({1, 10, 60, 300, 900, 3600, 10800, 21600, 43200, 86400, 259200, 604800});

class Histogram {
  public:
    explicit Histogram(std::span<const double> bounds) : bounds_(bounds) {}

    void add(double value) {
        const auto bound = std::ranges::lower_bound(bounds_, value);
        ++counts_[static_cast<std::size_t>(bound - bounds_.begin())];
        sum_ += value;
        ++count_;
    }

    // "buckets": pairs of a bound and how many values are not beyond it.
    Json to_json() const {
        Json buckets = Json::array();
        std::uint64_t so_far = 0;
        for (std::size_t i = 0; i < bounds_.size(); ++i)
            buckets.push(Json::array().push(bounds_[i]).push(so_far += counts_[i]));
        return Json::object().set("buckets", buckets).set("sum", sum_).set("count", count_);
    }

  private:
    static constexpr std::size_t kMostBounds = 15;

    std::span<const double> bounds_;
    std::array<std::uint64_t, kMostBounds + 1> counts_{};
    double sum_ = 0;
    std::uint64_t count_ = 0;
};

}  // namespace elastic::controller

// SPDX-License-Identifier: MIT
// How long things take, for `selastic jobs --json` and the benchmarks.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>

#include "controller/histogram.hpp"

namespace elastic::controller {

struct Times {
    double last = 0, longest = 0, sum = 0;  // seconds
    std::uint64_t count = 0;
    std::array<double, 256> recent{};  // the last ones, in no order
    Histogram all{kBoundsOfWork};

    void add(double seconds);
    // Of the recent ones: the least time that a share `q` of them did not exceed.
    double quantile(double q) const;
};

// Adds its life time to the times.
class Stopwatch {
  public:
    explicit Stopwatch(Times& times) : times_(times), since_(std::chrono::steady_clock::now()) {}
    ~Stopwatch() { times_.add(seconds()); }
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;
    double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - since_).count();
    }

  private:
    Times& times_;
    std::chrono::steady_clock::time_point since_;
};

}  // namespace elastic::controller

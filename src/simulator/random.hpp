// SPDX-License-Identifier: MIT
// Random numbers that are the same with every compiler and standard library, which the
// distributions of <random> are not.
#pragma once

#include <cstdint>

namespace elastic::simulator {

// SplitMix64 (Steele, Lea, Flood 2014): its state is one number, so that each job can have a stream
// of its own at no cost, whatever the others draw.
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    // The stream number `index` of this seed.
    Random(std::uint64_t seed, std::uint64_t index);

    std::uint64_t next();
    double unit();                                              // [0, 1)
    double uniform(double low, double high);                    // [low, high)
    std::int64_t integer(std::int64_t low, std::int64_t high);  // both included
    bool chance(double probability) { return unit() < probability; }
    double normal();  // mean 0, variance 1
    double exponential(double mean);
    double gamma(double shape, double scale);  // shape >= 1

  private:
    std::uint64_t state_;
};

}  // namespace elastic::simulator

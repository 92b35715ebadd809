// SPDX-License-Identifier: MIT
// The usual methods: Marsaglia's polar one for the normal distribution, Marsaglia and Tsang (2000)
// for gamma, inversion for the exponential one.
#include "simulator/random.hpp"

#include <cmath>

namespace elastic::simulator {

namespace {

constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;

std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

}  // namespace

// Mixed, because streams of neighbouring states would be the same ones shifted.
Random::Random(std::uint64_t seed, std::uint64_t index)
    : state_(mix(mix(seed + kGolden) + kGolden * (index + 1))) {}

std::uint64_t Random::next() {
    return mix(state_ += kGolden);
}

double Random::unit() {
    return static_cast<double>(next() >> 11) * 0x1p-53;
}

double Random::uniform(double low, double high) {
    return low + (high - low) * unit();
}

std::int64_t Random::integer(std::int64_t low, std::int64_t high) {
    const std::uint64_t count = static_cast<std::uint64_t>(high - low) + 1;
    const std::uint64_t biased = -count % count;  // what would favour the first values
    std::uint64_t number = next();
    while (number < biased) number = next();
    return low + static_cast<std::int64_t>(number % count);
}

double Random::normal() {
    for (;;) {
        const double x = uniform(-1, 1), y = uniform(-1, 1);
        const double square = x * x + y * y;
        if (square > 0 && square < 1) return x * std::sqrt(-2 * std::log(square) / square);
    }
}

double Random::exponential(double mean) {
    return -mean * std::log(1 - unit());
}

double Random::gamma(double shape, double scale) {
    const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
    for (;;) {
        const double x = normal();
        const double v = (1 + c * x) * (1 + c * x) * (1 + c * x);
        if (v > 0 && std::log(1 - unit()) < 0.5 * x * x + d - d * v + d * std::log(v)) {
            return scale * d * v;
        }
    }
}

}  // namespace elastic::simulator

// SPDX-License-Identifier: MIT
// A job that starts on more nodes than it prefers ends sooner than its like, if these nodes are any
// use.  How much sooner says how much of its declared speed-up is true: if a share c of it is, the
// work of a job is what it did at its preferred size and c times what it did beyond, and that is
// independent of the size that it started with.  So c is the share with which work and start do not
// vary together, among jobs of one program, size and limit (an instrumental variable: jobs that run
// longer are resized more often, but nobody knows at its start how long a job will run).
//
// Work is compared by logarithms of its ratio to the limit, whose errors are nearly normal. What
// all programs have shown is what is thought of a program until its own jobs say otherwise.
//
// Always holds: without evidence all beliefs are as likely; it takes a bounded time and bounded
// memory.
#include "core/model/experience.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace elastic::core {

namespace {

constexpr Duration kLeastLimit = 1, kLeastWork = 1;  // seconds
constexpr double kLeastCompared = 8;                 // before the scatter of work is known at all
constexpr double kOwnMind = 0.1;                     // how far a program may differ from all others
constexpr std::size_t kMostGroups = 1 << 14, kMostPrograms = 256;

std::uint64_t group_of(Experience::Program program, int pref, Duration limit) {
    constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
    const auto scale = static_cast<std::uint64_t>(std::lround(2 * std::log2(limit)));
    return ((program * kOdd ^ static_cast<std::uint64_t>(pref)) * kOdd ^ scale) * kOdd;
}

}  // namespace

void WorkSeen::add(Duration time, int nodes, const Sizing& sizing) {
    SpeedupModel declared = sizing.speedup;
    declared.believed = 1;
    const double speed = 1 / rescale(1, sizing.pref, nodes, declared, sizing.pref);
    const double gain = std::max(speed - 1, 0.0);
    if (empty()) start_gain_ = gain;
    sure_ += time * std::min(speed, 1.0);
    beyond_ += time * gain;
}

void Experience::Evidence::add(double weight, double start, const ByShare& work_of) {
    ++compared;
    starts += weight * start * start;
    for (std::size_t i = 0; i < kShares.size(); ++i) {
        work[i] += weight * work_of[i] * work_of[i];
        both[i] += weight * start * work_of[i];
    }
}

Experience::ByShare Experience::Evidence::likelihood() const {
    ByShare result{};
    if (compared >= kLeastCompared && starts > 0)
        for (std::size_t i = 0; i < kShares.size(); ++i) {
            const double variance = work[i] / static_cast<double>(compared);
            if (variance > 0) result[i] = -both[i] * both[i] / (2 * variance * starts);
        }
    const double most = *std::ranges::max_element(result);
    for (double& logarithm : result) logarithm = std::exp(logarithm - most);
    return result;
}

Experience::Program Experience::program(std::uint64_t user, std::string_view name) {
    constexpr std::uint64_t kBasis = 0xcbf29ce484222325, kPrime = 0x100000001b3;  // FNV-1a
    std::uint64_t hash = kBasis ^ user;
    for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
    return hash;
}

void Experience::learn(Program program, int pref, Duration limit, const WorkSeen& seen) {
    limit = std::max(limit, kLeastLimit);
    const double start = std::log1p(std::max(seen.start_gain(), 0.0));
    ByShare work;
    for (std::size_t i = 0; i < kShares.size(); ++i)
        work[i] = std::log(std::max(seen.sure() + kShares[i] * seen.beyond(), kLeastWork) / limit);
    if (groups_.size() >= kMostGroups) groups_.clear();
    Group& group = groups_[group_of(program, pref, limit)];
    const double weight = group.jobs / (group.jobs + 1);
    ++group.jobs;
    const double start_off = start - group.start;
    ByShare work_off;
    for (std::size_t i = 0; i < kShares.size(); ++i) {
        work_off[i] = work[i] - group.work[i];
        group.work[i] += work_off[i] / group.jobs;
    }
    group.start += start_off / group.jobs;
    if (weight == 0) return;  // the first of its group
    all_.add(weight, start_off, work_off);
    make_room_for(program);
    Evidence& own = programs_.try_emplace(program, Evidence{.program = program}).first->second;
    own.add(weight, start_off, work_off);
}

// Who has shown least gives way.
void Experience::make_room_for(Program program) {
    if (programs_.size() < kMostPrograms || programs_.contains(program)) return;
    programs_.erase(
        std::ranges::min_element(programs_, {}, [](const auto& own) { return own.second.starts; }));
}

double Experience::believed(Program program) const {
    const auto found = programs_.find(program);
    const ByShare own =
        found == programs_.end() ? Evidence().likelihood() : found->second.likelihood();
    const ByShare others = all_.likelihood();
    const double sum = std::accumulate(others.begin(), others.end(), 0.0);
    double total = 0, mean = 0;
    for (std::size_t i = 0; i < kShares.size(); ++i) {
        const double prior = kOwnMind / kShares.size() + (1 - kOwnMind) * others[i] / sum;
        total += prior * own[i];
        mean += prior * own[i] * kShares[i];
    }
    return mean / total;
}

}  // namespace elastic::core

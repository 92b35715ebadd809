// SPDX-License-Identifier: MIT
// A part of a workload that stands for all of it: some stretches of whole weeks (or days, or hours,
// of a short one) from all over it, one put behind the other.
//
// One machine goes through them in turn, so that only the first of them begins on an empty one; and
// as they are whole, days and weeks keep their rhythm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simulator/workload.hpp"

namespace elastic::simulator {

struct Stretches {
    Time begin = 0;                   // the first submission
    Duration length = 0;              // seconds, of each
    std::string name;                 // of the length for people: "7 weeks"
    std::size_t of = 0;               // how many the workload has
    std::vector<std::size_t> chosen;  // which of them, ascending
    std::int64_t jobs = 0;            // of these

    // The place of the stretch with this submission, be it chosen or not.
    std::size_t at(Time submit) const {
        return static_cast<std::size_t>((submit - begin) / length);
    }
};

// Some with about so many jobs, in equal steps, and of all that are such those whose jobs'
// `weights` have most nearly the mean of all; nothing if they would be most of a workload.
std::optional<Stretches> choose_stretches(const Workload&, std::int64_t jobs,
                                          const std::vector<double>& weights);

// The jobs of some stretches.
struct WorkloadSample {
    Stretches stretches;
    std::vector<std::uint32_t> places;  // in the workload, ascending
    std::vector<Duration> shifts;       // by which each is submitted sooner
};
WorkloadSample sample(const Workload&, Stretches);
// These jobs alone, each stretch right behind the one before it.  The workload is of the same jobs
// as the one by which the sample was made, with submissions `scale` times as late.
Workload take(Workload, const WorkloadSample&, double scale = 1);

}  // namespace elastic::simulator

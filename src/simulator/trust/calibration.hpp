// SPDX-License-Identifier: MIT
// Arrivals scaled so that jobs wait as long in the simulation as they did in truth.
#pragma once

#include <string>

#include "common/result.hpp"
#include "simulator/make_workload.hpp"

namespace elastic::simulator {

inline constexpr int kMostCalibrationRuns = 20;

struct Calibration {
    double factor = 1;  // WorkloadOptions::scale_arrival
    // Mean waits of the jobs of which the log says what they waited, seconds: in truth, in the
    // simulation under EASY with arrivals as they were, and with them scaled.
    Duration logged = 0, before = 0, simulated = 0;
    int runs = 0;
    bool is_met = false;  // whether the scaled mean is within kCalibrated of the logged one
};
inline constexpr double kCalibrated = 0.02;

// `options` with arrivals as they are in the log and no job elastic.  What it does to all of them
// cannot bring back why some jobs waited: it says how a busier machine of the same kind fares.
// Errors: as of make_workload(), and a log of which no job is known to have waited.
Result<Calibration> calibrate(const Log&, WorkloadOptions options);

std::string to_text(const Calibration&);

}  // namespace elastic::simulator

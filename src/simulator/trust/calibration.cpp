// SPDX-License-Identifier: MIT
// Steps of a tenth from 1 on until the logged mean is passed, then halves of the last step, by the
// logarithm.  Steps, and not the halves of a wide range, since a machine that is far overloaded
// takes far longer to simulate than any that is sought.
#include "simulator/trust/calibration.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <utility>

#include "simulator/engine.hpp"
#include "simulator/metrics.hpp"

namespace elastic::simulator {
namespace {

constexpr double kStep = 0.9;
constexpr double kPrecision = 10000;  // a factor is a multiple of 1 by this

class Search {
  public:
    Search(const Log& log, WorkloadOptions options, const Workload& as_logged)
        : log_(log), options_(std::move(options)), as_logged_(as_logged) {
        double sum = 0;
        for (const Duration wait : as_logged.logged_waits)
            if (wait >= 0) sum += wait, ++known_;
        if (known_ > 0) found_.logged = sum / known_;
    }

    bool has_waits() const { return found_.logged > 0; }

    Calibration run() {
        try_factor(1);
        found_.before = found_.simulated;
        const bool is_less = is_below();
        double near = 1, far = 1;  // too little is changed, and too much
        while (may_go_on() && is_below() == is_less) {
            near = far;
            far *= is_less ? kStep : 1 / kStep;
            try_factor(far);
        }
        while (may_go_on()) {
            const double middle = std::sqrt(near * far);
            try_factor(middle);
            (is_below() == is_less ? near : far) = middle;
        }
        return found_;
    }

  private:
    bool is_below() const { return found_.simulated < found_.logged; }
    bool may_go_on() const { return !found_.is_met && found_.runs < kMostCalibrationRuns; }

    // One that can be typed.
    void try_factor(double any_factor) {
        const double factor = std::round(kPrecision * any_factor) / kPrecision;
        options_.scale_arrival = factor;
        // Can be made, as the one with arrivals as they are; of the same jobs in the same order.
        const Workload workload = *make_workload(log_, options_);
        SimulationOptions easy;
        easy.policy = *core::preset("easy");
        easy.seed = options_.seed;
        const Outcome outcome = simulate(workload, easy);
        double sum = 0;
        for (std::size_t i = 0; i < workload.jobs.size(); ++i)
            if (as_logged_.logged_waits[i] >= 0) sum += wait(workload.jobs[i], outcome.jobs[i]);
        found_.factor = factor;
        found_.simulated = sum / known_;
        found_.is_met = std::abs(found_.simulated / found_.logged - 1) <= kCalibrated;
        ++found_.runs;
    }

    const Log& log_;
    WorkloadOptions options_;
    const Workload& as_logged_;
    double known_ = 0;
    Calibration found_;
};

}  // namespace

Result<Calibration> calibrate(const Log& log, WorkloadOptions options) {
    options.scale_arrival = 1;
    options.elastic = 0;
    const Result<Workload> as_logged = make_workload(log, options);
    if (!as_logged) return as_logged.error();
    Search search(log, std::move(options), *as_logged);
    if (!search.has_waits())
        return error("{}: does not say what its jobs waited, or none did: nothing to calibrate by",
                     log.name);
    return search.run();
}

std::string to_text(const Calibration& c) {
    return fmt::format(
        "calibrated by {} runs: with --scale-arrival {} jobs wait {:.2f} h under easy, in the log "
        "they waited {:.2f} h, without it {:.2f} h{}",
        c.runs, c.factor, c.simulated / 3600, c.logged / 3600, c.before / 3600,
        c.is_met ? "" : "; nearer it did not come");
}

}  // namespace elastic::simulator

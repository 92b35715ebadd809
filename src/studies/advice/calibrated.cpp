// SPDX-License-Identifier: MIT
// Both are shown: the waits of a site are met by more load only in the mean, so what comes of it is
// another machine's, and no better a ground for advice.
#include <algorithm>

#include "studies/advice/trials.hpp"

namespace elastic::studies {
namespace {

// By policy; those that resize nobody are run once, and those that are equal as one.
std::vector<Runs> run_scaled(const Trials& trials, double factor) {
    const Change scale = [factor](simulator::WorkloadOptions& w) { w.scale_arrival = factor; };
    const std::size_t seeds = trials.seeds();
    std::vector<Runs> done(trials.policies().size(), Runs(seeds));
    run_all(done.size() * seeds, trials.pool("presets, calibrated,"), [&](std::size_t i) {
        const std::size_t policy = i / seeds, seed = i % seeds;
        if (trials.same_as(policy) != policy || (seed > 0 && !trials.resizes(policy))) return;
        const simulator::Workload workload = trials.draw(trials.headline(), seed, scale);
        done[policy][seed] =
            trials.figures(workload, trials.run(workload, trials.policies()[policy].name, seed));
    });
    for (std::size_t p = 0; p < done.size(); ++p) {
        if (const Figures once = done[p][0]; !trials.resizes(p)) done[p].assign(seeds, once);
        done[p] = Runs(done[trials.same_as(p)]);
    }
    return done;
}

}  // namespace

Result<Calibrated> compare_calibrated(const Trials& trials, const Site& site,
                                      const std::vector<Standing>& standings) {
    const auto calibration = simulator::calibrate(site.log, site.options);
    if (!calibration) return calibration.error();
    Calibrated calibrated{*calibration, {}};
    const std::vector<Runs> done = run_scaled(trials, calibration->factor);
    const Runs& easy = done[trials.index_of(kBaseline)];
    for (std::size_t p = 0; p < done.size(); ++p) {
        const std::string& name = trials.policies()[p].name;
        calibrated.gains.push_back(
            {name, standing_of(standings, name, trials.headline()).gain, gain_of(done[p], easy)});
    }
    std::ranges::stable_sort(calibrated.gains, {},
                             [](const CalibratedGain& g) { return g.scaled.mean; });
    return calibrated;
}

}  // namespace elastic::studies

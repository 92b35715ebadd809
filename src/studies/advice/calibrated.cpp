// SPDX-License-Identifier: MIT
// Both are shown: the waits of a site are met by more load only in the mean, so what comes of it is
// another machine's, and no better a ground for advice.
#include <algorithm>
#include <utility>

#include "studies/advice/trials.hpp"

namespace elastic::studies {
namespace {

// Places of the presets that are looked at: the baseline and the recommended one, or all.
std::vector<std::size_t> looked_at(const Trials& trials, std::string_view recommended, bool all) {
    std::vector<std::size_t> places{trials.index_of(kBaseline)};
    for (std::size_t p = 0; p < trials.policies().size(); ++p)
        if (p != places.front() && (all || trials.policies()[p].name == recommended))
            places.push_back(p);
    return places;
}

// By policy; those that resize nobody are run once, and those that are equal as one.
std::vector<Runs> run_scaled(const Trials& trials, double factor,
                             const std::vector<std::size_t>& looked_at) {
    const Change scale = [factor](simulator::WorkloadOptions& w) { w.scale_arrival = factor; };
    const std::size_t seeds = trials.seeds();
    std::vector<Runs> done(trials.policies().size(), Runs(seeds));
    std::vector<std::pair<std::size_t, std::size_t>> runs;
    for (const std::size_t p : looked_at)
        for (std::size_t seed = 0; seed < (trials.resizes(p) ? seeds : 1); ++seed)
            if (const auto run = std::pair(trials.same_as(p), seed);
                std::ranges::count(runs, run) == 0)
                runs.push_back(run);
    run_all(runs.size(), trials.pool("presets, calibrated,"), [&](std::size_t i) {
        const auto [policy, seed] = runs[i];
        const simulator::Workload workload = trials.draw(trials.headline(), seed, scale);
        done[policy][seed] =
            trials.figures(workload, trials.run(workload, trials.policies()[policy].name, seed));
    });
    for (const std::size_t p : looked_at) {
        if (const Figures once = done[p][0]; !trials.resizes(p)) done[p].assign(seeds, once);
        done[p] = Runs(done[trials.same_as(p)]);
    }
    return done;
}

}  // namespace

Result<Calibrated> compare_calibrated(const Trials& trials, const Site& site,
                                      const std::vector<Standing>& standings,
                                      std::string_view recommended, bool all) {
    const auto calibration = simulator::calibrate(site.log, site.options);
    if (!calibration) return calibration.error();
    Calibrated calibrated{*calibration, {}};
    const std::vector<std::size_t> places = looked_at(trials, recommended, all);
    const std::vector<Runs> done = run_scaled(trials, calibration->factor, places);
    const Runs& easy = done[trials.index_of(kBaseline)];
    for (const std::size_t p : places) {
        const std::string& name = trials.policies()[p].name;
        calibrated.gains.push_back(
            {name, standing_of(standings, name, trials.headline()).gain, gain_of(done[p], easy)});
    }
    std::ranges::stable_sort(calibrated.gains, {},
                             [](const CalibratedGain& g) { return g.scaled.mean; });
    return calibrated;
}

}  // namespace elastic::studies

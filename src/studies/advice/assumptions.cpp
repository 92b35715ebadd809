// SPDX-License-Identifier: MIT
// The changes are those that can be said to `selastic-sim run`, so that each can be looked into.
// The first is none, which the comparison of the presets has run; and most do not touch a job that
// nobody resizes, so what easy does is known.
#include "studies/advice/assumptions.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace elastic::studies {
namespace {

using namespace simulator;

constexpr std::size_t kLookedAt = 2;  // presets besides easy

struct Changed {
    const char *text, *options;
    void (*change)(WorkloadOptions&);
    bool of_all_jobs = false;  // also of those that nobody resizes
};

constexpr std::array kChanges{
    Changed{"malleable jobs can at most double their nodes", "--max-factor 2",
            [](WorkloadOptions& w) { w.max_factor = 2; }},
    Changed{"they cannot run on fewer nodes than they asked for", "--min-factor 1",
            [](WorkloadOptions& w) { w.min_factor = 1; }},
    Changed{"they have a serial share of 10 to 20 %", "--rho 0.1:0.2",
            [](WorkloadOptions& w) {
                w.model = mebf_model({0.1, 0.2}, w.model.cost_factor);
            }},
    Changed{"beyond 1.5 times their nodes they are hardly faster, which nobody knows",
            "--truth downey=1.5:0.5",
            [](WorkloadOptions& w) {
                w.truth = core::SpeedupModel{core::SpeedupModel::Kind::downey, 1.5, 0.5};
            }},
    Changed{"beyond their own nodes they are hardly faster, which nobody knows",
            "--truth downey=1:0.5",
            [](WorkloadOptions& w) {
                w.truth = core::SpeedupModel{core::SpeedupModel::Kind::downey, 1, 0.5};
            }},
    Changed{"a resize costs a hundred times what the model says", "--cost-factor 100",
            [](WorkloadOptions& w) { w.model.cost_factor = 100; }},
    Changed{"half of them ask for nodes themselves", "--evolving-share 0.5",
            [](WorkloadOptions& w) { w.evolving_share = 0.5; }, true},
    Changed{"time limits are the run times", "--estimates exact",
            [](WorkloadOptions& w) { w.estimates = Estimates::exact; }, true},
    Changed{"time limits are wrong by a factor of up to 2 either way", "--limit-error 0.5:2",
            [](WorkloadOptions& w) {
                w.limit_error = {0.5, 2};
            },
            true},
    Changed{"jobs go on beyond their time limit", "--overrun extend",
            [](WorkloadOptions& w) { w.overrun = Overrun::extend; }, true},
    Changed{"jobs come a tenth faster", "--scale-arrival 0.9",
            [](WorkloadOptions& w) { w.scale_arrival *= 0.9; }, true}};

// The baseline first, the recommended one second if it is another.
std::vector<std::string> looked_at(const std::vector<Ranking>& rankings,
                                   std::string_view recommended) {
    std::vector<std::string> names{std::string(kBaseline)};
    if (recommended != kBaseline) names.emplace_back(recommended);
    for (const Ranking& ranking : rankings) {
        if (names.size() > kLookedAt) break;
        if (std::ranges::count(names, ranking.policy) == 0) names.push_back(ranking.policy);
    }
    return names;
}

// By change and name.
using Done = std::vector<std::vector<Runs>>;

Done run_changes(const Trials& trials, const std::vector<std::string>& names) {
    const std::size_t seeds = trials.seeds();
    Done done(kChanges.size(), std::vector(names.size(), Runs(seeds)));
    run_all(kChanges.size() * seeds, trials.pool("assumptions"), [&](std::size_t i) {
        const std::size_t seed = i % seeds, change = i / seeds;
        const Workload workload = trials.draw(trials.headline(), seed, kChanges[change].change);
        for (std::size_t name = 0; name < names.size(); ++name) {
            const bool is_known = names[name] == kBaseline && !kChanges[change].of_all_jobs;
            done[change][name][seed] = trials.figures(
                workload, is_known ? trials.easy() : trials.run(workload, names[name], seed));
        }
    });
    return done;
}

Assumption unchanged(const Trials& trials, const std::vector<Standing>& standings,
                     const std::vector<std::string>& names, std::string_view recommended) {
    const auto of = [&](std::string_view policy) -> const Standing& {
        return standing_of(standings, policy, trials.headline());
    };
    const auto best = std::ranges::min_element(
        names, {}, [&](const std::string& name) { return of(name).mean.turnaround; });
    return {"as in all of the above", "",    of(kBaseline).mean.turnaround,
            of(recommended).gain,     *best, of(*best).gain.mean};
}

}  // namespace

std::vector<Assumption> change_assumptions(const Trials& trials,
                                           const std::vector<Standing>& standings,
                                           const std::vector<Ranking>& rankings,
                                           std::string_view recommended) {
    const auto turnaround = [](const Runs& runs) { return mean_of(runs).turnaround; };
    const std::vector<std::string> names = looked_at(rankings, recommended);
    const Done done = run_changes(trials, names);
    const std::size_t ours = recommended == kBaseline ? 0 : 1;
    std::vector<Assumption> assumptions{unchanged(trials, standings, names, recommended)};
    for (std::size_t c = 0; c < kChanges.size(); ++c) {
        const std::vector<Runs>& of = done[c];
        const auto best = std::ranges::min_element(of, {}, turnaround);
        assumptions.push_back(
            {kChanges[c].text, kChanges[c].options, turnaround(of[0]), gain_of(of[ours], of[0]),
             names[static_cast<std::size_t>(best - of.begin())], gain_of(*best, of[0]).mean});
    }
    return assumptions;
}

}  // namespace elastic::studies

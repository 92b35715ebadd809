// SPDX-License-Identifier: MIT
// Reads the site's log, runs the presets, judges them, and looks closer at the one that is
// recommended; each of these is a file.
#include "studies/advice/advice.hpp"

#include <fmt/format.h>

#include <utility>

#include "common/text.hpp"
#include "studies/advice/assumptions.hpp"
#include "studies/advice/groups.hpp"
#include "studies/advice/ranking.hpp"
#include "studies/advice/site.hpp"
#include "studies/advice/trials.hpp"

namespace elastic::studies {
namespace {

Advice about(const Site& site, const AdviceOptions& options) {
    Advice advice;
    advice.log = site.log.name;
    advice.nodes = site.workload.nodes;
    advice.nodes_from = site.nodes_from;
    advice.jobs = std::ssize(site.workload.jobs);
    advice.skipped = site.workload.skipped;
    advice.rejected = site.workload.rejected;
    advice.seeds = options.seeds;
    advice.warnings = warnings(site);
    return advice;
}

std::string configuration(const Advice& advice) {
    return fmt::format("# selastic-sim advise: {} jobs of {}, {} nodes\nPolicy = {}\n", advice.jobs,
                       printable(advice.log, 200), advice.nodes, advice.recommended);
}

}  // namespace

Result<Advice> advise(const AdviceOptions& options) {
    const Result<Site> site = read_site(options);
    if (!site) return site.error();
    const Trials trials(options, *site);
    Advice advice = about(*site, options);
    advice.share = trials.middle().share;
    advice.cost_factor = trials.middle().cost_factor;
    advice.easy = simulator::summarise(site->workload, trials.easy());
    advice.trust = judge_trust(*site, trials.easy());
    advice.standings = compare_presets(trials);
    advice.rankings = rank(advice.standings);
    Recommendation chosen = recommend(advice.rankings, advice.easy.wait.max);
    advice.recommended = std::move(chosen.policy);
    advice.why = std::move(chosen.why);
    Groups groups = compare_groups(trials, *site, advice.recommended);
    advice.by_class = std::move(groups.by_class);
    advice.by_size = std::move(groups.by_size);
    advice.by_user = std::move(groups.by_user);
    advice.assumptions = change_assumptions(trials, advice.rankings, advice.recommended);
    if (options.calibrate) {
        auto calibrated = compare_calibrated(trials, *site, advice.standings);
        if (!calibrated) return calibrated.error();
        advice.calibrated = *std::move(calibrated);
    }
    if (advice.is_advised()) advice.configuration = configuration(advice);
    return advice;
}

}  // namespace elastic::studies

// SPDX-License-Identifier: MIT
// Reads the site's log, runs the presets, judges them, and looks closer at the one that is
// recommended; each of these is a file.  First on a sample of a long log, then on all of it, whose
// figures take the place of the sample's one after another.
//
// Always holds: what comes out in the end does not hang on whether there was a sample.
#include "studies/advice/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <tuple>
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

// Looks at trials step by step: what decides comes first, and each step is told.
class Adviser {
  public:
    Adviser(const Site& site, const AdviceOptions& options, const Told& told)
        : site_(site), options_(options), told_(told), advice_(about(site, options)) {}

    Result<Advice> make() {
        const Trials whole(options_, site_);
        advice_.easy = simulator::summarise(site_.workload, whole.easy());
        advice_.trust = judge_trust(site_, whole.easy());
        advice_.share = whole.headline().share;
        advice_.cost_factor = whole.headline().cost_factor;
        advice_.basis.conditions = static_cast<int>(std::ssize(whole.conditions()));
        for (std::int64_t jobs = options_.sample; jobs > 0; jobs *= kNextSample) {
            auto stretches = simulator::choose_stretches(site_.workload, jobs, turnarounds(whole));
            if (!stretches) break;
            look(Trials(options_, site_, simulator::sample(site_.workload, *std::move(stretches))));
        }
        look(whole);
        return finish(whole);
    }

  private:
    void look(const Trials& trials) {
        if (trials.sample()) {
            const simulator::Stretches& some = trials.sample()->stretches;
            advice_.basis.jobs = some.jobs;
            advice_.basis.stretches = some.chosen.size();
            advice_.basis.of = some.of;
            advice_.basis.stretch = some.name;
            advice_.basis.wait =
                simulator::summarise(trials.as_they_are(), trials.easy()).wait.mean;
        }
        const std::vector<Condition> conditions = trials.conditions();
        compare(trials, conditions.front(), all_presets(trials));
        look_closer_at(trials);
        tell();
        look_elsewhere(trials, {conditions.begin() + 1, conditions.end()});
        change(trials);
    }

    static std::vector<double> turnarounds(const Trials& trials) {
        std::vector<double> list;
        for (std::size_t i = 0; i < trials.easy().jobs.size(); ++i)
            list.push_back(
                simulator::turnaround(trials.as_they_are().jobs[i], trials.easy().jobs[i]));
        return list;
    }

    static std::vector<std::size_t> all_presets(const Trials& trials) {
        std::vector<std::size_t> all(trials.policies().size());
        std::iota(all.begin(), all.end(), 0);
        return all;
    }

    // Presets that are run at once: what a site has that sets nothing, then those that are best by
    // the headline.  One that resizes nobody costs nothing.
    std::vector<std::vector<std::size_t>> in_turns(const Trials& trials) const {
        if (options_.all_presets) return {all_presets(trials)};
        std::vector<std::size_t> by_gain = all_presets(trials), rigid;
        const std::size_t usual = trials.same_as(trials.index_of(core::kDefaultPolicy));
        std::ranges::stable_sort(by_gain, {}, [&](std::size_t p) {
            const Standing& s =
                standing_of(advice_.standings, trials.policies()[p].name, trials.headline());
            return std::tuple(trials.same_as(p) != usual, is_positive(s.gain) == Answer::yes,
                              s.gain.mean);
        });
        std::vector<std::vector<std::size_t>> turns{{}};
        std::size_t different = 0;
        for (const std::size_t p : by_gain) {
            if (!trials.resizes(p)) {
                rigid.push_back(p);
                continue;
            }
            if (trials.same_as(p) == p && different++ == kAtOnce) {
                turns.emplace_back();
                different = 1;
            }
            turns.back().push_back(p);
        }
        turns.front().insert(turns.front().end(), rigid.begin(), rigid.end());
        return turns;
    }

    // The next ones only where none of those before is nowhere worse than easy.
    void look_elsewhere(const Trials& trials, const std::vector<Condition>& conditions) {
        for (std::vector<std::size_t>& presets : in_turns(trials)) {
            if (std::ranges::count(presets, trials.index_of(kBaseline)) == 0)
                presets.push_back(trials.index_of(kBaseline));
            for (const Condition& condition : conditions) {
                compare(trials, condition, presets);
                tell();
            }
            if (advice_.recommended != kBaseline) break;
        }
        if (trials.sample()) return;
        std::erase_if(advice_.standings, &Standing::is_sampled);
        judge();
        look_closer_at(trials);
    }

    // What was there of the same is of a part of the log, or the same.
    void compare(const Trials& trials, const Condition& condition,
                 const std::vector<std::size_t>& presets) {
        const auto of_it = [&](const Standing& s) {
            return Condition{s.share, s.cost_factor} == condition;
        };
        std::vector<Standing> standings = compare_presets(trials, {condition}, presets);
        std::erase_if(advice_.standings, [&](const Standing& s) {
            return of_it(s) && std::ranges::count(standings, s.policy, &Standing::policy) > 0;
        });
        if (!trials.sample() && std::ranges::none_of(advice_.standings, [&](const Standing& s) {
                return of_it(s) && !s.is_sampled;
            }))
            ++advice_.basis.whole;
        std::ranges::move(standings, std::back_inserter(advice_.standings));
        judge();
    }

    // In an order that does not hang on when each was run.
    void judge() {
        std::ranges::stable_sort(advice_.standings, {}, [](const Standing& s) {
            return std::tuple(s.cost_factor, s.share, place_of(s.policy));
        });
        advice_.rankings = rank(advice_.standings);
        const double longest =
            standing_of(advice_.standings, kBaseline, {advice_.share, advice_.cost_factor})
                .longest_wait;
        Recommendation chosen = recommend(advice_.rankings, longest);
        advice_.recommended = std::move(chosen.policy);
        advice_.why = std::move(chosen.why);
        if (advice_.is_advised()) advice_.configuration = configuration(advice_);
        if (looked_at_ != advice_.recommended) forget_closer_looks();
    }

    static std::ptrdiff_t place_of(std::string_view policy) {
        const auto names = core::preset_names();
        return std::ranges::find(names, policy) - names.begin();
    }

    // They were at another preset.
    void forget_closer_looks() {
        advice_.by_class.clear();
        advice_.by_size.clear();
        advice_.by_user.clear();
        advice_.over_time = {};
        advice_.assumptions.clear();
        advice_.basis.error = 0;
        looked_at_.clear();
    }

    void look_closer_at(const Trials& trials) {
        const std::size_t jobs = trials.as_they_are().jobs.size();
        if (looked_at_ == advice_.recommended && looked_at_of_ == jobs) return;
        Closer closer = look_closer(trials, site_, advice_.recommended);
        advice_.by_class = std::move(closer.by_class);
        advice_.by_size = std::move(closer.by_size);
        advice_.by_user = std::move(closer.by_user);
        advice_.over_time = std::move(closer.over_time);
        advice_.basis.error = closer.error;
        looked_at_ = advice_.recommended;
        looked_at_of_ = jobs;
    }

    void change(const Trials& trials) {
        look_closer_at(trials);
        advice_.assumptions =
            change_assumptions(trials, advice_.standings, advice_.rankings, advice_.recommended);
        tell();
    }

    Result<Advice> finish(const Trials& whole) {
        if (options_.calibrate) {
            auto calibrated = compare_calibrated(whole, site_, advice_.standings,
                                                 advice_.recommended, options_.all_presets);
            if (!calibrated) return calibrated.error();
            advice_.calibrated = *std::move(calibrated);
        }
        const int conditions = advice_.basis.conditions;
        advice_.basis = {};
        advice_.basis.is_finished = true;
        advice_.basis.whole = advice_.basis.conditions = conditions;
        advice_.basis.jobs = advice_.jobs;
        return std::move(advice_);
    }

    void tell() const {
        if (told_) told_(advice_);
    }

    static constexpr std::size_t kAtOnce = 5;  // presets under other conditions than the headline
    static constexpr int kNextSample = 8;      // times the jobs of the one before

    const Site& site_;
    const AdviceOptions& options_;
    const Told& told_;
    Advice advice_;
    // What the closer looks are at, and of how many jobs.
    std::string looked_at_;
    std::size_t looked_at_of_ = 0;
};

}  // namespace

Result<Advice> advise(const AdviceOptions& options, const Told& told) {
    if (std::ranges::count(options.shares, options.headline) == 0)
        return error("the headline's share is not one of those that are compared");
    const Result<Site> site = read_site(options);
    if (!site) return site.error();
    return Adviser(*site, options, told).make();
}

}  // namespace elastic::studies

// SPDX-License-Identifier: MIT
// The rule is that of the tutorial: what is worse than easy under no share and cost, beyond the
// error over the seeds, and of those the lowest mean turnaround; where several are as good, the one
// that delays a job the least.  Presets that were not looked at under all of them stand behind.
#include "studies/advice/ranking.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "studies/advice/trials.hpp"

namespace elastic::studies {
namespace {

constexpr double kLeastGain = 0.01;  // of the turnaround: less is no difference
constexpr double kMuchLonger = 1.5;  // of the longest wait: that has to be said

Ranking ranking_of(const std::string& policy, const std::vector<Standing>& standings) {
    Ranking ranking{policy};
    std::vector<double> gains;
    for (const Standing& standing : standings) {
        if (standing.policy != policy) continue;
        gains.push_back(standing.gain.mean);
        ++ranking.conditions;
        ranking.worse += is_positive(standing.gain) == Answer::yes;
        ranking.longest_wait = std::max(ranking.longest_wait, standing.longest_wait);
        ranking.longest_delay = std::max(ranking.longest_delay, standing.longest_delay);
    }
    ranking.gain = studies::mean_of(gains);
    ranking.worst_gain = std::ranges::max(gains);
    return ranking;
}

// The first, or of those that are as good the one that delays the least.
const Ranking& best_of(const std::vector<Ranking>& rankings) {
    const Ranking* best = &rankings.front();
    const double as_good = std::min(best->gain + kLeastGain, -kLeastGain);
    for (const Ranking& other : rankings)
        if (other.worse == 0 && other.conditions == best->conditions && other.gain <= as_good &&
            other.longest_delay < best->longest_delay)
            best = &other;
    return *best;
}

std::string reason_for(const Ranking& best, bool is_first) {
    return fmt::format(
        "Of the presets that are worse than {0} under no share and cost it {3}: {1:.1f} % less "
        "than {0} on average, {2:.1f} % where it saves least.",
        kBaseline, -100 * best.gain, -100 * best.worst_gain,
        is_first ? "has the shortest mean turnaround"
                 : "delays a job the least among those with the shortest mean turnaround");
}

}  // namespace

std::vector<Ranking> rank(const std::vector<Standing>& standings) {
    std::vector<Ranking> rankings;
    for (const Standing& standing : standings)
        if (std::ranges::count(rankings, standing.policy, &Ranking::policy) == 0)
            rankings.push_back(ranking_of(standing.policy, standings));
    int most = 0;
    for (const Ranking& ranking : rankings) most = std::max(most, ranking.conditions);
    std::ranges::stable_sort(rankings, {}, [most](const Ranking& r) {
        return std::tuple(r.worse > 0, r.conditions < most, r.gain);
    });
    return rankings;
}

Recommendation recommend(const std::vector<Ranking>& rankings, Duration longest_wait) {
    if (rankings.front().gain > -kLeastGain)
        return {std::string(kBaseline),
                fmt::format("No preset that is nowhere worse than {0} saves {1:.0f} % of its mean "
                            "turnaround on average over all shares and costs.",
                            kBaseline, 100 * kLeastGain)};
    const Ranking& best = best_of(rankings);
    Recommendation recommended{best.policy, reason_for(best, &best == &rankings.front())};
    if (best.longest_wait > kMuchLonger * longest_wait)
        recommended.why += fmt::format(
            " But the longest wait rises from {} to {}: weigh it against the other presets.",
            format_duration(longest_wait), format_duration(best.longest_wait));
    return recommended;
}

}  // namespace elastic::studies

// SPDX-License-Identifier: MIT
// A run is one preset on one workload; all runs of a look are one pool, so that the remaining time
// is told finely.  Nothing is run twice: presets that resize nobody do not see which jobs are
// malleable, so they are run once for all shares, and presets that are equal once for all names.
#include "studies/advice/trials.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "simulator/comparison.hpp"

namespace elastic::studies {
namespace {

using namespace simulator;

Figures figures_of(const Workload& workload, const Outcome& outcome, const Outcome& easy) {
    const Summary s = summarise(workload, outcome);
    const Comparison c = compare(workload, outcome, easy);
    return {.turnaround = s.turnaround.mean,
            .slowdown = s.bounded_slowdown.mean,
            .wait = s.wait.mean,
            .p99_wait = s.wait.p99,
            .longest_wait = s.wait.max,
            .rigid_turnaround = s.rigid.jobs > 0 ? s.rigid.turnaround.mean
                                                 : std::numeric_limits<double>::quiet_NaN(),
            .useful_utilisation = s.useful_utilisation,
            .work_done = s.work_done,
            .delayed = static_cast<double>(c.delayed.size()),
            .longest_delay = c.longest_delay,
            .longer = static_cast<double>(c.longer),
            .mean_longer = c.mean_longer,
            .missed = static_cast<double>(c.missed)};
}

constexpr std::array kFigures{&Figures::turnaround,
                              &Figures::slowdown,
                              &Figures::wait,
                              &Figures::p99_wait,
                              &Figures::longest_wait,
                              &Figures::rigid_turnaround,
                              &Figures::useful_utilisation,
                              &Figures::work_done,
                              &Figures::delayed,
                              &Figures::longest_delay,
                              &Figures::longer,
                              &Figures::mean_longer,
                              &Figures::missed};

constexpr std::size_t kKept = 3;  // workloads: that of a seed, and what threads still have

// Of one preset.
struct Run {
    std::size_t condition = 0, seed = 0, policy = 0;
};

// By condition and policy.
using Done = std::vector<std::vector<Runs>>;

Done run_presets(const Trials& trials, const std::vector<Condition>& conditions,
                 const std::vector<std::size_t>& policies) {
    std::vector<Run> runs;
    for (std::size_t c = 0; c < conditions.size(); ++c)
        for (std::size_t seed = 0; seed < trials.seeds(); ++seed)
            for (const std::size_t p : policies)
                if (trials.same_as(p) == p || std::ranges::count(policies, trials.same_as(p)) == 0)
                    runs.push_back({c, seed, p});
    Done done(conditions.size(), std::vector(trials.policies().size(), Runs(trials.seeds())));
    run_all(runs.size(), trials.pool("presets"), [&](std::size_t i) {
        const auto [c, seed, p] = runs[i];
        done[c][p][seed] = trials.measure(conditions[c], seed, p);
    });
    for (std::vector<Runs>& of : done)
        for (const std::size_t p : policies)
            if (std::ranges::count(policies, trials.same_as(p)) > 0) of[p] = of[trials.same_as(p)];
    return done;
}

double most_of(const Runs& runs, double Figures::*figure) {
    double most = 0;
    for (const Figures& one : runs) most = std::max(most, one.*figure);
    return most;
}

}  // namespace

Figures mean_of(const Runs& runs) {
    Figures mean;
    for (const auto figure : kFigures)
        for (const Figures& one : runs)
            mean.*figure += one.*figure / static_cast<double>(runs.size());
    return mean;
}

Difference gain_of(const Runs& runs, const Runs& easy) {
    std::vector<double> relative, ones(runs.size(), 1);
    for (std::size_t i = 0; i < runs.size(); ++i)
        relative.push_back(runs[i].turnaround / easy[i].turnaround);
    return difference(relative, ones);
}

double worst_of(const Runs& runs, const Runs& easy) {
    double worst = -1;
    for (std::size_t i = 0; i < runs.size(); ++i)
        worst = std::max(worst, runs[i].turnaround / easy[i].turnaround - 1);
    return worst;
}

Trials::Trials(const AdviceOptions& options, const Site& site, std::optional<WorkloadSample> sample)
    : options_(options), site_(site), sample_(std::move(sample)) {
    for (const std::string_view name : core::preset_names()) {
        const core::Policy policy = *core::preset(name);
        // In simulation nobody waits for victims, so what else to start on is never asked.
        if (policy.starts_on == core::StartsOn::idle)
            policies_.push_back({std::string(name), policy});
    }
    rigid_.resize(policies_.size());
    as_they_are_ = sample_ ? take(site.workload, *sample_) : site.workload;
    easy_ = run_easy(as_they_are_, site.options.seed);
}

std::size_t Trials::index_of(std::string_view policy) const {
    return static_cast<std::size_t>(std::ranges::find(policies_, policy, &NamedPolicy::name) -
                                    policies_.begin());
}

std::size_t Trials::same_as(std::size_t policy) const {
    return static_cast<std::size_t>(
        std::ranges::find(policies_, policies_[policy].policy, &NamedPolicy::policy) -
        policies_.begin());
}

PoolOptions Trials::pool(std::string_view what) const {
    return {options_.pool.threads,
            fmt::format("advise, {} of {} jobs", what, as_they_are_.jobs.size()), true};
}

Condition Trials::headline() const {
    return {options_.headline, options_.cost_factors.front()};
}

std::vector<Condition> Trials::conditions() const {
    std::vector<Condition> list{headline()};
    const double most = std::ranges::max(options_.shares);
    for (const double cost : options_.cost_factors)
        for (const double share : options_.shares) {
            const bool is_wanted = options_.all_presets || cost == options_.cost_factors.front() ||
                                   share == options_.headline || share == most;
            const Condition condition{share, cost};
            if (is_wanted && std::ranges::count(list, condition) == 0) list.push_back(condition);
        }
    return list;
}

// Can be made, since read_site() has made one of the same jobs.
Workload Trials::draw(const Condition& condition, std::size_t seed, const Change& change) const {
    WorkloadOptions options = site_.options;
    options.elastic = condition.share;
    options.model.cost_factor = condition.cost_factor;
    options.seed += seed;
    if (change) change(options);
    Workload all = *make_workload(site_.log, options);
    if (!sample_) return all;
    return take(std::move(all), *sample_, options.scale_arrival / site_.options.scale_arrival);
}

// Drawn under the lock: who waits for it wants the same one, mostly.
Trials::Drawn Trials::drawn(const Condition& condition, std::size_t seed) const {
    const std::scoped_lock lock(mutex_);
    for (const Kept& kept : kept_)
        if (kept.condition == condition && kept.seed == seed) return kept.workload;
    kept_.push_back({condition, seed, std::make_shared<const Workload>(draw(condition, seed))});
    if (kept_.size() > kKept) kept_.pop_front();
    return kept_.back().workload;
}

Outcome Trials::run(const Workload& workload, std::string_view policy, std::size_t seed,
                    bool segments) const {
    SimulationOptions options;
    options.policy = policies_[index_of(policy)].policy;
    options.seed = site_.options.seed + seed;
    options.segments = segments;
    return simulate(workload, options);
}

Figures Trials::figures(const Workload& workload, const Outcome& outcome) const {
    return figures_of(workload, outcome, easy_);
}

const Outcome& Trials::rigid_outcome(std::size_t policy) const {
    if (policies_[policy].name == kBaseline) return easy_;
    Once& once = rigid_[policy];
    std::call_once(once.flag, [&] { once.outcome = run(as_they_are_, policies_[policy].name, 0); });
    return once.outcome;
}

// What jobs do under a policy that resizes nobody does not hang on which of them are malleable;
// whose figures count as rigid does.
Figures Trials::measure(const Condition& condition, std::size_t seed, std::size_t policy) const {
    const Drawn workload = drawn(condition, seed);
    if (!resizes(policy)) return figures(*workload, rigid_outcome(policy));
    return figures(*workload, run(*workload, policies_[policy].name, seed));
}

Outcome run_easy(const Workload& workload, std::uint64_t seed) {
    SimulationOptions options;
    options.policy = *core::preset(kBaseline);
    options.seed = seed;
    return simulate(workload, options);
}

Trust judge_trust(const Site& site, const Outcome& easy) {
    return judge_trust(site.workload, easy, site.groupings);
}

const Standing& standing_of(const std::vector<Standing>& standings, std::string_view policy,
                            const Condition& condition) {
    return *std::ranges::find_if(standings, [&](const Standing& s) {
        return s.policy == policy && Condition{s.share, s.cost_factor} == condition;
    });
}

std::vector<Standing> compare_presets(const Trials& trials,
                                      const std::vector<Condition>& conditions,
                                      const std::vector<std::size_t>& policies) {
    const Done done = run_presets(trials, conditions, policies);
    const std::size_t easy = trials.index_of(kBaseline);
    std::vector<Standing> standings;
    for (std::size_t c = 0; c < conditions.size(); ++c)
        for (const std::size_t p : policies)
            standings.push_back(
                {trials.policies()[p].name, conditions[c].share, conditions[c].cost_factor,
                 mean_of(done[c][p]), gain_of(done[c][p], done[c][easy]),
                 worst_of(done[c][p], done[c][easy]), most_of(done[c][p], &Figures::longest_wait),
                 most_of(done[c][p], &Figures::longest_delay), trials.sample().has_value()});
    return standings;
}

}  // namespace elastic::studies

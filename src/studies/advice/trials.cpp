// SPDX-License-Identifier: MIT
// A run is one preset on one workload; all runs of a look are one pool, so that the remaining time
// is told finely.  Presets that resize nobody do not see which jobs are malleable, so they are run
// once.
#include "studies/advice/trials.hpp"

#include <algorithm>
#include <array>
#include <limits>

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

// Of one preset, by condition and seed; the first of each where it does not resize anybody.
struct Run {
    std::size_t condition = 0, policy = 0, seed = 0;
};

bool is_rigid(const Trials& trials, std::size_t policy) {
    return !trials.policies()[policy].policy.resizes();
}

std::vector<Run> all_runs(const Trials& trials, std::size_t conditions) {
    std::vector<Run> runs;
    for (std::size_t c = 0; c < conditions; ++c)
        for (std::size_t seed = 0; seed < trials.seeds(); ++seed)
            for (std::size_t p = 0; p < trials.policies().size(); ++p)
                if (!is_rigid(trials, p) || (c == 0 && seed == 0)) runs.push_back({c, p, seed});
    return runs;
}

// By condition and policy.
using Done = std::vector<std::vector<Runs>>;

// What jobs do under it does not hang on which of them are malleable; whose figures count as rigid
// does.
void measure_rigid(const Trials& trials, const std::vector<Condition>& conditions, std::size_t p,
                   Done& done) {
    const Outcome outcome = trials.run(trials.draw(conditions[0], 0), trials.policies()[p].name, 0);
    for (std::size_t c = 0; c < conditions.size(); ++c)
        for (std::size_t seed = 0; seed < trials.seeds(); ++seed)
            done[c][p][seed] = trials.figures(trials.draw(conditions[c], seed), outcome);
}

Done run_presets(const Trials& trials, const std::vector<Condition>& conditions) {
    const std::vector<Run> runs = all_runs(trials, conditions.size());
    Done done(conditions.size(), std::vector(trials.policies().size(), Runs(trials.seeds())));
    run_all(runs.size(), trials.pool("advise, presets"), [&](std::size_t i) {
        const auto [c, p, seed] = runs[i];
        const std::string& name = trials.policies()[p].name;
        if (!is_rigid(trials, p))
            done[c][p][seed] = trials.measure(conditions[c], seed, name);
        else
            measure_rigid(trials, conditions, p, done);
    });
    return done;
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

Trials::Trials(const AdviceOptions& options, const Site& site) : options_(options), site_(site) {
    for (const std::string_view name : core::preset_names()) {
        const core::Policy policy = *core::preset(name);
        // In simulation nobody waits for victims, so what else to start on is never asked.
        if (policy.starts_on == core::StartsOn::idle)
            policies_.push_back({std::string(name), policy});
    }
    easy_ = run_easy(site);
}

std::size_t Trials::index_of(std::string_view policy) const {
    return static_cast<std::size_t>(std::ranges::find(policies_, policy, &NamedPolicy::name) -
                                    policies_.begin());
}

std::vector<Condition> Trials::conditions() const {
    std::vector<Condition> list;
    for (const double cost : options_.cost_factors)
        for (const double share : options_.shares) list.push_back({share, cost});
    return list;
}

Condition Trials::middle() const {
    return {options_.shares[options_.shares.size() / 2], options_.cost_factors.front()};
}

// Can be made, since read_site() has made one of the same jobs.
Workload Trials::draw(const Condition& condition, std::size_t seed, const Change& change) const {
    WorkloadOptions options = site_.options;
    options.elastic = condition.share;
    options.model.cost_factor = condition.cost_factor;
    options.seed += seed;
    if (change) change(options);
    return *make_workload(site_.log, options);
}

Outcome Trials::run(const Workload& workload, std::string_view policy, std::size_t seed) const {
    SimulationOptions options;
    options.policy = policies_[index_of(policy)].policy;
    options.seed = site_.options.seed + seed;
    return simulate(workload, options);
}

Figures Trials::figures(const Workload& workload, const Outcome& outcome) const {
    return figures_of(workload, outcome, easy_);
}

Figures Trials::measure(const Condition& condition, std::size_t seed, std::string_view policy,
                        const Change& change) const {
    const Workload workload = draw(condition, seed, change);
    return figures(workload, run(workload, policy, seed));
}

Outcome run_easy(const Site& site) {
    SimulationOptions options;
    options.policy = *core::preset(kBaseline);
    options.seed = site.options.seed;
    return simulate(site.workload, options);
}

Trust judge_trust(const Site& site, const Outcome& easy) {
    return judge_trust(site.workload, easy, site.groupings);
}

std::vector<Standing> compare_presets(const Trials& trials) {
    const std::vector<Condition> conditions = trials.conditions();
    const Done done = run_presets(trials, conditions);
    const std::size_t easy = trials.index_of(kBaseline);
    std::vector<Standing> standings;
    for (std::size_t c = 0; c < conditions.size(); ++c)
        for (std::size_t p = 0; p < trials.policies().size(); ++p)
            standings.push_back({trials.policies()[p].name, conditions[c].share,
                                 conditions[c].cost_factor, mean_of(done[c][p]),
                                 gain_of(done[c][p], done[c][easy]),
                                 worst_of(done[c][p], done[c][easy])});
    return standings;
}

}  // namespace elastic::studies

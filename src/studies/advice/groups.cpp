// SPDX-License-Identifier: MIT
// Each job is compared with itself under easy.  How far a sample of the log stands for all of it is
// what its stretches differ by: the jackknife of the ratio of two sums, less the share of the log
// that there is nothing left to be wrong of.
#include "studies/advice/groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <unordered_map>
#include <utility>

#include "common/text.hpp"
#include "simulator/comparison.hpp"
#include "studies/advice/over_time.hpp"

namespace elastic::studies {
namespace {

using namespace simulator;

// "17-64", by powers of four.
std::string size_class(int nodes) {
    int most = 1;
    while (most < nodes) most *= 4;
    return most == 1 ? "1 node" : fmt::format("{}-{} nodes", most / 4 + 1, most);
}

int least_nodes(std::string_view size_class) {
    return static_cast<int>(*parse_integer(size_class.substr(0, size_class.find_first_of("- "))));
}

// Sums by name, in the order in which they came first.
class Sums {
  public:
    void add(const std::string& name, double easy, double recommended, bool delayed) {
        const auto [at, is_new] = places_.try_emplace(name, groups_.size());
        if (is_new) groups_.push_back({name});
        Group& group = groups_[at->second];
        ++group.jobs;
        group.easy += easy;
        group.recommended += recommended;
        group.delayed += delayed;
    }

    std::vector<Group> means(std::size_t seeds) && {
        const auto count = static_cast<double>(seeds);
        for (Group& group : groups_) {
            group.easy /= group.jobs;
            group.recommended /= group.jobs;
            group.jobs /= count;
            group.delayed /= count;
        }
        return std::move(groups_);
    }

  private:
    std::vector<Group> groups_;
    std::unordered_map<std::string, std::size_t> places_;
};

struct AllSums {
    Sums by_class, by_size, by_user;
};

// `users` is null where the log names none.
void add(AllSums& sums, const Grouping* users, const Trials& trials, const Workload& workload,
         const Outcome& outcome) {
    const Outcome& easy = trials.easy();
    for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
        const Job& job = workload.jobs[i];
        const JobResult &then = outcome.jobs[i], &now = easy.jobs[i];
        const bool delayed = wait(job, then) - wait(job, now) > kNoticed;
        const auto add = [&](Sums& groups, const std::string& name) {
            groups.add(name, turnaround(job, now), turnaround(job, then), delayed);
        };
        add(sums.by_class, class_of(workload, job));
        add(sums.by_size, size_class(job.nodes));
        if (const int user = users == nullptr ? -1 : users->types[trials.place(i)]; user >= 0)
            add(sums.by_user, users->names[static_cast<std::size_t>(user)]);
    }
}

double total(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0);
}

double jackknife_error(const std::vector<double>& then, const std::vector<double>& now) {
    const double all_then = total(then), all_now = total(now);
    std::vector<double> ratios;
    for (std::size_t i = 0; i < then.size(); ++i)
        if (all_now > now[i]) ratios.push_back((all_then - then[i]) / (all_now - now[i]));
    if (ratios.size() < 2) return 0;
    const auto count = static_cast<double>(ratios.size());
    const double mean = total(ratios) / count;
    double squares = 0;
    for (const double ratio : ratios) squares += (ratio - mean) * (ratio - mean);
    return 2 * std::sqrt((count - 1) / count * squares);
}

// Twice the standard error; of all jobs there is none.
double error_of_sample(const Trials& trials, const Workload& workload, const Outcome& outcome) {
    if (!trials.sample()) return 0;
    const Stretches& stretches = trials.sample()->stretches;
    std::vector<double> then(stretches.chosen.size()), now(then.size());
    for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
        const Job& job = workload.jobs[i];
        const auto at = std::clamp<std::size_t>(
            static_cast<std::size_t>(std::max(0.0, job.submit / stretches.length)), 0,
            then.size() - 1);
        then[at] += turnaround(job, outcome.jobs[i]);
        now[at] += turnaround(job, trials.easy().jobs[i]);
    }
    const double left =
        1 - static_cast<double>(workload.jobs.size()) / static_cast<double>(trials.all_jobs());
    return std::sqrt(left) * jackknife_error(then, now);
}

void sort(Closer& closer) {
    std::ranges::sort(closer.by_class, {}, &Group::name);
    std::ranges::sort(closer.by_size, {}, [](const Group& g) { return least_nodes(g.name); });
    // Who loses most, all jobs together.
    std::ranges::stable_sort(closer.by_user, std::greater(),
                             [](const Group& g) { return g.jobs * (g.recommended - g.easy); });
}

}  // namespace

Closer look_closer(const Trials& trials, const Site& site, std::string_view policy) {
    std::vector<Outcome> outcomes(trials.seeds());
    run_all(trials.seeds(), trials.pool("closer looks"), [&](std::size_t seed) {
        outcomes[seed] =
            trials.run(*trials.drawn(trials.headline(), seed), policy, seed, seed == 0);
    });
    AllSums sums;
    Closer closer;
    for (std::size_t seed = 0; seed < trials.seeds(); ++seed) {
        const Trials::Drawn workload = trials.drawn(trials.headline(), seed);
        add(sums, users(site), trials, *workload, outcomes[seed]);
        if (seed > 0) continue;
        closer.error = error_of_sample(trials, *workload, outcomes[0]);
        closer.over_time = over_time(*workload, trials.easy(), outcomes[0]);
    }
    closer.by_class = std::move(sums.by_class).means(trials.seeds());
    closer.by_size = std::move(sums.by_size).means(trials.seeds());
    closer.by_user = std::move(sums.by_user).means(trials.seeds());
    sort(closer);
    return closer;
}

}  // namespace elastic::studies

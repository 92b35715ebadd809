// SPDX-License-Identifier: MIT
// Each job is compared with itself under easy.
#include "studies/advice/groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>

#include "common/text.hpp"
#include "simulator/comparison.hpp"

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
void add(AllSums& sums, const Grouping* users, const Workload& workload, const Outcome& outcome,
         const Outcome& easy) {
    for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
        const Job& job = workload.jobs[i];
        const JobResult &then = outcome.jobs[i], &now = easy.jobs[i];
        const bool delayed = wait(job, then) - wait(job, now) > kNoticed;
        const auto add = [&](Sums& groups, const std::string& name) {
            groups.add(name, turnaround(job, now), turnaround(job, then), delayed);
        };
        add(sums.by_class, class_of(workload, job));
        add(sums.by_size, size_class(job.nodes));
        if (const int user = users == nullptr ? -1 : users->types[i]; user >= 0)
            add(sums.by_user, users->names[static_cast<std::size_t>(user)]);
    }
}

}  // namespace

Groups compare_groups(const Trials& trials, const Site& site, std::string_view policy) {
    AllSums sums;
    for (std::size_t seed = 0; seed < trials.seeds(); ++seed) {
        const Workload workload = trials.draw(trials.middle(), seed);
        add(sums, users(site), workload, trials.run(workload, policy, seed), trials.easy());
    }
    Groups groups{std::move(sums.by_class).means(trials.seeds()),
                  std::move(sums.by_size).means(trials.seeds()),
                  std::move(sums.by_user).means(trials.seeds())};
    std::ranges::sort(groups.by_class, {}, &Group::name);
    std::ranges::sort(groups.by_size, {}, [](const Group& g) { return least_nodes(g.name); });
    // Who loses most, all jobs together.
    std::ranges::stable_sort(groups.by_user, std::greater(),
                             [](const Group& g) { return g.jobs * (g.recommended - g.easy); });
    return groups;
}

}  // namespace elastic::studies

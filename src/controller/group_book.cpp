// SPDX-License-Identifier: MIT
// The paper's jobs run at any size with linear speed-up, one after another on all nodes of their
// group.  Slurm's have sizes, so here those of a group run beside each other where they are
// smaller; the work of a group on m nodes takes about as long either way, and its initialisation is
// once a node.
//
// The paper's queue with the greatest weight goes first, whoever its jobs are of.  A weight follows
// from what users say of their own jobs, so here it orders the types of one user among themselves
// and no others: Slurm's priorities stay what they are.
#include "controller/group_book.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <tuple>

#include "common/hostlist.hpp"

namespace elastic::controller {

namespace {

// T_j^max: a type whose first job has waited for so long weighs twice as much, and more later on.
constexpr Duration kLongestWait = 3600;

double weight(const WaitingGroup& waiting, Time now) {
    core::TypeQueue queue;
    queue.jobs = static_cast<int>(waiting.places.size());
    queue.work = waiting.group.work();
    queue.initialisation = waiting.group.initialisation;
    queue.first_submit = std::min(waiting.submit, now);
    queue.longest_wait =
        core::longest_wait(core::LongestWait::bound, queue.first_submit, now, 0, kLongestWait);
    return core::queue_weight(queue, now);
}

class Maker {
  public:
    explicit Maker(double scale_ratio) : scale_ratio_(scale_ratio) {}

    void add(const GroupCandidate& candidate) {
        if (candidate.job.least > candidate.nodes) return;
        const Type type{candidate.key, candidate.partition, candidate.line};
        const auto [found, is_new] = groups_.try_emplace(type, made_.size());
        if (is_new) made_.push_back(first(candidate));
        Making& making = made_[found->second];
        if (candidate.claimed && std::exchange(making.is_claimed, true)) return;
        if (candidate.claimed) making.waiting.lead = candidate.job.id;
        WaitingGroup& waiting = making.waiting;
        waiting.places.push_back(candidate.place);
        waiting.submit = std::min(waiting.submit, candidate.submit);
        Group& group = waiting.group;
        group.initialisation = std::max(group.initialisation, candidate.initialisation);
        group.waiting.push_back(candidate.job);
    }

    std::vector<WaitingGroup> take(Time now) {
        std::erase_if(made_, [](const Making& making) {
            const auto& jobs = making.waiting.group.waiting;
            return jobs.empty() || (jobs.size() == 1 && jobs.front().copies == 1);
        });
        for (Making& making : made_)
            making.waiting.most = node_threshold(making.waiting.group, making.nodes, scale_ratio_);
        order_by_weight(now);
        std::vector<WaitingGroup> result;
        for (Making& making : made_) result.push_back(std::move(making.waiting));
        std::ranges::sort(result, {}, &WaitingGroup::place);
        return result;
    }

  private:
    using Type = std::tuple<GroupKey, std::string, std::array<std::uint32_t, 3>>;
    struct Making {
        WaitingGroup waiting;
        int nodes = 0;
        std::array<std::uint32_t, 3> line{};
        bool is_claimed = false;
    };

    static Making first(const GroupCandidate& candidate) {
        Making making;
        making.nodes = candidate.nodes;
        making.line = candidate.line;
        making.waiting.group.key = candidate.key;
        making.waiting.group.partition = candidate.partition;
        making.waiting.lead = candidate.job.id;
        making.waiting.place = candidate.place;
        making.waiting.submit = candidate.submit;
        making.waiting.longest = candidate.longest;
        return making;
    }

    // Who may stand at each other's places.
    static auto owner(const Making& making) {
        return std::tuple(making.waiting.group.key.user, making.waiting.group.partition,
                          making.line);
    }

    void order_by_weight(Time now) {
        std::map<decltype(owner({})), std::vector<Making*>> owners;
        for (Making& making : made_) owners[owner(making)].push_back(&making);
        for (auto& [whose, groups] : owners) {
            std::vector<std::size_t> places;
            for (const Making* making : groups) places.push_back(making->waiting.place);
            std::ranges::sort(places);
            std::ranges::stable_sort(groups, std::greater{}, [now](const Making* making) {
                return weight(making->waiting, now);
            });
            for (std::size_t i = 0; i < groups.size(); ++i) groups[i]->waiting.place = places[i];
        }
    }

    double scale_ratio_;
    std::map<Type, std::size_t> groups_;  // index into made_
    std::vector<Making> made_;
};

}  // namespace

Duration Group::work() const {
    return std::accumulate(waiting.begin(), waiting.end(), Duration{0},
                           [](Duration sum, const GroupJob& job) { return sum + job.work(); });
}

int Group::least() const {
    int least = 1;
    for (const GroupJob& job : waiting) least = std::max(least, job.least);
    return least;
}

int Group::useful(int enough) const {
    std::int64_t nodes = 0;
    for (const GroupJob& job : waiting) nodes += std::int64_t{job.most} * job.copies;
    return static_cast<int>(std::min<std::int64_t>(nodes, enough));
}

void Group::bound(int nodes, Duration longest) {
    const Duration room = std::max(0.0, longest - initialisation) * nodes;
    Duration taken = 0;
    std::size_t kept = 0;
    for (; kept < waiting.size(); ++kept) {
        GroupJob& job = waiting[kept];
        const Duration one = job.work() / job.copies;
        const double copies = one > 0 ? std::floor((room - taken) / one) : job.copies;
        const int least = kept == 0 ? 1 : 0;
        const int most = job.copies;
        job.copies = static_cast<int>(std::clamp<double>(copies, least, most));
        taken += job.work();
        if (job.copies < most) break;
    }
    if (kept < waiting.size() && waiting[kept].copies > 0) ++kept;
    waiting.resize(kept);
}

Time estimated_end(const Group& group, int nodes, std::span<const RunOnGroup> runs, Time now) {
    Duration work = group.work();
    Time last = now;
    for (const RunOnGroup& run : runs) {
        work += std::max(0.0, run.end - now) * run.nodes;
        last = std::max(last, run.end);
    }
    return std::max(last, now + work / std::max(1, nodes));
}

std::vector<WaitingGroup> make_groups(std::span<const GroupCandidate> candidates,
                                      double scale_ratio, Time now) {
    Maker maker(scale_ratio);
    for (const GroupCandidate& candidate : candidates) maker.add(candidate);
    return maker.take(now);
}

Group& GroupBook::begin(const WaitingGroup& waiting, std::string node_list, int nodes) {
    changed();
    Group& group = groups_.emplace_back(waiting.group);
    group.node_list = std::move(node_list);
    group.bound(nodes, waiting.longest);
    return group;
}

int node_threshold(const Group& group, int nodes, double scale_ratio) {
    core::TypeQueue queue;
    queue.work = group.work();
    queue.initialisation = group.initialisation;
    queue.least = group.least();
    queue.most = group.useful(nodes);
    return core::group_nodes(queue, scale_ratio, nodes);
}

Group* GroupBook::next_in(JobId id) {
    for (Group& group : groups_)
        if (!group.waiting.empty() && group.waiting.front().id == id) return &group;
    return nullptr;
}

const Group* GroupBook::next_in(JobId id) const {
    return const_cast<GroupBook*>(this)->next_in(id);
}

void GroupBook::forget_finished() {
    const auto is_over = [](const Group& group) {
        return group.waiting.empty() || group.node_list.empty();
    };
    if (std::erase_if(groups_, is_over) > 0) changed();
}

std::unordered_map<JobId, int> GroupBook::waiting_copies() const {
    std::unordered_map<JobId, int> copies;
    for (const Group& group : groups_)
        for (const GroupJob& job : group.waiting) copies[job.id] += job.copies;
    return copies;
}

std::string GroupBook::use(const std::string& node_list, const GroupKey& key, Time now) {
    const auto names = expand_hostlist(node_list);
    if (!names || (key.type.empty() && beliefs_.empty())) return "";
    std::vector<std::string> fresh;
    for (const std::string& name : *names) {
        const auto found = beliefs_.find(name);
        if (found != beliefs_.end() && found->second.key == key) continue;
        if (key.type.empty()) {
            beliefs_.erase(name);
            continue;
        }
        beliefs_[name] = {name, key, now};
        fresh.push_back(name);
    }
    return compress_hostlist(std::move(fresh));
}

void GroupBook::forget(const std::string& node_list) {
    if (node_list.empty()) return;
    if (const auto names = expand_hostlist(node_list))
        for (const std::string& name : *names) beliefs_.erase(name);
}

std::map<std::string, Time> GroupBook::initialised_for(const GroupKey& key) const {
    std::map<std::string, Time> nodes;
    for (const auto& [name, belief] : beliefs_)
        if (belief.key == key) nodes.emplace(name, belief.since);
    return nodes;
}

}  // namespace elastic::controller

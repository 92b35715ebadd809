// SPDX-License-Identifier: MIT
// Jobs of a group waited while there was room for them, and with each of them the group would have
// had more than it ever had: again and again, and once one of its own ended the next one started.
// That is a limit, of the most that the group had.
//
// A limit that is none would keep jobs waiting that did not, so little is taken for room: nodes
// that are idle for less than a day, on which the group has run, and so many of them that the
// largest job of others that waits could start as well.  Who waits behind others, for nodes that
// are down, or for nodes of a kind, has no room by that.
#include "simulator/site/inferred_limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "common/text.hpp"
#include "simulator/site/logged_use.hpp"

namespace elastic::simulator {

namespace {

constexpr Duration kDay = 86400;
constexpr Duration kNoWait = 60;                 // Slurm looks at its queue once a minute
constexpr Duration kSoon = 300;                  // between an end and the start that it lets in
constexpr std::array kMoments{0.25, 0.5, 0.75};  // of a wait
// Of the jobs that waited with room so many, on so many days, would have been beyond, and for so
// much of all that time; and so many of them started soon after one of the group had ended.
constexpr std::size_t kFewestJobs = 20, kFewestDays = 3;
constexpr double kNearlyAll = 0.95, kMost = 0.8;
constexpr std::size_t kNamed = 5;  // limits, in the note
constexpr std::string_view kFound = "limits inferred: ";

// By what a limit may be set; the narrowest first, since what that explains is no sign of a wider
// one.
enum class Whose { user_of_partition, user_of_qos, user, account, qos, partition };
constexpr std::array kAll{Whose::user_of_partition, Whose::user_of_qos, Whose::user,
                          Whose::account,           Whose::qos,         Whose::partition};

using Key = std::pair<int, int>;
constexpr Key kNobody{-1, -1};

Key key_of(Whose whose, const JobFacts& facts) {
    const auto both = [](int a, int b) { return a < 0 || b < 0 ? kNobody : Key(a, b); };
    switch (whose) {
        case Whose::user_of_partition:
            return both(facts.user, facts.partition);
        case Whose::user_of_qos:
            return both(facts.user, facts.qos);
        case Whose::user:
            return both(facts.user, 0);
        case Whose::account:
            return both(facts.account, 0);
        case Whose::qos:
            return both(facts.qos, 0);
        case Whose::partition:
            return both(facts.partition, 0);
    }
    return kNobody;
}

std::string name_of(Whose whose, const Key& key, const LogNames& names) {
    const auto name = [](const std::vector<std::string>& of, int number) {
        return printable(of[static_cast<std::size_t>(number)], 60);
    };
    switch (whose) {
        case Whose::user_of_partition:
            return fmt::format("user {} in partition {}", name(names.users, key.first),
                               name(names.partitions, key.second));
        case Whose::user_of_qos:
            return fmt::format("user {} under QOS {}", name(names.users, key.first),
                               name(names.qos, key.second));
        case Whose::user:
            return fmt::format("user {}", name(names.users, key.first));
        case Whose::account:
            return fmt::format("account {}", name(names.accounts, key.first));
        case Whose::qos:
            return fmt::format("QOS {}", name(names.qos, key.first));
        case Whose::partition:
            return fmt::format("partition {}", name(names.partitions, key.first));
    }
    return "";
}

Time start_of(const LogJob& job) {
    return job.submit + job.wait;
}

// When nodes were idle for less than a day, by node.
std::vector<std::vector<Span>> short_gaps(const Log& log, const NodeTable& nodes) {
    std::vector<std::vector<Span>> uses = nodes.uses(log), gaps(uses.size());
    for (std::size_t node = 0; node < uses.size(); ++node) {
        std::ranges::sort(uses[node]);
        Time used_until = kNever;
        for (const Span& use : uses[node]) {
            if (use.from > used_until && use.from - used_until < kDay)
                gaps[node].push_back({used_until, use.from});
            used_until = used_until == kNever ? use.to : std::max(used_until, use.to);
        }
    }
    return gaps;
}

// A moment of the wait of a job, which stands for so many seconds of it.
struct Moment {
    Time at = 0;
    std::uint32_t job = 0;
    double seconds = 0;
    int others = 0;  // nodes of the largest job of others that waits for some of its nodes
    bool is_explained = false;
};

// What is known of one group.
struct Group {
    std::vector<std::uint32_t> jobs;
    std::vector<std::uint32_t> moments;  // by place
    LoggedUse use;
    std::vector<Time> ends;  // ascending
};

class Inference {
  public:
    Inference(const Log& log, const NodeTable& nodes, Site& site)
        : log_(log), nodes_(nodes), site_(site), gaps_(short_gaps(log, nodes)) {
        for (std::size_t p = 0; p < site.partitions.size(); ++p)
            idle_.push_back(idle_in(p, [](std::uint32_t) { return true; }));
        find_overlaps();
        for (std::uint32_t job = 0; job < log.jobs.size(); ++job) {
            const LogJob& of = log.jobs[job];
            if (of.wait < kNoWait || of.nodes < 1) continue;
            for (const double part : kMoments)
                moments_.push_back(
                    {of.submit + part * of.wait, job, of.wait / kMoments.size(), 0, false});
        }
        std::ranges::stable_sort(moments_, {}, &Moment::at);
    }

    std::vector<std::string> find() {
        std::vector<std::string> found;
        for (const Whose whose : kAll) {
            see_others(whose);
            for (auto& [key, group] : groups_of(whose))
                if (const std::string limit = look_at(group, name_of(whose, key, log_.names));
                    !limit.empty())
                    found.push_back(limit);
        }
        return found;
    }

  private:
    // Of waiting jobs with room, seconds in all and those beyond what the group ever had, and by
    // how little.
    struct Seen {
        double with_room = 0, beyond = 0;
        std::set<std::uint32_t> jobs;  // that were beyond
        std::vector<std::uint32_t> moments;
        double least = kMaxNodes;  // that was too much
    };

    template <class Has>
    LoggedUse idle_in(std::size_t partition, Has has) const {
        LoggedUse idle;
        const core::Eligibility& pools = site_.partitions[partition].pools;
        for (std::uint32_t node = 0; node < gaps_.size(); ++node)
            if (std::ranges::count(pools, nodes_.pool_of(node)) > 0 && has(node))
                for (const Span& gap : gaps_[node]) idle.add(gap.from, gap.to, 1);
        for (const Outage& outage : site_.outages)
            if (std::ranges::count(pools, outage.pool) > 0)
                idle.add(outage.from, outage.to, -outage.nodes);
        for (const Reservation& reservation : site_.reservations)
            for (const core::PoolId pool : reservation.pools)
                if (std::ranges::count(pools, pool) > 0)
                    idle.add(reservation.from, reservation.to, -site_.pools[pool].nodes);
        idle.finish();
        return idle;
    }

    void find_overlaps() {
        overlaps_.resize(site_.partitions.size());
        for (std::uint32_t a = 0; a < overlaps_.size(); ++a)
            for (std::uint32_t b = 0; b < overlaps_.size(); ++b)
                if (std::ranges::any_of(site_.partitions[a].pools, [&](core::PoolId pool) {
                        return std::ranges::count(site_.partitions[b].pools, pool) > 0;
                    }))
                    overlaps_[a].push_back(b);
    }

    // Fills Moment::others, in one walk through the log's submissions and starts.
    void see_others(Whose whose) {
        struct Change {
            Time at = 0;
            std::uint32_t job = 0;
            int sign = 0;
        };
        std::vector<Change> changes;
        for (std::uint32_t job = 0; job < log_.jobs.size(); ++job) {
            const LogJob& of = log_.jobs[job];
            if (of.wait <= 0) continue;
            changes.push_back({of.submit, job, +1});
            changes.push_back({start_of(of), job, -1});
        }
        std::ranges::stable_sort(changes, {},
                                 [](const Change& c) { return std::pair(c.at, c.sign); });
        std::vector<std::map<std::pair<std::int64_t, Key>, int>> waiting(site_.partitions.size());
        auto next = changes.begin();
        for (Moment& moment : moments_) {
            for (; next != changes.end() && next->at <= moment.at; ++next) {
                const std::pair key(log_.jobs[next->job].nodes,
                                    key_of(whose, log_.facts_of(next->job)));
                for (const std::uint32_t p : overlaps_[site_.partition_of[next->job]])
                    if ((waiting[p][key] += next->sign) == 0) waiting[p].erase(key);
            }
            const Key own = key_of(whose, log_.facts_of(moment.job));
            const auto& all = waiting[site_.partition_of[moment.job]];
            const auto largest = std::find_if(all.rbegin(), all.rend(), [&](const auto& entry) {
                return own == kNobody || entry.first.second != own;
            });
            moment.others = largest == all.rend() ? 0 : static_cast<int>(largest->first.first);
        }
    }

    std::map<Key, Group> groups_of(Whose whose) const {
        std::map<Key, Group> groups;
        for (std::uint32_t job = 0; job < log_.jobs.size(); ++job) {
            const LogJob& of = log_.jobs[job];
            const Key key = key_of(whose, log_.facts_of(job));
            if (key == kNobody || of.wait < 0) continue;
            Group& group = groups[key];
            group.jobs.push_back(job);
            group.use.add(start_of(of), start_of(of) + of.run, static_cast<double>(of.nodes));
            group.ends.push_back(start_of(of) + of.run);
        }
        for (std::uint32_t m = 0; m < moments_.size(); ++m)
            if (const Key key = key_of(whose, log_.facts_of(moments_[m].job));
                key != kNobody && !moments_[m].is_explained)
                groups[key].moments.push_back(m);
        for (auto& [key, group] : groups) {
            group.use.finish();
            std::ranges::sort(group.ends);
        }
        return groups;
    }

    // In words; empty: there is no limit.
    std::string look_at(const Group& group, const std::string& name) {
        if (group.moments.size() < kFewestJobs) return "";
        const auto most = group.use.peak();
        Seen of_jobs = see(group, idle_, Count::jobs);
        Seen of_nodes = see(group, idle_, Count::nodes);
        if (!is_limit(of_jobs, group) && !is_limit(of_nodes, group)) return "";
        const std::vector<LoggedUse> idle = idle_of(group);
        of_jobs = see(group, idle, Count::jobs);
        of_nodes = see(group, idle, Count::nodes);
        // A limit of jobs is the narrower one.
        const bool on_jobs = is_limit(of_jobs, group) && of_jobs.beyond >= of_nodes.beyond;
        const Seen& seen = on_jobs ? of_jobs : of_nodes;
        if (!is_limit(seen, group)) return "";
        Limit limit;
        limit.name = fmt::format("inferred limit of {}", name);
        if (on_jobs)
            limit.jobs = static_cast<int>(most.jobs);
        else
            limit.nodes = seen.least - 1;
        for (const std::uint32_t job : group.jobs)
            site_.limits_of[job].push_back(static_cast<std::uint32_t>(site_.limits.size()));
        site_.limits.push_back(limit);
        for (const std::uint32_t moment : seen.moments) moments_[moment].is_explained = true;
        return fmt::format("{}: {} {} ({} jobs waited for it)", name,
                           on_jobs ? limit.jobs : limit.nodes, on_jobs ? "running jobs" : "nodes",
                           seen.jobs.size());
    }

    // By partition, those nodes alone on which the group has run.
    std::vector<LoggedUse> idle_of(const Group& group) const {
        std::vector<bool> has(gaps_.size(), false);
        for (const std::uint32_t job : group.jobs)
            if (const auto* ran_on = nodes_.nodes_of(log_, job))
                for (const std::uint32_t node : *ran_on) has[node] = true;
        std::vector<LoggedUse> idle(site_.partitions.size());
        std::set<std::uint32_t> partitions;
        for (const std::uint32_t job : group.jobs) partitions.insert(site_.partition_of[job]);
        for (const std::uint32_t p : partitions)
            idle[p] = idle_in(p, [&](std::uint32_t node) { return has[node]; });
        return idle;
    }

    enum class Count { jobs, nodes };

    Seen see(const Group& group, const std::vector<LoggedUse>& idle, Count count) const {
        Seen seen;
        const LoggedUse::Use& most = group.use.peak();
        for (const std::uint32_t m : group.moments) {
            const Moment& moment = moments_[m];
            const auto nodes = static_cast<double>(log_.jobs[moment.job].nodes);
            const double free = idle[site_.partition_of[moment.job]].at(moment.at).nodes;
            if (free < nodes + moment.others) continue;
            seen.with_room += moment.seconds;
            const LoggedUse::Use own = group.use.at(moment.at);
            const bool is_beyond =
                count == Count::jobs ? own.jobs + 1 > most.jobs : own.nodes + nodes > most.nodes;
            if (!is_beyond) continue;
            seen.beyond += moment.seconds;
            seen.jobs.insert(moment.job);
            seen.moments.push_back(m);
            seen.least = std::min(seen.least, own.nodes + nodes);
        }
        return seen;
    }

    bool is_limit(const Seen& seen, const Group& group) const {
        if (seen.jobs.size() < kFewestJobs || seen.beyond < kNearlyAll * seen.with_room)
            return false;
        std::set<std::int64_t> days;
        std::size_t released = 0;
        for (const std::uint32_t job : seen.jobs) {
            const Time start = start_of(log_.jobs[job]);
            days.insert(static_cast<std::int64_t>(start / kDay));
            const auto after = std::ranges::upper_bound(group.ends, start);
            released += after != group.ends.begin() && *std::prev(after) >= start - kSoon;
        }
        return days.size() >= kFewestDays &&
               static_cast<double>(released) >= kMost * static_cast<double>(seen.jobs.size());
    }

    const Log& log_;
    const NodeTable& nodes_;
    Site& site_;
    std::vector<std::vector<Span>> gaps_;  // by node
    std::vector<LoggedUse> idle_;          // by partition
    std::vector<std::vector<std::uint32_t>> overlaps_;
    std::vector<Moment> moments_;
};

}  // namespace

void infer_limits(const Log& log, const NodeTable& nodes, Site& site) {
    site.limits_of.resize(log.jobs.size());
    std::vector<std::string> found = Inference(log, nodes, site).find();
    const std::size_t all = found.size();
    if (all > kNamed) {
        found.resize(kNamed);
        found.emplace_back("...");
    }
    site.notes.push_back(
        fmt::format("{}{}{}{}", kFound, all, all > 0 ? "; " : "", fmt::join(found, "; ")));
    if (site.limits.empty()) site.limits_of.clear();
}

bool is_of_inferred_limits(std::string_view note) {
    return note.starts_with(kFound);
}

}  // namespace elastic::simulator

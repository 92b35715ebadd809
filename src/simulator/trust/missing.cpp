// SPDX-License-Identifier: MIT
// A job that waited longer than it does in the simulation is looked at at a few moments of that
// wait: was there room for it on the machine, and would it have taken its group beyond what that
// ever had?  All is weighed by the seconds that the simulation does not show, so a sentence such as
// "40 % of them are of partition gpu" is about time that people waited.
#include "simulator/trust/missing.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>
#include <tuple>

#include "simulator/site/inferred_limits.hpp"
#include "simulator/site/logged_use.hpp"

namespace elastic::simulator {
namespace {

constexpr std::array kMoments{0.25, 0.5, 0.75};  // of a wait
constexpr double kIdle = 0.5, kFull = 0.95;      // of the machine in use
constexpr double kWorthSaying = 0.2;             // share of the unexplained waits
constexpr double kMoreThanItsJobs = 1.5;         // times its share of the jobs: that is no chance
// Of a group's waits with room: so many are beyond its limit, and of all its unexplained waits so
// many have room; else it is not the limit that they come from.
constexpr double kLimited = 0.8, kMostlyRoom = 0.5;
constexpr double kLittle = 0.1;         // share of waits unexplained below which nothing is missing
constexpr std::size_t kGroupsKept = 5;  // of each field

constexpr double kRounding = 1e-6;  // sums of parts of nodes

using Uses = std::vector<LoggedUse>;

// What jobs of each partition can have, and what of it was in use by the log; one partition has the
// machine where none is known.
class Room {
  public:
    Room(const Workload& workload, std::span<const Waits> waits)
        : workload_(workload), uses_(std::max<std::size_t>(workload.partitions.size(), 1)) {
        for (const Waits& w : waits) {
            const Job& job = workload.jobs[w.job];
            const Time start = job.submit + workload.logged_waits[w.job];
            for (std::size_t p = 0; p < uses_.size(); ++p)
                if (shares_nodes(p, job.partition))
                    uses_[p].add(start, start + job.run,
                                 share_of_node(workload, w.job) * job.nodes);
        }
        for (LoggedUse& use : uses_) use.finish();
    }

    int nodes_for(const Job& job) const {
        return workload_.partitions.empty() ? workload_.nodes
                                            : workload_.partitions[job.partition].nodes;
    }
    // Of these nodes; all that a job of a larger partition has counts, wherever it ran.
    double used(std::size_t job, Time at) const {
        return use_for(workload_.jobs[job]).at(at).nodes;
    }
    std::int64_t peak() const {
        const auto most = std::ranges::max_element(
            uses_, {}, [](const LoggedUse& use) { return use.peak().nodes; });
        return std::llround(std::ceil(most->peak().nodes - kRounding));
    }
    bool has(std::size_t job, Time at) const {
        const double wanted = share_of_node(workload_, job) * workload_.jobs[job].nodes;
        return used(job, at) + wanted <= nodes_for(workload_.jobs[job]) + kRounding;
    }

  private:
    const LoggedUse& use_for(const Job& job) const {
        return uses_[workload_.partitions.empty() ? 0 : job.partition];
    }

    bool shares_nodes(std::size_t a, std::size_t b) const {
        if (workload_.partitions.empty() || a == b) return true;
        return std::ranges::any_of(workload_.partitions[a].pools, [&](core::PoolId pool) {
            return std::ranges::count(workload_.partitions[b].pools, pool) > 0;
        });
    }

    const Workload& workload_;
    std::vector<LoggedUse> uses_;
};

Uses group_uses(const Workload& workload, std::span<const Waits> waits, const Grouping& grouping) {
    Uses uses(grouping.names.size());
    for (const Waits& w : waits) {
        const Job& job = workload.jobs[w.job];
        const Time start = job.submit + workload.logged_waits[w.job];
        if (const int type = grouping.types[w.job]; type >= 0)
            uses[static_cast<std::size_t>(type)].add(start, start + job.run, job.nodes);
    }
    for (LoggedUse& use : uses) use.finish();
    return uses;
}

// Calls `look` with each moment of an unexplained wait and the seconds that it stands for.
template <class Look>
void each_moment(const Workload& workload, const Waits& waits, Look look) {
    const double seconds = waits.unexplained() / static_cast<double>(kMoments.size());
    if (seconds == 0) return;
    for (const double part : kMoments)
        look(workload.jobs[waits.job].submit + part * workload.logged_waits[waits.job], seconds);
}

// What of a job's unexplained wait, in seconds, passed while there was room.
void look_at_machine(const Workload& workload, std::span<const Waits> waits, const Room& room,
                     Trust& trust) {
    double all = 0;
    for (const Waits& w : waits)
        each_moment(workload, w, [&](Time at, double seconds) {
            const bool has_room = room.has(w.job, at);
            const double busy = room.used(w.job, at) / room.nodes_for(workload.jobs[w.job]);
            all += seconds;
            if (has_room) trust.with_room += seconds;
            if (has_room && busy <= kIdle) trust.idle += seconds;
            if (!has_room && busy >= kFull) trust.full += seconds;
        });
    trust.peak = room.peak();
    if (all == 0) return;
    for (double* share : {&trust.with_room, &trust.idle, &trust.full}) *share /= all;
}

// Seconds of a group's unexplained waits, and of those with room that would have taken it beyond.
struct Sums {
    std::int64_t jobs = 0;
    double unexplained = 0, with_room = 0, beyond_nodes = 0, beyond_jobs = 0;
};

std::vector<Sums> sums_of(const Workload& workload, std::span<const Waits> waits, const Room& room,
                          const Grouping& grouping, const Uses& uses) {
    std::vector<Sums> all(uses.size());
    for (const Waits& w : waits) {
        if (grouping.types[w.job] < 0) continue;
        const auto type = static_cast<std::size_t>(grouping.types[w.job]);
        Sums& sums = all[type];
        ++sums.jobs;
        each_moment(workload, w, [&](Time at, double seconds) {
            sums.unexplained += seconds;
            const int nodes = workload.jobs[w.job].nodes;
            if (!room.has(w.job, at)) return;
            sums.with_room += seconds;
            const LoggedUse::Use own = uses[type].at(at);
            if (own.nodes + nodes > uses[type].peak().nodes) sums.beyond_nodes += seconds;
            if (own.jobs + 1 > uses[type].peak().jobs) sums.beyond_jobs += seconds;
        });
    }
    return all;
}

// The one that explains more; jobs if both do, since a limit of them is the narrower one.
void find_limit(const Sums& sums, const LoggedUse& use, GroupWaits& group) {
    if (sums.with_room < kMostlyRoom * sums.unexplained) return;
    const double enough = kLimited * sums.with_room;
    if (sums.beyond_jobs >= enough && sums.beyond_jobs >= sums.beyond_nodes)
        group.job_limit = use.peak().jobs;
    else if (sums.beyond_nodes >= enough)
        group.node_limit = std::llround(use.peak().nodes);
}

std::vector<GroupWaits> groups_of(const Workload& workload, std::span<const Waits> waits,
                                  const Room& room, const Grouping& grouping) {
    const Uses uses = group_uses(workload, waits, grouping);
    const std::vector<Sums> all = sums_of(workload, waits, room, grouping, uses);
    double unexplained = 0;
    for (const Waits& w : waits) unexplained += w.unexplained();
    std::vector<GroupWaits> groups;
    for (std::size_t type = 0; type < all.size(); ++type) {
        const Sums& sums = all[type];
        if (sums.unexplained == 0) continue;
        GroupWaits group{grouping.field, grouping.names[type]};
        group.of_jobs = static_cast<double>(sums.jobs) / static_cast<double>(waits.size());
        group.of_unexplained = sums.unexplained / unexplained;
        group.with_room = sums.with_room / sums.unexplained;
        find_limit(sums, uses[type], group);
        groups.push_back(std::move(group));
    }
    std::ranges::stable_sort(groups, std::greater(), &GroupWaits::of_unexplained);
    return groups;
}

// ---- in words

std::string percent(double share) {
    return fmt::format("{:.0f} %", 100 * share);
}

// Of sacct's columns.
std::string_view column_of(TypeField field) {
    constexpr std::array<std::string_view, kTypeFields> kColumns{"User", "Group", "JobName", "QOS",
                                                                 "Partition"};
    return kColumns[static_cast<std::size_t>(field)];
}

std::string limit_text(std::int64_t nodes, std::int64_t jobs) {
    return jobs > 0 ? fmt::format("{} running job{}", jobs, jobs == 1 ? "" : "s")
                    : fmt::format("{} node{}", nodes, nodes == 1 ? "" : "s");
}

// Groups of a field that look as if one limit held for each of them.
void say_limits(const std::vector<GroupWaits>& groups, Trust& trust) {
    struct Class {
        double of_unexplained = 0;
        std::vector<std::string> names;
    };
    std::map<std::pair<std::int64_t, std::int64_t>, Class> classes;
    for (const GroupWaits& g : groups) {
        if (g.node_limit == 0 && g.job_limit == 0) continue;
        Class& same = classes[{g.node_limit, g.job_limit}];
        same.of_unexplained += g.of_unexplained;
        same.names.push_back(g.name);
    }
    for (const auto& [limit, same] : classes) {
        if (same.of_unexplained < kWorthSaying) continue;
        const std::string_view field = to_string(groups.front().field);
        const std::string whose = same.names.size() == 1
                                      ? fmt::format("of {} {}", field, same.names.front())
                                      : fmt::format("each of {} {}s, such as {}", same.names.size(),
                                                    field, same.names.front());
        trust.missing.push_back(fmt::format(
            "{} of the waits that the simulation does not show look like a limit of {} {}: there "
            "were nodes for the jobs, but they would have taken it beyond what it ever had",
            percent(same.of_unexplained), limit_text(limit.first, limit.second), whose));
    }
}

void say_groups(const std::vector<GroupWaits>& groups, Trust& trust) {
    for (const GroupWaits& g : groups) {
        if (g.of_unexplained < kWorthSaying) break;
        if (g.of_unexplained < kMoreThanItsJobs * g.of_jobs) continue;
        trust.missing.push_back(
            fmt::format("{} of the waits that the simulation does not show are of {} {}, which has "
                        "{} of the jobs; {} of them passed while there were nodes for the job",
                        percent(g.of_unexplained), to_string(g.field), g.name, percent(g.of_jobs),
                        percent(g.with_room)));
    }
}

void say_times(const Trust& trust, std::vector<std::string>& missing) {
    constexpr double kMuch = 0.4;  // of one tenth of the log
    for (const Stretch& tenth : trust.tenths)
        if (tenth.unexplained >= kMuch)
            missing.push_back(fmt::format(
                "{} of the waits that the simulation does not show are of jobs submitted from {} "
                "to {} after the log's zero: was part of the machine down or reserved then?",
                percent(tenth.unexplained), format_duration(tenth.from),
                format_duration(tenth.to)));
}

void say_machine(const Workload& workload, Trust& trust) {
    if (trust.with_room >= kWorthSaying)
        trust.missing.push_back(fmt::format(
            "{} of the waits that the simulation does not show passed while by the log's own "
            "account there were nodes for the job, {} while at most half of the machine was in "
            "use: limits, partitions, reservations, dependencies or nodes that were down",
            percent(trust.with_room), percent(trust.idle)));
    if (trust.full >= kWorthSaying)
        trust.missing.push_back(
            fmt::format("{} of the waits that the simulation does not show passed while by the "
                        "log's own account "
                        "the machine of {} nodes was full: other jobs went first (priorities, "
                        "fair-share), its size is wrong, or jobs share "
                        "nodes",
                        percent(trust.full), workload.nodes));
}

void say_too_long(const Workload& workload, Trust& trust) {
    if (!(trust.all.ratio().value_or(1) > kGradeLimits.front().factor)) return;
    const std::string longer =
        trust.all.logged > 0
            ? fmt::format("jobs wait {:.1f} times as long in the simulation", *trust.all.ratio())
            : "jobs wait in the simulation that did not in truth";
    trust.missing.push_back(fmt::format(
        "{}: the machine is larger than {} nodes, or jobs share nodes (by the log's own times up "
        "to {} are in use at once)",
        longer, workload.nodes, trust.peak));
    trust.to_do.emplace_back(
        "give the machine's size by --nodes; where jobs share nodes, export AllocCPUS, AllocTRES "
        "and NodeList and give --slurm-conf, or count processors: --procs-per-node 1 --nodes "
        "PROCESSORS");
}

void say_what_to_do(const Workload& workload, const std::vector<Grouping>& groupings,
                    Trust& trust) {
    std::string columns;
    for (const TypeField field : {TypeField::partition, TypeField::queue, TypeField::user})
        if (std::ranges::count(groupings, field, &Grouping::field) == 0)
            columns += fmt::format("{}{}", columns.empty() ? "" : ",", column_of(field));
    if (!columns.empty())
        trust.to_do.push_back(fmt::format(
            "add {} to the export (sacct --format), so that the groups that wait can be named",
            columns));
    if (trust.with_room < kWorthSaying) return;
    trust.to_do.emplace_back(
        "let the simulator know of partitions, limits and holds: export with Eligible, Partition, "
        "QOS and NodeList, leave out --nodes, and give --slurm-conf, --qos, --reservations and "
        "--events");
    if (std::ranges::none_of(workload.notes, is_of_inferred_limits))
        trust.to_do.emplace_back(
            "where limits are in no file, as those of associations, export with NodeList and give "
            "--limits inferred");
}

}  // namespace

void find_missing(const Workload& workload, std::span<const Waits> waits,
                  const std::vector<Grouping>& groupings, Trust& trust) {
    const Room room(workload, waits);
    look_at_machine(workload, waits, room, trust);
    say_too_long(workload, trust);
    const bool lacks = trust.unexplained >= kLittle && trust.all.logged > kNoWait;
    if (lacks) say_machine(workload, trust);
    for (const Grouping& grouping : groupings) {
        std::vector<GroupWaits> groups = groups_of(workload, waits, room, grouping);
        if (lacks && !groups.empty()) {
            say_limits(groups, trust);
            say_groups(groups, trust);
        }
        groups.resize(std::min(groups.size(), kGroupsKept));
        std::ranges::move(groups, std::back_inserter(trust.groups));
    }
    if (!lacks) return;
    say_times(trust, trust.missing);
    if (trust.grade != Grade::good) say_what_to_do(workload, groupings, trust);
}

}  // namespace elastic::simulator

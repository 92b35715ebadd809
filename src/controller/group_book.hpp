// SPDX-License-Identifier: MIT
// Groups of jobs with a common initialisation ([packet]), and what the nodes are initialised for.
//
// A group is made of jobs of one user and type that wait side by side.  Until it begins it is one
// job of the queue to every policy, at the place of its first job.  Once it has begun it owns
// nodes, and takes more as a job at the end of the queue as long as they are worth it, on which its
// jobs start in their order, as many beside each other as there is room for, each a job of Slurm's
// of its own.  What comes later joins a later group, so a group ends.
//
// Always holds: a node is owned by one group at most; a group has jobs that wait, or is gone.
#pragma once

#include <sys/types.h>

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/time.hpp"
#include "core/model/packet.hpp"
#include "core/model/types.hpp"

namespace elastic::controller {

// For whom a node is initialised: jobs that differ in any of it share nothing.
struct GroupKey {
    uid_t user = 0;
    std::string type;     // "" of a job that has none
    std::string program;  // that initialises

    auto operator<=>(const GroupKey&) const = default;
};

// A job that waits to be started by its group.
struct GroupJob {
    JobId id = 0;
    int copies = 1;         // elements of a job array
    int least = 1;          // nodes of each of them; any up to
    int most = 1;           // so many
    Duration duration = 0;  // of each with `asked` nodes
    int asked = 1;

    // Seconds of one node that all copies take.
    Duration work() const { return duration * asked * copies; }
};

struct Group {
    GroupKey key;
    std::string partition;
    Duration initialisation = 0;  // s_j; > 0
    std::string node_list;        // that it owns; "" until it has begun
    std::vector<GroupJob> waiting;

    Duration work() const;
    int least() const;  // nodes with which each of its jobs can start
    // Nodes that its jobs can use at the same time, no more than `enough`.
    int useful(int enough) const;
    // Leaves out the last of its jobs with which it would take longer on so many nodes, but never
    // the first: no group is longer than one job may be.
    void bound(int nodes, Duration longest);
};

// A job that runs on nodes of a group.
struct RunOnGroup {
    Time end = 0;   // estimated
    int nodes = 0;  // of the group's
};

// When the last job of a group that has begun will have ended: as if each of its nodes had its
// share of what is left.
Time estimated_end(const Group&, int nodes, std::span<const RunOnGroup>, Time now);

// A job of the queue that may become part of a group, and what bounds that.
struct GroupCandidate {
    GroupKey key;
    GroupJob job;
    Duration initialisation = 0;
    Time submit = 0;
    bool claimed = false;  // others are making room for it, by its number
    std::string partition;
    Duration longest = kNever;  // that one job may take there
    int nodes = 0;              // that it may use, by its constraints and its limits
    // Only jobs with the same are interchangeable to Slurm: eligible nodes, account, QOS.
    std::array<std::uint32_t, 3> line{};
    std::size_t place = 0;  // in the queue; ascending
};

// A group that has not begun.
struct WaitingGroup {
    Group group;
    JobId lead = 0;                   // whose number it has in the queue
    std::size_t place = 0;            // where it stands there
    std::vector<std::size_t> places;  // of all of its jobs, ascending
    int most = 0;                     // m_threshold, in what is useful and allowed; >= least()
    Duration longest = kNever;        // that one job may take, and so the group
    Time submit = 0;                  // of the job that waits for longest
};

// Groups of two jobs at least out of the queue's candidates; whoever is alone stays what it is. In
// the order of the queue, but that the groups of one line and user stand at each other's places by
// their weights W(T): what a user declares moves nobody else's jobs.
std::vector<WaitingGroup> make_groups(std::span<const GroupCandidate>, double scale_ratio,
                                      Time now);

// m_threshold for what of the group still waits, of so many nodes that it may have in all.
int node_threshold(const Group&, int nodes, double scale_ratio);

class GroupBook {
  public:
    // The group begins on so many nodes.
    Group& begin(const WaitingGroup&, std::string node_list, int nodes);
    std::vector<Group>& all() { return groups_; }
    const std::vector<Group>& all() const { return groups_; }
    // The one that has begun and starts this job next, null if none does.
    Group* next_in(JobId);
    const Group* next_in(JobId) const;
    // Groups without a job that waits, or without nodes, are no more.
    void forget_finished();

    // How many copies of each job wait in groups that have begun.
    std::unordered_map<JobId, int> waiting_copies() const;

    // A job of that key begins to use the nodes: what they were initialised for before is
    // forgotten.  Which of them were for nobody or somebody else, as Slurm's notation.
    std::string use(const std::string& node_list, const GroupKey&, Time now);
    void forget(const std::string& node_list);
    // Since when each node is initialised for the key.
    std::map<std::string, Time> initialised_for(const GroupKey&) const;

    struct Belief {
        std::string node;
        GroupKey key;
        Time since = 0;
    };
    const std::map<std::string, Belief>& beliefs() const { return beliefs_; }

    bool empty() const { return groups_.empty() && beliefs_.empty(); }
    // Another one whenever a group begins or ends, or has other nodes.
    std::uint64_t revision() const { return revision_; }
    void changed() { ++revision_; }

    // The state file's.
    template <class F>
    friend void fields(F&, GroupBook&);

  private:
    std::vector<Group> groups_;
    std::map<std::string, Belief> beliefs_;  // by node
    std::uint64_t revision_ = 1;
};

}  // namespace elastic::controller

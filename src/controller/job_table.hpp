// SPDX-License-Identifier: MIT
// What the controller remembers of each job beyond Slurm's own record.
//
// Always holds: a job is in the table only while it is pending, running or suspended in Slurm;
// Slurm's record is the truth about its nodes.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/result.hpp"
#include "common/token_bucket.hpp"
#include "controller/group_book.hpp"
#include "controller/incoming.hpp"
#include "controller/left_nodes.hpp"
#include "controller/minutes.hpp"
#include "controller/rescale_time.hpp"
#include "controller/run_time.hpp"
#include "controller/scaling.hpp"
#include "core/model/annotation/annotation.hpp"
#include "core/model/config.hpp"
#include "core/model/evolution.hpp"
#include "core/model/experience.hpp"

namespace elastic::controller {

// Whether a job can be asked for another size, and may ask for one.
struct Participation {
    ConnectionId connection = 0;  // 0: not connected now
    Time last_seen = 0;           // when it was; 0 never
    Time not_before = 0;          // no offers before: it declined or let one expire
    // For what its user asked for and ended, declined or was denied: each round of it costs lines
    // of the journal, which must not grow at a user's will.
    TokenBucket rate_limit{20, 1};
    // No growth before, since Slurm would not let the job have more nodes; and how often in a row
    // that was so.
    Time grow_after = 0;
    int refused_growths = 0;
    std::string obstacle;  // why, at the last of these

    // Connected, or gone for so short a time that it will be back.
    bool is_present(Time now, Duration grace) const {
        return connection || (last_seen > 0 && last_seen + grace > now);
    }
    // Slurm has refused a growth, which is tried again later and later.  True if the reason is new.
    bool refuse_growth(Time now, const std::string& why) {
        constexpr Duration kFirst = 10;
        constexpr int kMostDoublings = 8;  // 43 minutes
        grow_after = now + kFirst * (1 << std::min(refused_growths++, kMostDoublings));
        return std::exchange(obstacle, why) != why;
    }
    void has_grown() {
        grow_after = 0;
        refused_growths = 0;
        obstacle.clear();
    }
};

// What policies ask of a job's past, [lina] section 4.
struct ResizeHistory {
    Time last_resize = 0;
    int gain = 0;  // nodes added less nodes taken
    int expansions = 0;
    int resizes = 0;

    void add(Time now, int from, int to) {
        last_resize = now;
        gain += to - from;
        expansions += to > from;
        ++resizes;
    }
};

struct Job {
    JobId id = 0;
    uid_t owner = 0;
    std::string name;
    std::string array;  // "12_3" of an element of an array, "" of any other job

    bool elastic = false;
    core::Annotation annotation;  // rigid jobs: min = pref = max
    // Of the run: how much is believed of the speed-up that it declares beyond its preferred size.
    double believed = 1;
    std::string comment;  // the admin_comment that the annotation was read from

    // As the journal was told last.
    bool submitted = false;
    bool running = false;
    bool suspended = false;        // then it is not running
    bool shared = false;           // it runs and does not have its nodes for itself
    bool shows_last_size = false;  // requeued: Slurm shows the last run's size as asked for
    int restarts = 0;              // how often it was requeued before
    int nodes = 0;
    std::string node_list;
    // The same in the order in which it keeps them; empty: as in node_list.
    std::vector<std::string> nodes_in_order;
    std::string node_aliases;  // SLURM_NODE_ALIASES of these, "" if it needs none
    Time began = 0;            // its time, moved by what it was kept from running; 0 not known
    std::string batch_host;    // the node it can never give up

    Duration waited = -1;     // before the start that is to be counted; < 0: none is, not saved
    Time promised = kNever;   // the first start that a reservation has said of it since it waits
    bool has_traded = false;  // since it waits: has left nodes to another for later ones

    Participation participation;
    ResizeHistory history;
    LeftNodes left;
    RunTime time;
    NodeTime node_time;         // of a run
    RescaleTime rescale;        // over all runs
    Scaling scaling;            // over all runs
    core::Evolution evolution;  // of a run
    std::string last_reason;    // of the last resize or refusal, for people
    std::string initialises;    // of a run: nodes that it is the first of its type to use

    // What its resizes cost, as declared and measured.
    core::ResizeCost cost() const { return rescale.expected(annotation.cost); }
    // What the nodes that the job uses are initialised for.
    GroupKey group_key() const { return {owner, annotation.packet, annotation.init.program}; }
    // It has had `size` nodes from its last resize until now.
    void count_nodes_until(Time now, int size) { node_time.add(now - began, size); }
    // Those at the end are given back first.
    Result<std::vector<std::string>> kept_nodes() const;
    // Whose jobs are compared with it.
    core::Experience::Program program() const { return core::Experience::program(owner, name); }
    // As users know it.
    std::string label() const { return array.empty() ? std::to_string(id) : array; }

    std::uint64_t observed = 0;  // by which round of who follows Slurm's records
    // While it waits: when it is expected to start, as of that round; 0 not known, and not saved.
    Time expected_start = 0;

    bool takes_part(Time now, Duration grace) const {
        return elastic && running && participation.is_present(now, grace);
    }
};

// How long its application may take to answer and to move its data.
inline Duration grace_of(const core::Config& config, const Job& job) {
    if (job.annotation.grace < 0) return config.grace_time;
    return std::min(job.annotation.grace, config.max_grace_time);
}

class JobTable {
  public:
    Job* find(JobId);
    const Job* find(JobId) const;
    // The job of that id, new if it is not known.
    Job& get(JobId);
    void erase(JobId id) { jobs_.erase(id); }

    // In no order; a job stays where it is until it is erased.
    using Jobs = std::unordered_map<JobId, Job>;
    Jobs& all() { return jobs_; }
    const Jobs& all() const { return jobs_; }

  private:
    Jobs jobs_;
};

}  // namespace elastic::controller

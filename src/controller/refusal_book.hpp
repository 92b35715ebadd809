// SPDX-License-Identifier: MIT
// What Slurm has answered when it was asked whether, or to, start a job, so that it is not asked
// again of a job of which nothing has changed.  What holds for one pass alone is in PassRefusals.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include <boost/dynamic_bitset.hpp>

#include "core/model/types.hpp"

namespace elastic::controller {

// All that a job asks for, tried in one way: equal for jobs that Slurm would give equal answers.
using RequestId = std::uint64_t;

// By the places of nodes in Slurm's table.
using NodeMask = boost::dynamic_bitset<std::uint64_t>;

enum class Verdict {
    unknown,     // Slurm has not been asked
    runnable,    // there are nodes that meet it, in use or not
    barred,      // not so, as nodes, partitions and reservations are configured
    impossible,  // nor in any other way: the job is to be held
};

class RefusalBook {
  public:
    // A look at the whole queue begins.  With another configuration of nodes, partitions and
    // reservations than before nothing is known any more.
    void begin_look(std::uint64_t configuration, Time now);
    // Those that run on nodes which they share, in any order: what one of them leaves, others may
    // have room on, though no node is free that was not before.
    void share(std::vector<JobId> sharers);
    void end_look();

    // Whether anything has been said against the job.  Only these jobs have to be looked at closely
    // in each look; those that a look does not ask about are forgotten at its end.
    bool is_noted(JobId);
    void note(JobId);

    Verdict verdict(RequestId);
    void judge(RequestId, Verdict);

    // There was no room for it on all of these nodes; `shares`: what others of a node leave would
    // do, too.  Asked again after a while, since not everything is seen that may change that: after
    // twice as long each time, but not later than `latest`.
    void refuse(RequestId, NodeMask room, bool shares, Time latest = kNever);
    // Whether it has been refused as much as `room`, and nothing has changed since.
    bool is_refused(RequestId, const NodeMask& room);

  private:
    struct Answer {
        Verdict verdict = Verdict::unknown;
        NodeMask room;  // that it was refused; empty: nothing
        bool shares = false;
        std::uint64_t departures = 0;  // as of then
        Duration patience = 0;         // until it is asked again
        Time until = 0;
        Time used = 0;
    };

    Answer* find(RequestId);

    std::unordered_map<RequestId, Answer> answers_;
    std::unordered_map<JobId, std::uint64_t> noted_;  // in which look last
    std::vector<JobId> sharers_;                      // ascending
    std::uint64_t departures_ = 0;                    // of sharers
    std::uint64_t configuration_ = 0;
    std::uint64_t look_ = 0;
    Time now_ = 0;
};

}  // namespace elastic::controller

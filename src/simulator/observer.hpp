// SPDX-License-Identifier: MIT
// Who wants to hear of every step of a simulation while it runs: the journal. Jobs are indices into
// Workload::jobs.  Times never go back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/model/plan.hpp"
#include "core/model/types.hpp"

namespace elastic::simulator {

class Observer {
  public:
    virtual ~Observer() = default;

    struct Resize {
        std::size_t job = 0;
        OpId op = 0;  // never repeats
        int from = 0, to = 0;
        core::PoolCounts nodes;  // that come or go, by pool
        core::Reason reason = core::Reason::fits;
        bool own_wish = false;        // the job asked for it
        int wanted = 0;               // a growth by own wish: nodes asked for
        bool for_somebody = false;    // a shrink: `beneficiary` waits for the nodes
        std::size_t beneficiary = 0;  // index as well
        Duration cost = 0;            // seconds until the job uses its new size
    };

    virtual void arrived(Time, std::size_t job) = 0;
    virtual void started(Time, std::size_t job, const core::PoolCounts& nodes) = 0;
    // It has parts of nodes; a node's number is its own from its first such job to its last.
    struct SharedNode {
        std::uint32_t number = 0;
        core::PoolId pool = 0;
    };
    virtual void started_on_parts(Time, std::size_t job, const std::vector<SharedNode>&) = 0;
    // An evolving job asks for `nodes` more, but not fewer than `least`; a growth's resize or
    // `denied` follows at once, or a step of its profile waits for the former.
    virtual void asked(Time, std::size_t job, OpId, int nodes, int least) = 0;
    virtual void denied(Time, std::size_t job, OpId, int nodes, core::Reason) = 0;
    virtual void resized(Time, const Resize&) = 0;
    // A step of the job's evolution profile, from 1, begins, or waits for nodes if `held` are fewer
    // than `nodes`.
    virtual void stepped(Time, std::size_t job, int number, int nodes, int held) = 0;
    // It ends for another job, and joins the queue again.
    virtual void preempted(Time, std::size_t job, int nodes) = 0;
    virtual void ended(Time, std::size_t job, int nodes) = 0;
};

}  // namespace elastic::simulator

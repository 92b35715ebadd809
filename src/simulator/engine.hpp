// SPDX-License-Identifier: MIT
// simulate(workload, options) -> Outcome: runs a workload under a policy, event by event, with the
// planner that also runs in slurmctld.
//
// Rules (selastic-sim(1)): all events of one instant are applied before one planning pass, ends
// first, then evolving requests, then arrivals; the queue is ordered by submission, then by the
// log, where a heterogeneous job stands where its first component does.  A resize takes effect at
// once for all jobs concerned; the resized job then does no work for the time that the resize costs
// it ([lina] section 3: the redistribution belongs to the new phase).
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/policy.hpp"
#include "simulator/observer.hpp"
#include "simulator/supply_series.hpp"
#include "simulator/workload.hpp"

namespace elastic::simulator {

struct SimulationOptions {
    core::Policy policy;
    std::uint64_t seed = 1;  // of the policy's own choices
    bool segments = false;   // fill Outcome::segments
    // Each plan that changes something is followed by one more at the same instant, as the plugin's
    // are, and not only where jobs may be resized again at once.
    bool settle = false;
    // Seconds for which the nodes that a whole-node job leaves at its end are nobody's, as while
    // its epilogs run.
    Duration completing = 0;
    // Malleable jobs that would be ended for others (Workload::levels) are asked to shrink first.
    bool shrinks_first = true;
    const SupplySeries* supply = nullptr;  // borrowed; none by default: nodes cost nothing
    Observer* observer = nullptr;          // borrowed; none by default
};

// What became of a job.  One that never started (see `lost`) has no nodes.
struct JobResult {
    Time start = 0, end = 0;  // seconds from the log's zero; the start of its last run
    int nodes_start = 0, nodes_end = 0;
    int resizes = 0;
    Time promised = kNever;  // the first start that a reservation has said of it; kNever: none has
};

// A job held `nodes` from `from` until `to`, all of the time either working or paying for a resize
// (data redistribution and negotiation).
struct Segment {
    enum class Kind : std::uint8_t { run, redistribute };
    Time from = 0, to = 0;
    std::uint32_t job = 0;  // index into Workload::jobs
    int nodes = 0;
    Kind kind = Kind::run;
};

struct Counters {
    std::int64_t passes = 0;    // of the planner
    std::int64_t in_order = 0;  // starts
    std::int64_t backfilled = 0;
    std::int64_t by_shrinking = 0;
    std::int64_t shrinks = 0, expansions = 0;
    // Runs that ended for another job, the node-seconds that went with them, and shrinks instead.
    std::int64_t preempted = 0;
    double lost = 0;
    std::int64_t spared = 0;
    std::int64_t granted = 0, denied = 0;  // requests of evolving jobs, for fewer nodes too
    // Node-seconds that jobs held, and what of it went into resizes.
    double busy = 0, redistribution = 0, negotiation = 0;
    // With a supply: node-seconds on nodes that had a price, and what they cost by the hour.
    double priced = 0, cost = 0;
    // Steps of evolution profiles that had to wait for nodes, and for how many seconds in all.
    std::int64_t late_steps = 0;
    double step_wait = 0;
};

struct Outcome {
    std::vector<JobResult> jobs;    // one for each of Workload::jobs
    std::vector<Segment> segments;  // by job, then by time; if wanted
    Counters counters;
    std::int64_t lost = 0;  // jobs that never ended: a mistake in the scheduler
};

// Ends for every policy.  Pure; safe to call from several threads.
Outcome simulate(const Workload&, const SimulationOptions&);

}  // namespace elastic::simulator

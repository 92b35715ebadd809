// SPDX-License-Identifier: MIT
// What the scheduler knows at one instant.  Made by src/slurm from Slurm's records or by the
// simulator; read by plan(); written to and read from JSON so that a decision made in production
// can be made again at a desk.
//
// Always holds: every node of the cluster that can run jobs is counted exactly once, either in
// Pool::idle, or as held by one running job, or in `shared_until`.  Nodes that are down, drained or
// reserved for others appear nowhere.
#pragma once

#include <cstdint>
#include <vector>

#include "common/json.hpp"
#include "core/model/annotation/annotation.hpp"
#include "core/model/types.hpp"

namespace elastic::core {

// A set of nodes that every job either may use as a whole or not at all.
struct Pool {
    int idle = 0;             // nodes free now, those promised to agreements in flight included
    int nodes = 0;            // nodes in all
    double price = 0;         // of a node and hour, in the site's unit; 0: nothing beyond the usual
    bool failing = false;     // drained or about to fail: whoever can leaves, and nobody comes
    bool maintained = false;  // failing, since a reservation for maintenance begins soon
    bool asleep = false;      // powered down: woken for a job that needs it to start, not to grow
};

// [gupta] section VII: a power cap, as a number of nodes.  Of these pools' nodes, no more than
// `most` are to be in use; if more are, malleable jobs give nodes back, and nothing else happens.
struct Budget {
    int most = 0;
    std::vector<PoolId> pools;
};

// The pools a job may use, in the order in which they are to be taken (the lightest first, of these
// the least wanted by other jobs).
using Eligibility = std::vector<PoolId>;

struct RunningJob {
    JobId id = 0;
    Sizing elastic;              // for a rigid job min = pref = max = its size, no class
    EligibilityId eligible = 0;  // where it may grow
    PoolCounts held;             // whole nodes it holds now
    PoolId batch_host_pool = 0;  // the pool of the node it must keep
    Time start = 0;
    Time estimated_end = 0;     // at its present size; may lie in the past
    Time limit_end = kNever;    // when its time limit ends it
    Time last_resize = 0;       // start or last resize; 0 as long ago
    Duration rescale_time = 0;  // [gupta] T_rescale, measured; 0: not known
    int gain = 0;               // [lina] section 4: nodes added less nodes taken
    int expansions = 0;         // [lina]: number of expansions so far
    int shrinks = 0;            // number of shrinks so far
    Duration duration = 0;      // what it takes by the limit it asked for, at its preferred size:
                                // [mebf]'s static time; seconds, 0 if not known
    bool resizable = false;     // takes part now: it has called the library, and no agreement is in
                                // flight but a request of its own
    Time not_before = 0;        // back-off after it declined or let an offer expire; 0: never did
};

struct PendingJob {
    JobId id = 0;
    Sizing elastic;  // as above
    EligibilityId eligible = 0;
    Duration duration = 0;  // time limit, used as the estimate
    // Of `duration`, what nodes beyond the preferred size share: the jobs of a group ([packet]).
    Duration divisible = 0;
    Time submit = 0;
    Time promised = kNever;  // the first start that a reservation has said of it; kNever: none has
    // Before this time the job has no room, whatever is free: nodes that it requires are in use, or
    // Slurm has refused it the free ones, for constraints that are not known here.  kNever: by the
    // estimates it never has, so that nobody waits for it.
    Time not_before = 0;
    bool shares_nodes = false;  // may start on partly used nodes: whether it fits, Slurm says
    bool claimed = false;       // beneficiary of an agreement in flight
    bool has_traded = false;    // has left nodes that were there for it to another, for later ones
    // The same job stands in the queue before, for another partition: it starts from one place.
    bool alternative = false;
    // So many jobs alike, elements of a job array, of which any number may start.  An element that
    // waits for victims has a place of its own, and so has an alternative.
    int copies = 1;
    // Reservations that it may have, one a copy; 0: nobody waits for it, as for a site's jobs of
    // low priority (SchedulerParameters=bf_min_prio_reserve).
    int reserves = kMaxNodes;
    // Starts in the same instant as all jobs of this number, which are places of the queue one
    // behind the other, or not at all: a component of a heterogeneous job.  0: starts by itself.
    JobId together = 0;

    bool starts_with(const PendingJob& other) const {
        return together && together == other.together;
    }
    // Rigid, and content with any size from the preferred one to the maximum when it starts.
    bool has_range() const {
        return !elastic.malleable && !elastic.evolving && elastic.max > elastic.pref;
    }
    // The preferred size, or the nearest allowed size below it, else above it.
    int requested_size() const;
    // The smallest size it can start with under any policy.
    int smallest_start() const;
    // The run time of a job that starts with `size` nodes, at least its preferred size.
    Duration duration_at(int size) const;
};

// Nodes that jobs share, or that are not to be had now for another reason that ends at a known time
// (completing jobs, maintenance): `nodes` of `pool` come back at `until`.
struct SharedNodes {
    PoolId pool = 0;
    int nodes = 0;
    Time until = 0;
};

// An agreement in flight, as far as planning is concerned.
struct Promise {
    ResizeKind kind = ResizeKind::shrink;
    OpId op = 0;
    JobId job = 0;  // who is resized
    // shrink: the nodes that the job will give up.  expand: idle nodes that are kept for the job;
    // the other nodes of a growth that waits for shrinks are in the victims' promises.
    PoolCounts nodes;
    JobId beneficiary = 0;   // shrink: who waits for the nodes, pending or running; 0: anybody
    int size = 0;            // with which a pending beneficiary is to start; 0: its least
    bool revocable = false;  // merely offered: may be withdrawn without harm
    bool released = false;   // shrink: its nodes are empty, and handed over with the last of them
};

// The idle nodes that are kept for a pending job besides the nodes of its victims, chosen when the
// victims were.
struct Claim {
    JobId job = 0;
    PoolCounts nodes;
};

// When another scheduler is to start a job that waits, and where, as it has announced: nothing that
// is planned here may delay that (elastic.conf: Starts=slurm).
struct PlannedStart {
    JobId job = 0;  // one of `pending`, or one that is for the other scheduler alone to start
    Time from = 0, to = 0;
    PoolCounts nodes;
};

// A pending job that may end running ones to have their nodes: Slurm's preemption.
struct Preemptor {
    std::uint32_t place = 0;  // in `pending`
    // Whom it may end, `running`, in the order in which they are to be.
    std::vector<JobId> victims;
    bool asked = false;  // malleable ones have been asked to shrink for it, in vain
    bool ends = false;   // what it may end is ended by the plan; else by another scheduler
};

// A request of an evolving job that has not been decided.
struct GrowthRequest {
    OpId op = 0;
    JobId job = 0;
    int nodes = 0;      // how many more
    int least = 0;      // take fewer, down to this many, rather than nothing; 1..nodes
    Time deadline = 0;  // denied at this time; in the past: decide now
};

struct Snapshot {
    Time now = 0;
    Duration window = kNever;  // no reservation begins later than so long after now
    std::vector<Pool> pools;
    std::vector<Eligibility> eligibilities;
    std::vector<Budget> budgets;  // each holds for itself; pools may be in several
    std::vector<RunningJob> running;
    std::vector<PendingJob> pending;  // in priority order
    std::vector<SharedNodes> shared_until;
    std::vector<Promise> promises;
    std::vector<Claim> claims;            // at most one for each claimed job
    std::vector<PlannedStart> planned;    // at most one for each job
    std::vector<Preemptor> preemptors;    // in the order of the queue, at most one for each place
    std::vector<GrowthRequest> requests;  // in the order of arrival

    int idle() const;
};

// Whether a node of the pool costs more than the job takes it for.
inline bool is_dear(const Pool& pool, const Sizing& elastic) {
    return elastic.price >= 0 && pool.price > elastic.price;
}

// Makes jobs with a price eligible for no pool that is too dear for them, and those that wait for
// pools without a price alone where these have nodes enough for their minimum: the static set of
// [gupta] section VII-B, onto which they grow from there.  Pools without a price come first.  For
// whoever has made a snapshot; does nothing in one without prices.
void apply_prices(Snapshot&);

Json to_json(const Snapshot&);
Result<Snapshot> snapshot_from_json(const Json&);
// What the comment above says always holds, and references in range; for snapshots that were read
// from a file.
Result<void> validate(const Snapshot&);

}  // namespace elastic::core

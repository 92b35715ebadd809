// SPDX-License-Identifier: MIT
// Victims: the running malleable jobs that can be shrunk, in the policy's order, and their
// selection ([lina] algorithms 5 and 8).
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "core/pass/choices/choices.hpp"
#include "core/pass/state/system_state.hpp"

namespace elastic::core {

// For whom nodes are wanted.
struct Beneficiary {
    EligibilityId eligible = 0;  // only nodes of these pools help it
    int needed = 0;              // nodes, besides the idle ones it takes
    Time end = 0;                // until which it keeps the nodes
    PoolCounts idle;             // the idle nodes it takes
    JobId self = 0;              // a running job that is not to be its own victim
    bool is_least = true;        // it is content with no less
    bool preempts = false;       // it may end its victims, so no policy spares them
};

// The most eligible nodes that the job can give up.
int shrinkable(const RunningJob&, const Eligibility&);
// AllocateResource ([lina] algorithm 8) for one victim: it gives up `amount` nodes or, for an
// allowed size, more, eligible ones first; of those the beneficiary uses up to `needed`.
Shrinkage allocate_resource(const SystemState&, std::uint32_t victim, const Eligibility&,
                            int amount, int needed);

class Victims {
  public:
    // Forgets all; a pass that shrinks nobody costs nothing.
    void begin();
    // Asks the policy's guard, and finds and orders them if that is still to be done.  False if
    // there are none; call it first in each stage.
    bool admitted(const SystemState&, Rng&);
    // The same of these jobs (indices into Snapshot::running), whether or not the guard or their
    // gap is against it: what they decline is taken from them.
    bool admitted(const SystemState&, Rng&, const std::vector<std::uint32_t>& candidates);

    // The eligible nodes that all victims together could give.
    int supply(const SystemState&, EligibilityId);
    // The same without the job `running`.
    int supply_without(const SystemState&, EligibilityId, std::uint32_t running);

    // SelectShrinkableJob: victims that together give what is needed and delay no reservation.
    // None, and nothing is to be done, if there are not enough: no job is shrunk for nothing.
    std::vector<Shrinkage> select(const SystemState&, const Beneficiary&);
    // All that have something to give to jobs of this eligibility and delay no reservation by it.
    std::vector<Shrinkage> select_all(const SystemState&, EligibilityId);
    // The last one selected for the pending job, which is to start with `size` nodes, is resized
    // anyway: takes more of it, as long as that saves the job more time than the victim loses. The
    // job's size with that.
    int take_more(const SystemState&, const PendingJob&, const Beneficiary&, int size,
                  std::vector<Shrinkage>& selected);
    // The selection has been carried out: these have nothing more to give.
    void remove(const SystemState&, const std::vector<Shrinkage>&);
    // The job has other things to do in this plan.
    void remove(const SystemState&, std::uint32_t running);

  private:
    void find(const SystemState&, Rng&);
    void rank(const SystemState&, Rng&, std::uint32_t running);
    void put_in_order();
    std::vector<Shrinkage> select_above(const SystemState&, const Beneficiary&,
                                        const choices::Floor&);
    void begin_losses(const SystemState&, const Beneficiary&);
    bool uses_reserved_nodes(const SystemState&, const Shrinkage&, Time beneficiary_end) const;
    bool respects_reservations(const SystemState&, const Shrinkage&, Time beneficiary_end);
    bool all_respect_reservations(const SystemState&, const Beneficiary&,
                                  const std::vector<Shrinkage>&);

    bool found_ = false;                // order_ is of this pass
    bool admitted_ = false;             // by the guard, in this stage
    std::vector<std::uint32_t> order_;  // indices into Snapshot::running
    std::vector<std::tuple<choices::Rank, JobId, std::uint32_t>> ranked_;  // scratch
    std::vector<int> supply_;  // by eligibility; -1 not counted yet
    // By reservation and pool: how many fewer nodes are free when it begins, by what is selected so
    // far; and scratch for one victim more.
    std::vector<int> lost_, lost_with_;
};

}  // namespace elastic::core

// SPDX-License-Identifier: MIT
// Agreements in flight, as planning sees them: what running jobs have been promised, and the
// pending jobs that wait for victims' nodes, each of which has a claim to them and to the idle
// nodes that it needs besides.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/model/snapshot.hpp"
#include "core/model/types.hpp"
#include "core/pass/state/schedule.hpp"

namespace elastic::core {

class Claims {
  public:
    // Finds the claimed jobs, for which nothing more is to be decided, and the size with which each
    // is to start.
    void collect(Schedule&);
    // Schedule all promises, and sets aside the idle nodes of claimed jobs.
    void book(Schedule&);

    // Starts a claimed job on the nodes that are there for it, on nodes of other claims in exchange
    // for those that its victims have not left yet, and on idle ones if the policy lets it.  The
    // job waits on if all of these are too few.
    void trade(Schedule&, std::uint32_t pending);
    // The job starts on other nodes, and nobody is to count on the nodes of its claim.
    void drop(std::uint32_t pending);
    // Nothing more is to be decided for it in this pass.
    bool is_settled(std::uint32_t pending) const { return claim_of(pending).is_settled; }

    // The idle nodes that a claimed job (an index into Snapshot::pending) is to start with are
    // taken, but given back while it is tried to start the job on idle nodes alone.
    void give_back_aside(Schedule&, std::uint32_t pending) const;
    void keep_aside(Schedule&, std::uint32_t pending) const;

  private:
    struct Entry {
        std::uint32_t job = 0;    // index into Snapshot::pending
        int size = 0;             // to start with
        int missing = 0;          // ... besides what is promised by victims
        PoolCounts aside;         // of those, idle ones
        PoolCounts released;      // that its victims have left
        PoolCounts spare;         // of both, nodes that another claim may take
        bool is_settled = false;  // in this pass: it starts, or has traded
    };
    // What a victim has not left yet, and who is to have it.
    struct Coming {
        const Promise* promise = nullptr;
        Entry* claim = nullptr;
        PoolCounts used;
    };
    // Whose nodes do as well.
    struct Trade {
        Coming* part = nullptr;
        Entry* giver = nullptr;
    };

    // Takes what was kept before, as far as it is there, and chooses what is missing.
    void keep_what_was_chosen(Schedule&);
    void choose_the_rest(Schedule&);
    void book_shrink(Schedule&, const Promise&, std::uint32_t victim);
    void enter(const Promise&, Entry&, const PoolCounts& used);
    // Finds claims that could give nodes for the parts that this claim still waits for; returns the
    // nodes of all these parts.
    PoolCounts find_trades(const Schedule&, const Entry&);
    Entry* giver_for(const Schedule&, const Coming&);
    bool waits_for_victims(const Entry&) const;
    void undo_trades();
    Entry* find(JobId);
    const Entry& claim_of(std::uint32_t pending) const;
    Entry& claim_of(std::uint32_t pending);

    std::vector<Entry> claims_;                           // in the order of the queue
    std::vector<Coming> coming_;                          // in the order of the promises
    std::vector<Trade> trades_;                           // scratch
    std::vector<std::pair<JobId, std::uint32_t>> by_id_;  // ascending; indices into claims_
};

}  // namespace elastic::core

// SPDX-License-Identifier: MIT
// What Slurm has refused while a plan was carried out, until the pass is over: the rest is planned
// again without it.  What outlives a pass is in RefusalBook.
//
// Kept by job and attempt, since another attempt of the same job may succeed, and by account where
// a limit is the reason: it bars all jobs of that account which are as large, there may be
// thousands, and only Slurm can say so, one by one.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>

#include "core/model/types.hpp"

namespace elastic::controller {

// One of the ways to start a job; `attempt` is the number of the way in Slurm's queue.
struct AttemptId {
    JobId job = 0;
    std::uint32_t attempt = 0;

    auto operator<=>(const AttemptId&) const = default;
};

// All that limits of accounting are set for, a partition among it, which the attempt names.
struct Account {
    std::uint32_t user = 0, association = 0, qos = 0, attempt = 0;

    auto operator<=>(const Account&) const = default;
};

class PassRefusals {
  public:
    // Slurm would not start it now, for reasons of its own.  As the next two, returns whether that
    // is news.
    bool refuse(AttemptId id) { return hidden_.insert(id).second; }
    // Not with more nodes than asked for.
    bool refuse_more_than_asked(AttemptId id) { return limited_to_request_.insert(id).second; }
    // A limit bars so many nodes, and more.
    bool limit(const Account&, int nodes);

    bool has_limits() const { return !limited_.empty(); }
    // Whether this was not asked before about the account.
    bool is_first_of_account(const Account& account) { return asked_.insert(account).second; }

    // Whether the attempt is left out of the next plan, or any of the account's with so many nodes.
    bool hides(AttemptId id) const { return hidden_.contains(id); }
    bool bars(const Account&, int nodes) const;
    bool may_start_larger(AttemptId id) const { return !limited_to_request_.contains(id); }

  private:
    std::set<AttemptId> hidden_;
    std::set<AttemptId> limited_to_request_;
    std::map<Account, int> limited_;  // from so many nodes on
    std::set<Account> asked_;
};

}  // namespace elastic::controller

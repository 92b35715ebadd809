// SPDX-License-Identifier: MIT
// When nodes come free: one entry a job and pool, in the order of time.  Half of the availability
// profile (availability_profile.hpp), and the half that outlives a pass: a job that starts or ends
// changes one entry of it.
#pragma once

#include <vector>

#include "common/time.hpp"
#include "core/model/types.hpp"

namespace elastic::core {

struct Vacancy {
    Time at = 0;
    PoolId pool = 0;
    int nodes = 0;
};

class VacancyList {
  public:
    void clear() { entries_.clear(); }
    // Adds without regard to the order; sort() before it is read.
    void append(Time at, const PoolCounts&);
    void append(Time at, PoolId, int nodes);
    void sort();

    // Keeps the order.  Times of kNever are never entered.
    void insert(Time at, const PoolCounts&);
    // Takes back an insert or append with the same arguments.
    void remove(Time at, const PoolCounts&);

    const std::vector<Vacancy>& entries() const { return entries_; }

  private:
    std::vector<Vacancy> entries_;
};

}  // namespace elastic::core

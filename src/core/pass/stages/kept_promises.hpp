// SPDX-License-Identifier: MIT
// What evolving requests must leave to jobs that wait and have been promised a start.
#pragma once

#include <cstdint>
#include <vector>

#include "core/pass/state/schedule.hpp"

namespace elastic::core {

// While it lives, each job with a promise has a reservation HeadDelay after its first promise,
// which is how far its start may be pushed back; or as soon as it can start, where that is later or
// it has no room then.  None without a bound (HeadDelay=unlimited).
class KeptPromises {
  public:
    explicit KeptPromises(Schedule&);
    ~KeptPromises();
    KeptPromises(const KeptPromises&) = delete;
    KeptPromises& operator=(const KeptPromises&) = delete;

    bool any() const { return !kept_.empty(); }

  private:
    void keep(std::uint32_t pending);
    void keep_steps(std::uint32_t pending);
    void keep_together(std::uint32_t first);

    Schedule& schedule_;
    std::vector<std::uint32_t> kept_;  // places in the queue
};

}  // namespace elastic::core

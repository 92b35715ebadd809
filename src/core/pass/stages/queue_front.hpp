// SPDX-License-Identifier: MIT
// Which jobs of the queue are blocked and which of them have a reservation, as the queue is walked
// in its order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/pass/stages/together.hpp"
#include "core/pass/state/marks.hpp"

namespace elastic::core {

class QueueFront {
  public:
    // Back to the front of the queue; reservations made before stay.
    void begin(const SystemState&);

    // Whether an earlier job waits for any of these pools.
    bool is_behind(EligibilityId id) const { return behind_[id]; }

    // Whether jobs from here on neither start in order nor get a reservation: all that is left is
    // to find those that can be backfilled.
    bool is_settled() const { return unreserved_ == 0; }

    // The job cannot start.  It gets a reservation unless it has one, or jobs before it have
    // reservations for all of its pools; with conservative backfilling each of its copies gets one.
    void block(Schedule&, std::uint32_t pending, int size);

    // The reservation that the job would have now; nothing if its nodes never come free.
    static std::optional<Reservation> earliest(Schedule&, std::uint32_t pending, int size);

  private:
    void block_together(Schedule&, std::uint32_t first);
    bool reserve_together(Schedule&, const Together&, bool is_first);
    void settle(const SystemState&, const Eligibility&);
    static void mark(const SystemState&, const Eligibility&, Marks& pools, Marks& eligibilities,
                     bool all);
    bool reserve(Schedule&, std::uint32_t pending, int size, bool is_first);
    bool reserve_one(Schedule&, std::uint32_t pending, int size, bool is_first);
    static std::optional<Reservation> whole(Schedule&, std::uint32_t pending, int size);
    static bool has_promise(const Schedule&, std::uint32_t pending);
    static bool is_overtaken(const Schedule&, std::uint32_t pending);
    static void keep_promise(Schedule&, int size, bool is_first, Reservation&);
    static void set_aside(Schedule&, const PendingJob&, int size, Reservation&);

    Marks blocked_pools_, reserved_pools_;
    Marks behind_;                // by eligibility: some pool is blocked
    Marks reserved_;              // by eligibility: all pools are reserved
    std::size_t unreserved_ = 0;  // eligibilities that are not
};

}  // namespace elastic::core

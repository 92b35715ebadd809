// SPDX-License-Identifier: MIT
// When nodes of a site are not for the queue, on the log's clock: reserved, or down.
#pragma once

#include <vector>

#include "simulator/logs/log.hpp"
#include "simulator/site/node_table.hpp"

namespace elastic::simulator {

// The reservations that fall into the log's time, each with its nodes.
class Absences {
  public:
    // An error where the log's times have no date.
    static Result<Absences> make(const Log&, const SiteKnowledge&, const NodeTable&);

    // Sets of nodes that must be whole pools.
    const std::vector<NodePlaces>& reserved() const { return reserved_; }
    // Fills reservations, those of jobs, and outages; the table is divided.
    void give(const Log&, const NodeTable&, Site&) const;

  private:
    Time until(Time end) const { return std::min(end, horizon_); }
    void take_reservations(const SiteKnowledge&, const NodeTable&, Time zero);
    void take_events(const SiteKnowledge&, const NodeTable&, Time zero);
    void infer_events(const Log&, const NodeTable&);
    int reservation_of(const Log&, std::size_t job) const;

    struct Down {
        std::size_t node = 0;
        Time from = 0, to = 0;
        auto operator<=>(const Down&) const = default;
    };
    Time horizon_ = 0;                       // the end of the log: behind it nobody is missing
    std::vector<Reservation> reservations_;  // without pools, by `from`
    std::vector<NodePlaces> reserved_;       // of each of these
    std::vector<Down> down_;                 // by node, without overlap
    std::vector<std::string> notes_;
};

}  // namespace elastic::simulator

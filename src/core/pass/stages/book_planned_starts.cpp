// SPDX-License-Identifier: MIT
// What another scheduler has planned (Starts=slurm) stands in the availability profile as the
// reservations that stages make themselves do: so no expansion, no granted request and no shrink,
// after which the victim needs its nodes for longer, delays one of these starts.
//
// Always holds: no more is taken than is free, since estimates here may be later than those that
// the other scheduler goes by.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "core/pass/stages/stages.hpp"

namespace elastic::core {
namespace {

// By the job's number, of the first that has it.
using Places = std::unordered_map<JobId, std::uint32_t>;

Places places_of(const std::vector<PendingJob>& pending) {
    Places places;
    for (std::uint32_t place = 0; place < pending.size(); ++place)
        places.try_emplace(pending[place].id, place);
    return places;
}

void book(Schedule& schedule, const Places& places, const PlannedStart& start) {
    const auto place = places.find(start.job);
    const bool waits = place != places.end();
    if (waits && schedule.queue().decided(place->second)) return;  // on what its victims leave
    if (!waits)
        return schedule.withhold(start.from, start.to,
                                 schedule.free_of(start.nodes, start.from, start.to));
    Reservation reservation;
    reservation.job = place->second;
    reservation.from = start.from;
    reservation.to = start.to;
    reservation.nodes = start.nodes;
    reservation.planned = true;
    schedule.reserve_what_is_free(std::move(reservation));
}

}  // namespace

void book_planned_starts(Pass& pass) {
    const Snapshot& snapshot = pass.schedule.snapshot();
    if (snapshot.planned.empty()) return;
    const Places places = places_of(snapshot.pending);
    for (const PlannedStart& start : snapshot.planned)
        if (start.from > snapshot.now) book(pass.schedule, places, start);
}

}  // namespace elastic::core

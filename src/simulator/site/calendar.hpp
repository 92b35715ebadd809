// SPDX-License-Identifier: MIT
// When nodes were kept from the queue: reservations and down times, as Slurm's accounting prints
// them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/result.hpp"
#include "common/time.hpp"

namespace elastic::simulator {

// The commands that print what is read here, for messages and manuals.
inline constexpr std::string_view kReservationsCommand =
    "sacctmgr --parsable2 show reservation start=2000-01-01 format=Name,NodeName,Start,End,TRES";
inline constexpr std::string_view kEventsCommand =
    "sacctmgr --parsable2 show event start=2000-01-01 format=NodeName,Start,End,State";

// Times are seconds as sacct's; `to` is kNever where it has no end yet.
struct ReservedNodes {
    std::string name;
    Time from = 0, to = kNever;
    std::vector<std::string> nodes;
    double processors = 0;  // in all, 0: not known; fewer than its nodes have if it is of cores
};
struct DownTime {
    std::string node;
    Time from = 0, to = kNever;
};

// The first line names the columns, in any order; others than those of the commands are passed
// over.  An error is "NAME:LINE: COLUMN: what is wrong".
Result<std::vector<ReservedNodes>> parse_reservations(std::string_view text, std::string_view name);
// Events of the cluster, which name no node, are left out.
Result<std::vector<DownTime>> parse_events(std::string_view text, std::string_view name);

}  // namespace elastic::simulator

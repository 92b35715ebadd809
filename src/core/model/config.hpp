// SPDX-License-Identifier: MIT
// elastic.conf: `Key=Value` lines as in slurm.conf, read by the plugin and the simulator alike.
// Described in elastic.conf(5).
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "common/limits.hpp"
#include "common/result.hpp"
#include "core/model/annotation/annotation.hpp"
#include "core/model/policy.hpp"

namespace elastic::core {

enum class ShrinkTimeout { revoke, kill };
constexpr auto names(ShrinkTimeout) {
    return std::to_array<std::string_view>({"revoke", "kill"});
}

// Who starts jobs: this scheduler, or Slurm's own loops, beside which it only resizes.
enum class Starts { elastic, slurm };
constexpr auto names(Starts) {
    return std::to_array<std::string_view>({"elastic", "slurm"});
}

// Which of Slurm's plugins is hosted with Starts=slurm.
enum class Hosted { backfill, builtin };
constexpr auto names(Hosted) {
    return std::to_array<std::string_view>({"backfill", "builtin"});
}

// Whether resizes are only planned, and told to the journal.
enum class Observe { no, yes };
constexpr auto names(Observe) {
    return std::to_array<std::string_view>({"no", "yes"});
}

// Which nodes malleable jobs leave without being told ([gupta] section VII-A); each of these
// includes those before it.
enum class LeaveNodes { never, failing, drained, maintenance };
constexpr auto names(LeaveNodes) {
    return std::to_array<std::string_view>({"never", "failing", "drained", "maintenance"});
}

struct Config {
    std::string policy_name{kDefaultPolicy};
    Policy policy = *preset(kDefaultPolicy);  // with single choices applied
    Duration grace_time = 60;        // GraceTime: to answer an offer, and again to move data
    Duration max_grace_time = 3600;  // MaxGraceTime: the most that a job may set for itself
    ShrinkTimeout shrink_timeout = ShrinkTimeout::revoke;  // ShrinkTimeout=revoke|kill
    Duration back_off = 300;  // BackOff: no offers to a job that let one expire or declined
    Duration preempt_shrink_time = 60;   // PreemptShrinkTime: malleable jobs shrink so long before
                                         // they are preempted; 0: they are not asked
    double link_bandwidth = 1e9;         // LinkBandwidth: bytes a second that a node sends
    double scale_ratio = 4;              // ScaleRatio: [packet] k
    Duration init_time = 60;             // InitTime: of an initialisation that does not say its own
    Starts starts = Starts::elastic;     // Starts
    Hosted hosted = Hosted::backfill;    // Hosted
    Observe observe = Observe::no;       // Observe
    int listen_port = kDefaultPort;      // ListenPort
    Duration interval = 0.1;             // Interval: least time between two passes, seconds
    Duration forecast_interval = 30;     // ForecastInterval: between two forecasts of starts
    Duration forecast_time = 1;          // ForecastTime: that one may take
    int max_connections = 4096;          // MaxConnections in all
    int max_connections_per_user = 256;  // MaxConnectionsPerUser
    std::string journal_file;            // JournalFile; "" = elastic.journal in StateSaveLocation
    LeaveNodes leave_nodes = LeaveNodes::drained;  // LeaveNodes
    // What nodes cost and how many may be used (supply.hpp); at most one of the two is not "".
    std::string supply_file;        // SupplyFile
    std::string supply_command;     // SupplyCommand: a program's path, that prints it
    Duration supply_interval = 60;  // SupplyInterval: between two readings
    Duration supply_timeout = 10;   // SupplyTimeout: for the command
};

// Keys and values without regard to case; '#' begins a comment; a key may stand once. Policy comes
// first wherever it stands: single choices change the preset. Errors name file and line:
// "elastic.conf:12: VictimOrder=foo: one of shrinkable, gain"; of several wrong settings each,
// behind "; ".
Result<Config> parse_config(std::string_view text, std::string_view file_name);
// An absent file is an error that says so.
Result<Config> read_config(const std::string& path);

}  // namespace elastic::core

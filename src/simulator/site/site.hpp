// SPDX-License-Identifier: MIT
// The machine behind a log, as far as files of the site and the log itself tell: its partitions
// with their nodes, who stands before whom in the queue, and which limits keep jobs from starting.
//
//   Log, slurm.conf, QOS -> Site -> Workload
//
// Nodes that the same partitions have, and that are alike, are one pool (core/model/pools.hpp), as
// for the plugin.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/names.hpp"
#include "common/result.hpp"
#include "simulator/logs/log.hpp"
#include "simulator/site/calendar.hpp"
#include "simulator/site/machine.hpp"
#include "simulator/site/qos_table.hpp"
#include "simulator/site/slurm_conf.hpp"

namespace elastic::simulator {

// Who comes first of those that one partition has.
enum class QueueOrder {
    conf,    // PriorityTier, then PriorityWeight* but for fair-share; without these by arrival
    logged,  // PriorityTier, then the priority that the log has
};
constexpr auto names(QueueOrder) {
    return std::to_array<std::string_view>({"conf", "logged"});
}

// Which limits keep jobs waiting besides those of QOS.
enum class LimitSource { known, inferred };
constexpr auto names(LimitSource) {
    return std::to_array<std::string_view>({"known", "inferred"});
}

// Files; "" for none.
struct SiteFiles {
    std::string slurm_conf;
    std::string qos;           // what kQosCommand prints
    std::string reservations;  // what kReservationsCommand prints
    std::string events;        // what kEventsCommand prints, or kInferred
    QueueOrder order = QueueOrder::conf;
    LimitSource limits = LimitSource::known;
};
// In place of a file of events: nodes were down when nobody used them while jobs waited.
inline constexpr std::string_view kInferred = "inferred";

// What is known besides the log; read once, for any number of logs.
struct SiteKnowledge {
    std::optional<SlurmConf> conf;
    std::vector<Qos> qos;
    std::vector<ReservedNodes> reservations;
    std::vector<DownTime> events;
    bool infers_events = false, infers_limits = false;
    QueueOrder order = QueueOrder::conf;

    // Null where nobody knows it.
    const SlurmConf::Partition* partition(std::string_view name) const {
        return conf ? conf->partition(name) : nullptr;
    }
    const Qos* qos_named(std::string_view name) const;
    const Qos* qos_of(const Log&, std::size_t job) const;
};
// An error names the option and the file.
Result<SiteKnowledge> read_site_files(const SiteFiles&);

struct Site {
    std::vector<NodePool> pools;
    std::vector<Partition> partitions;  // the last has all nodes: of jobs that have none of these
    std::vector<Limit> limits;
    std::vector<Reservation> reservations;  // by `from`
    std::vector<Outage> outages;            // by `from`
    int nodes = 0;
    // By job of the log.
    std::vector<std::uint32_t> partition_of;
    std::vector<std::vector<std::uint32_t>> limits_of;
    std::vector<std::uint32_t> ranks;  // as Workload::ranks; empty: by arrival
    std::vector<int> reservation_of;   // in `reservations`, -1: none; empty without any
    std::vector<bool> shares;          // as Workload::shares, of jobs that turn out rigid
    std::vector<std::string> notes;    // what is known from where, and what is not modelled
};

// Nothing if neither the log (NodeList) nor slurm.conf says which nodes there are.  An error if
// they say it in a way that cannot be read.
Result<std::optional<Site>> make_site(const Log&, const SiteKnowledge&);

}  // namespace elastic::simulator

// SPDX-License-Identifier: MIT
// The experiments of [packet], and what they say of the paper's statements.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.hpp"
#include "simulator/packets.hpp"
#include "studies/packet/workloads.hpp"
#include "studies/report/report.hpp"
#include "studies/run_pool.hpp"

namespace elastic::studies::packet {

// The paper's initialisation proportions S.
inline constexpr std::array kShares{0.05, 0.10, 0.20, 0.30, 0.40, 0.50};
// Its 37 scale ratios, ascending.
const std::vector<double>& scale_ratios();
// Index of the ratio, which is one of these.
std::size_t index_of(double scale_ratio);
// A figure over all scale ratios that has no panels yet.
Figure figure_over_ratios(std::string title, std::string y_label);

// The metrics of section 3.
using Metric = double simulator::PacketSummary::*;
inline constexpr Metric kMeanQueueTime = &simulator::PacketSummary::mean_queue_time;
inline constexpr Metric kMedianQueueTime = &simulator::PacketSummary::median_queue_time;
inline constexpr Metric kQueueLength = &simulator::PacketSummary::queue_length;
inline constexpr Metric kFullUtilisation = &simulator::PacketSummary::full_utilisation;
inline constexpr Metric kUsefulUtilisation = &simulator::PacketSummary::useful_utilisation;

// A plateau is reached where a metric is no further from its value at the greatest scale ratio than
// this share of what it changes over all ratios.
inline constexpr double kPlateau = 0.05;
// The least of `scale_ratios()` from which on it is; `means` has a value for each of them.
double plateau_begins(const std::vector<double>& means);

// One workload and one share at all scale ratios.
struct Curve {
    Flow flow;
    double share = 0;
    std::vector<std::vector<simulator::PacketSummary>> points;  // by scale ratio, by seed

    std::vector<double> values(double scale_ratio, Metric) const;  // by seed
    double mean(double scale_ratio, Metric) const;
    std::vector<double> means(Metric) const;  // by scale ratio
};

struct Results {
    std::vector<Curve> curves;

    const Curve& at(const Flow&, double share) const;
};

// All six flows, or the homogeneous ones alone.
std::vector<Flow> all_flows();
std::vector<Flow> homogeneous_flows();

Result<Results> run(const std::vector<Flow>&, const Assumptions&, int seeds, const PoolOptions&);

// The same study with something read in another way.
struct Reading {
    std::string name;
    Results results;
};
// Names of readings that explain something.
inline constexpr std::string_view kShareByOneNode = "S by times on one node";
inline constexpr std::string_view kTenTimesAsLong = "ten times as long";

// What the paper's tables print.
struct PrintedTable {
    std::string name, title;
    double load = 0;
    std::vector<double> shares;                // a row each
    std::vector<std::vector<double>> printed;  // by share, by ratio 0.1 to 0.5, seconds
    Metric metric = nullptr;
};
const std::vector<PrintedTable>& printed_tables();

// What sections 5, 7 and 8 say of the homogeneous flows, and of all six.
std::vector<Finding> findings(const Results&);
std::vector<Finding> findings_of_all(const Results&);
// Gives those that did not come out the reasons that the readings show.
void add_reasons(std::vector<Finding>&, const Results&, const std::vector<Reading>&);

}  // namespace elastic::studies::packet

// SPDX-License-Identifier: MIT
// What the runs of [lina] come to, and what that says of the paper's findings.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "studies/report/report.hpp"
#include "studies/report/table.hpp"

namespace elastic::studies::lina {

// Algorithms 6, 7 and 5 (shrink guards), in the order of table 3, and algorithm 7 as the text has
// it.
inline constexpr std::size_t kGuards = 4;
inline constexpr std::array<const char*, kGuards> kGuardNames{"Application", "System", "Default",
                                                              "System (text)"};
enum Guard : std::size_t { application, system, by_default, system_text };

// Section 4: candidate selection techniques (victim orders).
inline constexpr std::size_t kOrders = 6;
inline constexpr std::array<const char*, kOrders> kOrderNames{"Random",    "Gain",       "Resource",
                                                              "Expansion", "Adaptation", "Time"};
enum Order : std::size_t { random, gain, resource, expansion, adaptation, remaining_time };

// Section 4.1, which defines what a slowdown is made of but not the slowdown: turnaround by the
// time from start to end, or by the run time in the log, which does not forgive a policy that runs
// jobs longer.  What the paper says of slowdown is judged by both.
inline constexpr std::size_t kMetrics = 4;
inline constexpr std::array<const char*, kMetrics> kMetricNames{"turnaround", "utilisation",
                                                                "slowdown", "static slowdown"};
enum Metric : std::size_t { turnaround, utilisation, slowdown, static_slowdown };
inline constexpr std::array kAllMetrics{turnaround, utilisation, slowdown, static_slowdown};
inline constexpr std::array kPaperMetrics{turnaround, utilisation, slowdown};
inline constexpr std::array kSlowdowns{slowdown, static_slowdown};

// As it stands in a statement.
inline const char* name_of(Metric metric) {
    if (metric == slowdown) return "slowdown (by the time from start to end)";
    if (metric == static_slowdown) return "slowdown (by the run time in the log)";
    return kMetricNames[metric];
}

inline bool is_better(Metric metric, double a, double b) {
    return metric == utilisation ? a > b : a < b;
}

// Means over the seeds, and the values of each.
struct Cell {
    std::array<double, kMetrics> value{};
    double useful_utilisation = 0;  // without what resizes cost
    std::array<std::vector<double>, kMetrics> seeds;
};

// Elastic jobs over the time of arrivals, in a hundred equal parts of it.
struct Distribution {
    std::vector<double> all;                     // jobs that arrive
    std::array<std::vector<double>, 2> elastic;  // of which elastic, 30 and 60 per cent of all
};

struct WorkloadResults {
    std::string name;
    bool full_flexibility = false;
    bool synthetic = false;
    bool shrunk = false;
    double covered = 0;  // share of the time of arrivals with elastic work, see lina.cpp
    Distribution arrivals;
    Cell rigid;
    // By percentage, guard, order.
    std::vector<std::array<std::array<Cell, kOrders>, kGuards>> cells;
};

struct Results {
    std::vector<double> percents;  // ascending
    std::vector<WorkloadResults> workloads;
};

// The best and the worst order of one row of cells, and how much better the best is: of the worst's
// value, per cent.
struct Spread {
    Order best = random, worst = random;
    double percent = 0;
};
Spread spread(const std::array<Cell, kOrders>&, Metric);

// Where over the percentages the spread is largest.
struct LargestSpread : Spread {
    double at = 0;  // per cent elastic
};
LargestSpread largest_spread(const Results&, const WorkloadResults&, Guard, Metric);

// Table 3 with the paper's cells beside ours, for workloads without full flexibility.
Table table3(const Results&);
// Whether its cells are the paper's, of the workloads that are here.
std::vector<Finding> table3_findings(const Results&, Guard algorithm7 = system);

// The seven key findings of section 5.4 and the conclusion on load; then those on slowdown again,
// by the run time in the log.  `algorithm7` is what is taken for System.
std::vector<Finding> key_findings(const Results&, Guard algorithm7 = system);
// What section 5.3 says of the figures of the workloads that are here, and 5.4 of figures 16, 17.
std::vector<Finding> figure_findings(const Results&, Guard algorithm7 = system);

}  // namespace elastic::studies::lina

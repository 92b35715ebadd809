// SPDX-License-Identifier: MIT
// Table 3 of [lina]: by how much the best victim order is better than the worst, and where.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "studies/lina/counting.hpp"

namespace elastic::studies::lina {
namespace {

struct PaperCell {
    Order best, worst;
    double percent, at;
};

struct PaperRow {
    const char* workload;
    std::array<std::array<PaperCell, kPaperMetrics.size()>, 3> cells;
};

const std::array kPaperTable3{
    PaperRow{
        "LLNL",
        {{{{{gain, random, 2.62, 40}, {random, resource, 8.07, 70}, {gain, resource, 10.23, 50}}},
          {{{gain, resource, 2.09, 100}, {random, resource, 3.65, 70}, {gain, random, 6.69, 50}}},
          {{{random, resource, 3.08, 30},
            {random, resource, 9.0, 90},
            {expansion, random, 10.44, 90}}}}}},
    PaperRow{"LLNL_shrunk",
             {{{{{adaptation, random, 1.45, 70},
                 {random, remaining_time, 3.23, 90},
                 {adaptation, resource, 2.56, 50}}},
               {{{gain, random, 2.19, 60},
                 {random, remaining_time, 1.65, 90},
                 {gain, resource, 5.69, 90}}},
               {{{resource, random, 2.36, 100},
                 {random, gain, 2.49, 90},
                 {gain, adaptation, 5.32, 90}}}}}},
    PaperRow{
        "KIT",
        {{{{{gain, random, 3.21, 70},
            {random, resource, 10.25, 50},
            {adaptation, remaining_time, 14.06, 50}}},
          {{{adaptation, random, 3.04, 20},
            {random, resource, 3.11, 40},
            {adaptation, remaining_time, 13.77, 80}}},
          {{{gain, random, 5.7, 70}, {random, resource, 10.9, 50}, {gain, random, 18.05, 80}}}}}},
    PaperRow{
        "KIT_shrunk",
        {{{{{gain, random, 1.23, 80}, {random, resource, 0.85, 90}, {gain, resource, 8.56, 60}}},
          {{{gain, remaining_time, 1.66, 100},
            {random, resource, 1.33, 60},
            {adaptation, random, 7.47, 20}}},
          {{{gain, random, 2.84, 100},
            {random, resource, 1.31, 90},
            {adaptation, random, 14.03, 80}}}}}},
    PaperRow{"Synthetic",
             {{{{{gain, random, 1.51, 60}, {random, resource, 8.58, 80}, {gain, random, 6.3, 90}}},
               {{{gain, remaining_time, 1.09, 90},
                 {random, resource, 3.6, 70},
                 {gain, resource, 5.7, 90}}},
               {{{gain, random, 1.79, 90},
                 {random, resource, 3.47, 70},
                 {gain, remaining_time, 5.28, 100}}}}}},
};

const PaperCell* paper_cell(const std::string& workload, Guard guard, Metric metric) {
    const auto row = std::ranges::find(kPaperTable3, workload, &PaperRow::workload);
    if (guard == system_text) guard = system;
    if (metric == static_slowdown) metric = slowdown;
    return row == kPaperTable3.end() ? nullptr : &row->cells[guard][metric];
}

constexpr double kNear = 2;  // times

// Of the paper's metrics, and of slowdown in the other way as well if that is wanted.
Nearness nearness(const Results& results, const Guards& guards, const std::vector<Metric>& metrics,
                  bool only_synthetic) {
    Nearness near;
    for (const WorkloadResults& w : results.workloads) {
        if (w.full_flexibility || (only_synthetic && !w.synthetic)) continue;
        for (const Guard guard : guards)
            for (const Metric metric : metrics)
                if (const PaperCell* paper = paper_cell(w.name, guard, metric))
                    near.count(largest_spread(results, w, guard, metric).percent, paper->percent,
                               kNear);
    }
    return near;
}

Finding differences_are_near(const Results& results, const Guards& guards, Metric slow) {
    const Nearness near = nearness(results, guards, {turnaround, utilisation, slow}, false);
    return {"table 3",
            fmt::format("the largest differences between candidate selection techniques in "
                        "turnaround, utilisation and {}: ours are within a factor of two",
                        name_of(slow)),
            every_value(near.tally), to_string(near)};
}

Finding synthetic_use_is_near(const Results& results, const Guards& guards) {
    std::string ours;
    for (const WorkloadResults& w : results.workloads)
        if (w.synthetic)
            for (const Guard guard : guards)
                ours += fmt::format("{}{} {:.2f} %", ours.empty() ? "" : ", ", kGuardNames[guard],
                                    largest_spread(results, w, guard, utilisation).percent);
    const Nearness near = nearness(results, guards, {utilisation}, true);
    return {"table 3",
            "Synthetic: utilisation differs by up to 8.58 % (Application), 3.6 % (System), 3.47 % "
            "(Default): ours are within a factor of two",
            every_value(near.tally), fmt::format("{}: {}", to_string(near), ours)};
}

Finding orders_are_the_papers(const Results& results, const Guards& guards, Metric slow) {
    Tally best, worst;
    for (const WorkloadResults& w : results.workloads) {
        if (w.full_flexibility) continue;
        for (const Guard guard : guards)
            for (const Metric metric : {turnaround, utilisation, slow}) {
                const PaperCell* paper = paper_cell(w.name, guard, metric);
                if (!paper) continue;
                const LargestSpread ours = largest_spread(results, w, guard, metric);
                best.count(ours.best == paper->best);
                worst.count(ours.worst == paper->worst);
            }
    }
    return {
        "table 3",
        fmt::format("the best and the worst techniques in turnaround, utilisation and {}",
                    name_of(slow)),
        all_of({every_value(best), every_value(worst)}),
        fmt::format("the paper's best in {}, its worst in {}", to_string(best), to_string(worst))};
}

}  // namespace

std::vector<Finding> table3_findings(const Results& results, Guard algorithm7) {
    const Guards guards = guards_with(algorithm7);
    std::vector<Finding> findings{synthetic_use_is_near(results, guards)};
    for (const Metric slow : kSlowdowns) {
        findings.push_back(differences_are_near(results, guards, slow));
        findings.push_back(orders_are_the_papers(results, guards, slow));
    }
    return findings;
}

Spread spread(const std::array<Cell, kOrders>& row, Metric metric) {
    Spread spread;
    for (std::size_t v = 1; v < kOrders; ++v) {
        const double value = row[v].value[metric];
        if (is_better(metric, value, row[spread.best].value[metric]))
            spread.best = static_cast<Order>(v);
        if (is_better(metric, row[spread.worst].value[metric], value))
            spread.worst = static_cast<Order>(v);
    }
    const double best = row[spread.best].value[metric], worst = row[spread.worst].value[metric];
    if (worst != 0) spread.percent = 100 * std::abs(best - worst) / worst;
    return spread;
}

LargestSpread largest_spread(const Results& results, const WorkloadResults& workload, Guard guard,
                             Metric metric) {
    LargestSpread most;
    for (std::size_t p = 0; p < results.percents.size(); ++p) {
        const Spread one = spread(workload.cells[p][guard], metric);
        if (p > 0 && one.percent <= most.percent) continue;
        static_cast<Spread&>(most) = one;
        most.at = results.percents[p];
    }
    return most;
}

Table table3(const Results& results) {
    Table table({"workload", "algorithm", "metric", "best", "paper_best", "worst", "paper_worst",
                 "max_difference_percent", "paper_max_difference_percent", "at_elastic_percent",
                 "paper_at_elastic_percent"});
    for (const WorkloadResults& w : results.workloads) {
        if (w.full_flexibility) continue;
        for (const Guard guard : {application, system, by_default, system_text})
            for (const Metric metric : kAllMetrics) {
                const LargestSpread ours = largest_spread(results, w, guard, metric);
                const PaperCell* paper = paper_cell(w.name, guard, metric);
                table.add({w.name, kGuardNames[guard], kMetricNames[metric], kOrderNames[ours.best],
                           paper ? kOrderNames[paper->best] : "", kOrderNames[ours.worst],
                           paper ? kOrderNames[paper->worst] : "", fixed(ours.percent, 2),
                           paper ? fixed(paper->percent, 2) : "", fixed(ours.at, 0),
                           paper ? fixed(paper->at, 0) : ""});
            }
    }
    return table;
}

}  // namespace elastic::studies::lina

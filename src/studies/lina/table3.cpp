// SPDX-License-Identifier: MIT
// Table 3 of [lina]: by how much the best victim order is better than the worst, and where.
#include <algorithm>
#include <cmath>

#include "studies/lina/results.hpp"

namespace elastic::studies::lina {
namespace {

struct PaperCell {
    Order best, worst;
    double percent, at;
};

struct PaperRow {
    const char* workload;
    std::array<std::array<PaperCell, kMetrics>, 3> cells;
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
    return row == kPaperTable3.end() ? nullptr : &row->cells[guard][metric];
}

}  // namespace

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
            for (const Metric metric : {turnaround, utilisation, slowdown}) {
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

// SPDX-License-Identifier: MIT
// Table 3, and what the numbers say of each statement of [lina].
//
// A finding is worked out from the results alone; the paper's words decide only
// what is counted.  Where the paper says "most" or "many" without a number, the
// rule is in the finding's own text, so that a reader can disagree with it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "studies/lina_results.hpp"

namespace elastic::studies::lina {
namespace {

// ---- table 3 of the paper

struct PaperCell {
    Order best, worst;
    double percent, at;
};

struct PaperRow {
    const char* workload;
    std::array<std::array<PaperCell, kMetrics>, kGuards> cells;
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
    return row == kPaperTable3.end() ? nullptr : &row->cells[guard][metric];
}

// ---- counting

constexpr std::array kAllMetrics{turnaround, utilisation, slowdown};
constexpr std::array kAllGuards{application, system, by_default};

std::string percent(double share) {
    return fmt::format("{:.0f} %", 100 * share);
}

// Calls visit(workload, index of the percentage, guard, row of cells) where jobs are limited as in
// the paper's main experiments.
template <class Visit>
void for_each_row(const Results& results, Visit visit) {
    for (const WorkloadResults& workload : results.workloads) {
        if (workload.full_flexibility) continue;
        for (std::size_t p = 0; p < results.percents.size(); ++p)
            for (const Guard guard : kAllGuards)
                visit(workload, p, guard, workload.cells[p][guard]);
    }
}

// How often each order is best and worst in a metric.
struct Ranking {
    std::array<int, kOrders> best{}, worst{};
    int rows = 0;

    static std::size_t most(const std::array<int, kOrders>& counts) {
        return static_cast<std::size_t>(std::ranges::max_element(counts) - counts.begin());
    }
    std::string text() const {
        return fmt::format("best most often {} ({} of {}), worst {} ({})", kOrderNames[most(best)],
                           best[most(best)], rows, kOrderNames[most(worst)], worst[most(worst)]);
    }
};

Ranking ranking(const Results& results, Metric metric) {
    Ranking ranks;
    for_each_row(results, [&](const WorkloadResults&, std::size_t, Guard, const auto& row) {
        const Spread spread = lina::spread(row, metric);
        if (spread.percent == 0) return;  // nobody is best
        ++ranks.best[spread.best];
        ++ranks.worst[spread.worst];
        ++ranks.rows;
    });
    return ranks;
}

double mean_spread(const Results& results, Metric metric) {
    double sum = 0;
    int rows = 0;
    for_each_row(results, [&](const WorkloadResults&, std::size_t, Guard, const auto& row) {
        sum += spread(row, metric).percent;
        ++rows;
    });
    return rows > 0 ? sum / rows : 0;
}

// ---- the seven

Finding elastic_jobs_help(const Results& results) {
    Tally lowest, all, by_logged_run;
    std::array<Tally, kMetrics> by_metric;
    for_each_row(results, [&](const WorkloadResults& w, std::size_t p, Guard, const auto& row) {
        for (const Cell& cell : row) {
            if (p == 0) by_logged_run.count(cell.static_slowdown < w.rigid.static_slowdown);
            for (const Metric metric : kAllMetrics) {
                const bool helps = is_better(metric, cell.value[metric], w.rigid.value[metric]);
                if (p == 0) lowest.count(helps);
                if (p == 0) by_metric[metric].count(helps);
                all.count(helps);
            }
        }
    });
    return {"key finding 1", "even 10 % elastic jobs improve every metric in all cases",
            in_all(lowest),
            fmt::format("at {:.0f} % better than rigid in {} (turnaround {}, utilisation {}, "
                        "slowdown {}; by the run time in the log {}); at all percentages in {}. "
                        "Where it is worse, the likely reason is that the growth evolving jobs ask "
                        "for comes before pending jobs: selastic-sim run with --evolving-share 0 "
                        "shows what malleable jobs alone do",
                        results.percents.front(), to_string(lowest),
                        to_string(by_metric[turnaround]), to_string(by_metric[utilisation]),
                        to_string(by_metric[slowdown]), to_string(by_logged_run), to_string(all))};
}

Finding differences_are_small(const Results& results) {
    constexpr double kSmall = 1;  // per cent between best and worst
    Tally small;
    std::array<Tally, kMetrics> by_metric;
    for_each_row(results, [&](const WorkloadResults&, std::size_t, Guard, const auto& row) {
        for (const Metric metric : kAllMetrics) {
            const bool is = spread(row, metric).percent < kSmall;
            small.count(is);
            by_metric[metric].count(is);
        }
    });
    return {"key finding 2",
            "in many cases the difference between candidate selection techniques is insignificant",
            small.share() >= 1.0 / 3 ? Verdict::confirmed
            : small.share() >= 0.1   ? Verdict::partly
                                     : Verdict::not_confirmed,
            fmt::format("best and worst are less than {:.0f} % apart in {} (turnaround {}, "
                        "utilisation {}, slowdown {}); counted as many: a third",
                        kSmall, to_string(small), to_string(by_metric[turnaround]),
                        to_string(by_metric[utilisation]), to_string(by_metric[slowdown]))};
}

Finding which_order_is_best(const Results& results) {
    const Ranking tat = ranking(results, turnaround), use = ranking(results, utilisation),
                  slow = ranking(results, slowdown);
    const auto worst_of_slowdown = Ranking::most(slow.worst);
    const std::array spreads{mean_spread(results, turnaround), mean_spread(results, utilisation),
                             mean_spread(results, slowdown)};
    const std::vector<Verdict> parts{
        verdict(Ranking::most(tat.best) == gain),
        verdict(Ranking::most(tat.worst) == random),
        verdict(Ranking::most(use.best) == random),
        verdict(Ranking::most(use.worst) == resource),
        verdict(Ranking::most(slow.best) == gain),
        verdict(worst_of_slowdown == random || worst_of_slowdown == resource),
        verdict(spreads[slowdown] > spreads[utilisation] &&
                spreads[slowdown] > spreads[turnaround]),
        verdict(spreads[turnaround] < spreads[utilisation]),
    };
    const auto holding = std::ranges::count(parts, Verdict::confirmed);
    return {"key finding 3",
            "turnaround: Gain best, Random worst; utilisation: Random best, Resource worst; "
            "slowdown: Gain best, Random and Resource worst; differences most visible in slowdown, "
            "least in turnaround",
            all_of(parts),
            fmt::format("{} of {} parts hold. Turnaround: {}; utilisation: {}; slowdown: {}; mean "
                        "difference {:.1f} %, {:.1f} %, {:.1f} %",
                        holding, parts.size(), tat.text(), use.text(), slow.text(),
                        spreads[turnaround], spreads[utilisation], spreads[slowdown])};
}

// By how much turnaround still improves beyond half of the percentages, of the rigid workload's,
// over all policies: where it saturates, little.
double late_gain(const Results& results, const WorkloadResults& w) {
    double late = 0;
    const std::size_t half = results.percents.size() / 2;
    for (const Guard guard : kAllGuards)
        for (std::size_t v = 0; v < kOrders; ++v)
            late += w.cells[half - 1][guard][v].value[turnaround] -
                    w.cells.back()[guard][v].value[turnaround];
    return late / (kGuards * kOrders) / w.rigid.value[turnaround];
}

Finding distribution_matters(const Results& results) {
    std::string text;
    const WorkloadResults* synthetic = nullptr;
    std::vector<const WorkloadResults*> logs;
    for (const WorkloadResults& w : results.workloads) {
        if (w.full_flexibility) continue;
        (w.synthetic ? synthetic = &w : logs.emplace_back(&w));
        text += fmt::format(
            "{}{}: {} covered, turnaround improves by {} of the rigid one beyond half",
            text.empty() ? "" : "; ", w.name, percent(w.covered), percent(late_gain(results, w)));
    }
    if (!synthetic || logs.empty()) return {};
    Tally uniform, later;
    for (const WorkloadResults* w : logs) {
        uniform.count(synthetic->covered > w->covered);
        later.count(late_gain(results, *synthetic) > late_gain(results, *w));
    }
    return {"key finding 4",
            "the more uniform elastic jobs are spread over time, the more evident their impact "
            "(Synthetic improves on and on, logs saturate)",
            all_of({in_all(uniform), in_all(later)}),
            text + ". Covered: parts of the time of arrivals that bring elastic work"};
}

Finding which_guard_is_best(const Results& results) {
    Tally use, tat, slow, weak_use, weak_tat, weak_slow;
    for (const WorkloadResults& w : results.workloads) {
        if (w.full_flexibility) continue;
        for (const auto& row : w.cells)
            for (std::size_t v = 0; v < kOrders; ++v) {
                const auto leads = [&](Guard guard, Metric metric) {
                    return std::ranges::all_of(kAllGuards, [&](Guard other) {
                        return other == guard || is_better(metric, row[guard][v].value[metric],
                                                           row[other][v].value[metric]);
                    });
                };
                use.count(leads(system, utilisation));
                tat.count(leads(application, turnaround));
                slow.count(leads(application, slowdown));
            }
    }
    return {"key finding 5",
            "System always has the highest utilisation; Application mostly the lowest turnaround "
            "time and slowdown",
            all_of({in_all(use), in_most(tat), in_most(slow)}),
            fmt::format("System leads in utilisation in {}; Application in turnaround in {}, in "
                        "slowdown in {}",
                        to_string(use), to_string(tat), to_string(slow))};
}

Finding full_flexibility_is_not_enough(const Results& results) {
    double best = 0;
    std::string text;
    bool both = true, loses = false;
    for (const WorkloadResults& w : results.workloads) {
        if (!w.full_flexibility) continue;
        const Cell* cell = nullptr;
        for (const auto& row : w.cells)
            for (const auto& guard : row)
                for (const Cell& one : guard)
                    if (!cell || one.value[utilisation] > cell->value[utilisation]) cell = &one;
        best = std::max(best, cell->value[utilisation]);
        const double cost = cell->value[utilisation] - cell->useful_utilisation;
        both = both && cost > 0 && cell->value[utilisation] < 1;
        text += fmt::format(
            "{}{}: at most {:.1f} % (rigid {:.1f} %), of which {:.2f} points are "
            "adaptation and negotiation; {:.1f} % stay idle",
            text.empty() ? "" : "; ", w.name, 100 * cell->value[utilisation],
            100 * w.rigid.value[utilisation], 100 * cost, 100 * (1 - cell->value[utilisation]));
    }
    text += ". The paper has 90 % for KIT_full and 98.5 % for KIT_shrunk_full";
    if (loses)
        text +=
            "; lower than rigid here, because an evolving job that asks to shrink may be left "
            "with one node, where the scheduler cannot expand it, and runs for weeks beyond "
            "the rest (the paper does not say how much such a job asks for)";
    return {"key finding 6",
            "even with 100 % flexibility utilisation is not 100 %: adaptation, negotiation and "
            "fragmentation remain",
            verdict(best > 0 && best < 1 && both), text};
}

Finding largest_difference(const Results& results) {
    constexpr double kPaper = 18.05, kPaperAt = 80, kTolerance = 0.1;
    LargestSpread most;
    std::string where;
    for (const WorkloadResults& w : results.workloads) {
        if (w.full_flexibility) continue;
        for (const Guard guard : kAllGuards) {
            const LargestSpread one = largest_spread(results, w, guard, slowdown);
            if (one.percent <= most.percent) continue;
            most = one;
            where = fmt::format("{}, {}", w.name, kGuardNames[guard]);
        }
    }
    const bool size = std::abs(most.percent - kPaper) <= kTolerance * kPaper;
    return {
        "key finding 7",
        "the largest difference in slowdown between two candidate selection techniques is "
        "18.05 %, at 80 % elastic jobs (KIT, Default)",
        all_of({verdict(size), verdict(most.at == kPaperAt)}),
        fmt::format("{:.2f} % at {:.0f} % ({}; {} best, {} worst); the paper's maximum is on "
                    "KIT, on LLNL it has 10.44 %",
                    most.percent, most.at, where, kOrderNames[most.best], kOrderNames[most.worst])};
}

// ---- section 5.3

// In how many of the percentages and (of the given) orders the guard is best, or worst.
Tally tally_of(const WorkloadResults& w, Guard guard, Metric metric, bool best,
               const std::vector<Order>& orders) {
    Tally tally;
    for (const Order v : orders) {
        // The figures' curves are told from each other as wholes.
        const auto mean = [&](Guard g) {
            double sum = 0;
            for (const auto& row : w.cells) sum += row[g][v].value[metric];
            return sum;
        };
        tally.count(std::ranges::all_of(kAllGuards, [&](Guard other) {
            if (other == guard) return true;
            return best ? is_better(metric, mean(guard), mean(other))
                        : is_better(metric, mean(other), mean(guard));
        }));
    }
    return tally;
}

struct FigureStatement {
    const char* workload;
    int figure;
    Guard guard;
    Metric metric;
    bool best;
    std::vector<Order> orders;
};

const std::vector<Order> kEveryOrder{random, gain, resource, expansion, adaptation, remaining_time};

// What the prose of section 5.3 says clearly enough to be counted.
const std::vector<FigureStatement> kStatements{
    {"LLNL", 7, application, turnaround, true, kEveryOrder},
    {"LLNL", 7, system, turnaround, false, {adaptation, expansion, gain}},
    {"LLNL", 7, by_default, turnaround, false, {random, resource, remaining_time}},
    {"LLNL", 8, system, utilisation, true, {adaptation, expansion, gain, random}},
    {"LLNL", 8, by_default, utilisation, true, {resource, remaining_time}},
    {"LLNL", 9, system, slowdown, false, {gain, resource, expansion, adaptation, remaining_time}},
    {"LLNL",
     9,
     by_default,
     slowdown,
     true,
     {random, resource, expansion, adaptation, remaining_time}},
    {"LLNL_shrunk", 10, system, turnaround, false, {gain, expansion, adaptation, remaining_time}},
    {"LLNL_shrunk",
     10,
     application,
     turnaround,
     true,
     {random, resource, adaptation, remaining_time}},
    {"LLNL_shrunk", 11, system, utilisation, true, kEveryOrder},
    {"LLNL_shrunk", 11, application, utilisation, false, kEveryOrder},
    {"LLNL_shrunk", 12, application, slowdown, true, kEveryOrder},
    {"LLNL_shrunk",
     12,
     by_default,
     slowdown,
     false,
     {random, gain, resource, expansion, remaining_time}},
    {"KIT", 2, system, utilisation, true, kEveryOrder},
    {"KIT", 1, system, turnaround, false, kEveryOrder},
    {"KIT", 3, system, slowdown, false, kEveryOrder},
    {"KIT_shrunk", 5, system, utilisation, true, kEveryOrder},
    {"KIT_shrunk", 4, system, turnaround, false, kEveryOrder},
    {"KIT_shrunk", 4, application, turnaround, true, kEveryOrder},
    {"Synthetic", 14, system, utilisation, true, kEveryOrder},
    {"Synthetic", 13, system, turnaround, false, kEveryOrder},
    {"Synthetic", 15, system, slowdown, false, {gain, resource, expansion, remaining_time}},
};

std::string names_of(const std::vector<Order>& orders) {
    if (orders.size() == kOrders) return "all techniques";
    std::string text;
    for (const Order order : orders)
        text += (text.empty() ? "" : ", ") + std::string(kOrderNames[order]);
    return text;
}

Finding finding_of(const FigureStatement& said, const WorkloadResults& workload) {
    const Tally tally = tally_of(workload, said.guard, said.metric, said.best, said.orders);
    return {
        fmt::format("figure {}", said.figure),
        fmt::format("{}: {} has the {} {} for {}", said.workload, kGuardNames[said.guard],
                    said.best ? "best" : "worst", kMetricNames[said.metric], names_of(said.orders)),
        in_all(tally),
        fmt::format("for {} of them, by the mean over the percentages", to_string(tally))};
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
        for (const Guard guard : kAllGuards)
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

std::vector<Finding> key_findings(const Results& results) {
    return {elastic_jobs_help(results),   differences_are_small(results),
            which_order_is_best(results), distribution_matters(results),
            which_guard_is_best(results), full_flexibility_is_not_enough(results),
            largest_difference(results)};
}

std::vector<Finding> figure_findings(const Results& results) {
    std::vector<Finding> findings;
    for (const FigureStatement& said : kStatements)
        for (const WorkloadResults& workload : results.workloads)
            if (workload.name == said.workload) findings.push_back(finding_of(said, workload));
    return findings;
}

}  // namespace elastic::studies::lina

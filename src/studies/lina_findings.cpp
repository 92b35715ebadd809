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

// ---- counting

constexpr std::array kAllMetrics{turnaround, utilisation, slowdown};
using Guards = std::array<Guard, 3>;

Guards guards_with(Guard algorithm7) {
    return {application, algorithm7, by_default};
}

std::vector<double> seeds_like(double value, const std::vector<double>& seeds) {
    return std::vector<double>(seeds.size(), value);
}

Answer is_better(Metric metric, const std::vector<double>& a, const std::vector<double>& b) {
    return metric == utilisation ? is_positive(difference(a, b)) : is_positive(difference(b, a));
}

Answer helps(const Cell& cell, Metric metric, const Cell& rigid) {
    return is_better(metric, cell.seeds[metric],
                     seeds_like(rigid.value[metric], cell.seeds[metric]));
}

std::string percent(double share) {
    return fmt::format("{:.0f} %", 100 * share);
}

// Calls visit(workload, index of the percentage, guard, row of cells) where jobs are limited as in
// the paper's main experiments.
template <class Visit>
void for_each_row(const Results& results, const Guards& guards, Visit visit) {
    for (const WorkloadResults& workload : results.workloads) {
        if (workload.full_flexibility) continue;
        for (std::size_t p = 0; p < results.percents.size(); ++p)
            for (const Guard guard : guards) visit(workload, p, guard, workload.cells[p][guard]);
    }
}

// Whether the best order of a row is better than the worst beyond the error.
template <class Row>
Answer is_apart(const Row& row, const Spread& spread, Metric metric) {
    return is_better(metric, row[spread.best].seeds[metric], row[spread.worst].seeds[metric]);
}

// How often each order is best and worst in a metric.
struct Ranking {
    std::array<int, kOrders> best{}, worst{};
    int rows = 0;
    int close = 0;  // rows in which best and worst are within the error

    static std::size_t most(const std::array<int, kOrders>& counts) {
        return static_cast<std::size_t>(std::ranges::max_element(counts) - counts.begin());
    }
    std::string text() const {
        return fmt::format("best most often {} ({} of {}), worst {} ({}), {} within the error",
                           kOrderNames[most(best)], best[most(best)], rows,
                           kOrderNames[most(worst)], worst[most(worst)], close);
    }
};

Ranking ranking(const Results& results, const Guards& guards, Metric metric) {
    Ranking ranks;
    for_each_row(results, guards, [&](const WorkloadResults&, std::size_t, Guard, const auto& row) {
        const Spread spread = lina::spread(row, metric);
        if (is_apart(row, spread, metric) != Answer::yes) {
            ++ranks.close;
            return;
        }
        ++ranks.best[spread.best];
        ++ranks.worst[spread.worst];
        ++ranks.rows;
    });
    return ranks;
}

// The difference between the best and the worst order of one seed, per cent of the worst, mean over
// the percentages.
std::vector<double> spreads_by_seed(const WorkloadResults& w, Guard guard, Metric metric) {
    std::vector<double> list(w.cells.front()[guard][random].seeds[metric].size());
    for (const auto& row : w.cells)
        for (std::size_t seed = 0; seed < list.size(); ++seed) {
            double low = row[guard][random].seeds[metric][seed], high = low;
            for (const Cell& cell : row[guard]) {
                low = std::min(low, cell.seeds[metric][seed]);
                high = std::max(high, cell.seeds[metric][seed]);
            }
            const double worst = metric == utilisation ? low : high;
            list[seed] += worst > 0 ? 100 * (high - low) / worst / std::size(w.cells) : 0;
        }
    return list;
}

// The same, mean over workloads and algorithms.
std::vector<double> all_spreads(const Results& results, const Guards& guards, Metric metric) {
    std::vector<double> sum;
    int lists = 0;
    for (const WorkloadResults& w : results.workloads) {
        if (w.full_flexibility) continue;
        for (const Guard guard : guards) {
            const auto one = spreads_by_seed(w, guard, metric);
            sum.resize(one.size());
            for (std::size_t seed = 0; seed < one.size(); ++seed) sum[seed] += one[seed];
            ++lists;
        }
    }
    for (double& seed : sum) seed /= std::max(lists, 1);
    return sum;
}

// ---- the seven

Finding elastic_jobs_help(const Results& results, const Guards& guards) {
    Tally lowest, all, by_logged_run;
    std::array<Tally, kMetrics> by_metric;
    for_each_row(results, guards,
                 [&](const WorkloadResults& w, std::size_t p, Guard, const auto& row) {
                     for (const Cell& cell : row) {
                         const auto logged = seeds_like(w.rigid.static_slowdown, cell.static_seeds);
                         if (p == 0)
                             by_logged_run.count(is_better(slowdown, cell.static_seeds, logged));
                         for (const Metric metric : kAllMetrics) {
                             const Answer does = helps(cell, metric, w.rigid);
                             if (p == 0) lowest.count(does);
                             if (p == 0) by_metric[metric].count(does);
                             all.count(does);
                         }
                     }
                 });
    return {"key finding 1", "even 10 % elastic jobs improve every metric in all cases",
            in_all(lowest),
            fmt::format("at {:.0f} % better than rigid in {} (turnaround {}, utilisation {}, "
                        "slowdown {}; by the run time in the log {}); at all percentages in {}",
                        results.percents.front(), to_string(lowest),
                        to_string(by_metric[turnaround]), to_string(by_metric[utilisation]),
                        to_string(by_metric[slowdown]), to_string(by_logged_run), to_string(all))};
}

Finding differences_are_small(const Results& results, const Guards& guards) {
    constexpr double kSmall = 1;  // per cent between best and worst
    Tally small;
    std::array<Tally, kMetrics> by_metric;
    for_each_row(results, guards, [&](const WorkloadResults&, std::size_t, Guard, const auto& row) {
        for (const Metric metric : kAllMetrics) {
            const Spread one = spread(row, metric);
            const bool is = one.percent < kSmall || is_apart(row, one, metric) != Answer::yes;
            small.count(is);
            by_metric[metric].count(is);
        }
    });
    return {
        "key finding 2",
        "in many cases the difference between candidate selection techniques is insignificant",
        small.share() >= 1.0 / 3 ? Verdict::confirmed
        : small.share() >= 0.1   ? Verdict::partly
                                 : Verdict::not_confirmed,
        fmt::format("best and worst are less than {:.0f} % or the error apart in {} (turnaround "
                    "{}, utilisation {}, slowdown {}); counted as many: a third",
                    kSmall, to_string(small), to_string(by_metric[turnaround]),
                    to_string(by_metric[utilisation]), to_string(by_metric[slowdown]))};
}

Finding which_order_is_best(const Results& results, const Guards& guards) {
    const Ranking tat = ranking(results, guards, turnaround),
                  use = ranking(results, guards, utilisation),
                  slow = ranking(results, guards, slowdown);
    const auto worst_of_slowdown = Ranking::most(slow.worst);
    const auto part = [](const Ranking& ranks, bool holds) {
        return ranks.rows > 0 ? verdict(holds) : Verdict::undecided;
    };
    const std::array spreads{all_spreads(results, guards, turnaround),
                             all_spreads(results, guards, utilisation),
                             all_spreads(results, guards, slowdown)};
    const auto is_more_visible = [&](Metric a, Metric b) {
        return is_positive(difference(spreads[a], spreads[b]));
    };
    const std::vector<Verdict> parts{
        part(tat, Ranking::most(tat.best) == gain),
        part(tat, Ranking::most(tat.worst) == random),
        part(use, Ranking::most(use.best) == random),
        part(use, Ranking::most(use.worst) == resource),
        part(slow, Ranking::most(slow.best) == gain),
        part(slow, worst_of_slowdown == random || worst_of_slowdown == resource),
        verdict(
            both(is_more_visible(slowdown, utilisation), is_more_visible(slowdown, turnaround))),
        verdict(is_more_visible(utilisation, turnaround)),
    };
    const auto holding = std::ranges::count(parts, Verdict::confirmed);
    return {
        "key finding 3",
        "turnaround: Gain best, Random worst; utilisation: Random best, Resource worst; "
        "slowdown: Gain best, Random and Resource worst; differences most visible in slowdown, "
        "least in turnaround",
        all_of(parts),
        fmt::format("{} of {} parts hold. Turnaround: {}; utilisation: {}; slowdown: {}; best and "
                    "worst of a seed are {:.1f} %, {:.1f} %, {:.1f} % apart in the mean",
                    holding, parts.size(), tat.text(), use.text(), slow.text(),
                    mean_of(spreads[turnaround]), mean_of(spreads[utilisation]),
                    mean_of(spreads[slowdown]))};
}

// By how much turnaround still improves beyond half of the percentages, in parts of the rigid
// workload's, over all policies, by seed: where it saturates, little.
std::vector<double> late_gain(const Results& results, const Guards& guards,
                              const WorkloadResults& w) {
    const std::size_t half = results.percents.size() / 2;
    std::vector<double> gains(w.cells.front()[application][random].seeds[turnaround].size());
    for (const Guard guard : guards)
        for (std::size_t v = 0; v < kOrders; ++v)
            for (std::size_t seed = 0; seed < gains.size(); ++seed)
                gains[seed] += (w.cells[half - 1][guard][v].seeds[turnaround][seed] -
                                w.cells.back()[guard][v].seeds[turnaround][seed]) /
                               (guards.size() * kOrders * w.rigid.value[turnaround]);
    return gains;
}

Finding distribution_matters(const Results& results, const Guards& guards) {
    std::string text;
    const WorkloadResults* synthetic = nullptr;
    std::vector<const WorkloadResults*> logs;
    for (const WorkloadResults& w : results.workloads) {
        if (w.full_flexibility) continue;
        (w.synthetic ? synthetic = &w : logs.emplace_back(&w));
        text +=
            fmt::format("{}{}: {} covered, turnaround improves by {} of the rigid one beyond half",
                        text.empty() ? "" : "; ", w.name, percent(w.covered),
                        percent(mean_of(late_gain(results, guards, w))));
    }
    if (!synthetic || logs.empty()) return {};
    Tally uniform, later;
    for (const WorkloadResults* w : logs) {
        uniform.count(synthetic->covered > w->covered);
        later.count(is_positive(
            difference(late_gain(results, guards, *synthetic), late_gain(results, guards, *w))));
    }
    return {"key finding 4",
            "the more uniform elastic jobs are spread over time, the more evident their impact "
            "(Synthetic improves on and on, logs saturate)",
            all_of({in_all(uniform), in_all(later)}),
            text + ". Covered: parts of the time of arrivals that bring elastic work"};
}

// Whether a guard is the best of all in one column of cells.
template <class Row>
Answer leads(const Row& row, const Guards& guards, Guard guard, std::size_t order, Metric metric) {
    Answer so = Answer::yes;
    for (const Guard other : guards)
        if (other != guard)
            so = both(so, is_better(metric, row[guard][order].seeds[metric],
                                    row[other][order].seeds[metric]));
    return so;
}

Finding which_guard_is_best(const Results& results, const Guards& guards) {
    Tally use, tat, slow;
    for (const WorkloadResults& w : results.workloads) {
        if (w.full_flexibility) continue;
        for (const auto& row : w.cells)
            for (std::size_t v = 0; v < kOrders; ++v) {
                use.count(leads(row, guards, guards[1], v, utilisation));
                tat.count(leads(row, guards, application, v, turnaround));
                slow.count(leads(row, guards, application, v, slowdown));
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
    bool loses_some = true;
    for (const WorkloadResults& w : results.workloads) {
        if (!w.full_flexibility) continue;
        const Cell* cell = nullptr;
        for (const auto& row : w.cells)
            for (const auto& guard : row)
                for (const Cell& one : guard)
                    if (!cell || one.value[utilisation] > cell->value[utilisation]) cell = &one;
        best = std::max(best, cell->value[utilisation]);
        const double cost = cell->value[utilisation] - cell->useful_utilisation;
        loses_some = loses_some && cost > 0 && cell->value[utilisation] < 1;
        text += fmt::format(
            "{}{}: at most {:.1f} % (rigid {:.1f} %), of which {:.2f} points are "
            "adaptation and negotiation; {:.1f} % stay idle",
            text.empty() ? "" : "; ", w.name, 100 * cell->value[utilisation],
            100 * w.rigid.value[utilisation], 100 * cost, 100 * (1 - cell->value[utilisation]));
    }
    text += ". The paper has 90 % for KIT_full and 98.5 % for KIT_shrunk_full";
    return {"key finding 6",
            "even with 100 % flexibility utilisation is not 100 %: adaptation, negotiation and "
            "fragmentation remain",
            best > 0 ? verdict(best < 1 && loses_some) : Verdict::undecided, text};
}

Finding largest_difference(const Results& results, const Guards& guards) {
    constexpr double kPaper = 18.05, kPaperAt = 80, kTolerance = 0.1;
    LargestSpread most;
    std::string where;
    for (const WorkloadResults& w : results.workloads) {
        if (w.full_flexibility) continue;
        for (const Guard guard : guards) {
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

// Conclusion 3 of section 6, and section 5.4 on table 3.
Finding load_levels_orders(const Results& results, const Guards& guards) {
    const WorkloadResults *plain = nullptr, *shrunk = nullptr;
    for (const WorkloadResults& w : results.workloads)
        if (!w.full_flexibility && !w.synthetic) (w.shrunk ? shrunk : plain) = &w;
    if (!plain || !shrunk) return {};
    Tally tally;
    std::string text;
    for (const Metric metric : kAllMetrics) {
        double before = 0, after = 0;
        for (const Guard guard : guards) {
            const auto a = spreads_by_seed(*plain, guard, metric),
                       b = spreads_by_seed(*shrunk, guard, metric);
            tally.count(is_positive(difference(a, b)));
            before += mean_of(a) / guards.size();
            after += mean_of(b) / guards.size();
        }
        text += fmt::format("; {} {:.2f} % and {:.2f} %", kMetricNames[metric], before, after);
    }
    return {"conclusion 3",
            "with more load the difference between candidate selection techniques vanishes",
            in_all(tally),
            fmt::format("smaller with more load in {} (algorithms and metrics); best and worst are "
                        "apart, mean over the percentages: {}, {}",
                        to_string(tally), text.substr(2), "as logged and with more load")};
}

// ---- section 5.3

// The figures' curves are told from each other as wholes: means over the percentages, by seed.
std::vector<double> curve(const WorkloadResults& w, Guard guard, Order order, Metric metric) {
    std::vector<double> list(w.cells.front()[guard][order].seeds[metric].size());
    for (const auto& row : w.cells)
        for (std::size_t seed = 0; seed < list.size(); ++seed)
            list[seed] += row[guard][order].seeds[metric][seed] / std::size(w.cells);
    return list;
}

// For how many of the orders the guard is best, or worst.
Tally tally_of(const WorkloadResults& w, const Guards& guards, Guard guard, Metric metric,
               bool best, const std::vector<Order>& orders) {
    Tally tally;
    for (const Order v : orders) {
        Answer so = Answer::yes;
        const auto own = curve(w, guard, v, metric);
        for (const Guard other : guards) {
            if (other == guard) continue;
            const auto theirs = curve(w, other, v, metric);
            so = both(so, best ? is_better(metric, own, theirs) : is_better(metric, theirs, own));
        }
        tally.count(so);
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
    {"LLNL", 8, application, utilisation, false, {adaptation, expansion, resource, remaining_time}},
    {"LLNL", 8, by_default, utilisation, false, {gain, random}},
    {"LLNL", 9, application, slowdown, false, {random}},
    {"LLNL_shrunk", 10, by_default, turnaround, false, {random, resource}},
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

Finding finding_of(const FigureStatement& said, const WorkloadResults& workload,
                   const Guards& guards) {
    const Guard guard = said.guard == system ? guards[1] : said.guard;
    const Tally tally = tally_of(workload, guards, guard, said.metric, said.best, said.orders);
    return {
        fmt::format("figure {}", said.figure),
        fmt::format("{}: {} has the {} {} for {}", said.workload, kGuardNames[said.guard],
                    said.best ? "best" : "worst", kMetricNames[said.metric], names_of(said.orders)),
        in_all(tally),
        fmt::format("for {} of them, by the mean over the percentages", to_string(tally))};
}

// "Clustered together", "perform the same".
struct ClusterStatement {
    const char* workload;
    int figure;
    Metric metric;
    bool with_system;  // all three, or Application and Default
};
const std::vector<ClusterStatement> kClusters{
    {"KIT", 1, turnaround, false},         {"KIT", 2, utilisation, false},
    {"KIT_shrunk", 6, slowdown, true},     {"Synthetic", 13, turnaround, false},
    {"Synthetic", 14, utilisation, false}, {"Synthetic", 15, slowdown, true},
};

Finding finding_of(const ClusterStatement& said, const WorkloadResults& workload,
                   const Guards& guards) {
    constexpr double kClose = 2;  // per cent
    Tally tally;
    double most = 0;
    for (const Order v : kEveryOrder)
        for (const Guard guard : {application, guards[1]}) {
            if (guard == guards[1] && !said.with_system) continue;
            const auto base = curve(workload, by_default, v, said.metric);
            Difference apart = difference(curve(workload, guard, v, said.metric), base);
            apart.mean *= 100 / mean_of(base);
            apart.error *= 100 / mean_of(base);
            tally.count(is_within(apart, kClose));
            most = std::max(most, std::abs(apart.mean));
        }
    return {fmt::format("figure {}", said.figure),
            fmt::format("{}: {} are clustered together in {}", said.workload,
                        said.with_system ? "all three" : "Application and Default",
                        kMetricNames[said.metric]),
            in_all(tally),
            fmt::format("within {:.0f} % in {}, at most {:.1f} % apart, by the mean over the "
                        "percentages",
                        kClose, to_string(tally), most)};
}

// KIT_shrunk: "Random performs the best in terms of utilization for all three algorithms".
Finding random_uses_best(const WorkloadResults& w, const Guards& guards) {
    Tally tally;
    for (const Guard guard : guards) {
        Answer so = Answer::yes;
        for (const Order other : kEveryOrder)
            if (other != random)
                so = both(so, is_better(utilisation, curve(w, guard, random, utilisation),
                                        curve(w, guard, other, utilisation)));
        tally.count(so);
    }
    return {"figure 5", w.name + ": Random has the best utilisation for all three algorithms",
            in_all(tally), "for " + to_string(tally)};
}

// KIT: "algorithm Application performs better than algorithm Default except for Random and some
// cases of Gain".
Finding application_slows_less(const WorkloadResults& w) {
    Tally tally;
    for (const Order v : {resource, expansion, adaptation, remaining_time})
        tally.count(is_better(slowdown, curve(w, application, v, slowdown),
                              curve(w, by_default, v, slowdown)));
    return {"figure 3",
            w.name + ": Application has a lower slowdown than Default but for Random and Gain",
            in_all(tally), "for " + to_string(tally)};
}

// Section 5.4: "no algorithm can achieve utilization above 91%".
Finding uses_no_more_than(const WorkloadResults& w, const Guards& guards, int figure) {
    constexpr double kMost = 0.91;
    double most = 0;
    for (const auto& row : w.cells)
        for (const Guard guard : guards)
            for (const Cell& cell : row[guard]) most = std::max(most, cell.value[utilisation]);
    return {fmt::format("figure {}", figure), w.name + ": no algorithm achieves more than 91 %",
            verdict(most <= kMost), fmt::format("at most {:.1f} %", 100 * most)};
}

// By how much utilisation rises between two percentages, by seed, mean over all policies.
std::vector<double> rise(const WorkloadResults& w, const Guards& guards, std::size_t from,
                         std::size_t to) {
    std::vector<double> list(w.cells.front()[application][random].seeds[utilisation].size());
    for (const Guard guard : guards)
        for (std::size_t v = 0; v < kOrders; ++v)
            for (std::size_t seed = 0; seed < list.size(); ++seed)
                list[seed] += 100 *
                              (w.cells[to][guard][v].seeds[utilisation][seed] -
                               w.cells[from][guard][v].seeds[utilisation][seed]) /
                              (guards.size() * kOrders);
    return list;
}

// Figures 18 and 19: "a knee is visible in the utilization curve".
Finding full_flexibility_saturates(const Results& results, const Guards& guards) {
    Tally tally;
    std::string text;
    const std::size_t half = results.percents.size() / 2 - 1, last = results.percents.size() - 1;
    for (const WorkloadResults& w : results.workloads) {
        if (!w.full_flexibility) continue;
        const auto early = rise(w, guards, 0, half), late = rise(w, guards, half, last);
        tally.count(is_positive(difference(early, late)));
        text += fmt::format("{}{}: by {:.1f} points up to {:.0f} %, by {:.1f} from there",
                            text.empty() ? "" : "; ", w.name, mean_of(early),
                            results.percents[half], mean_of(late));
    }
    return {"figures 18, 19",
            "with 100 % flexibility utilisation saturates at a certain percentage of elastic jobs",
            tally.of > 0 ? in_all(tally) : Verdict::undecided,
            text + ". Counted as a knee: it rises more before half than behind"};
}

// Figures 16 and 17.
Finding always_elastic(const Results& results) {
    const auto without = [](const WorkloadResults& w) {
        return std::ranges::count(w.arrivals.elastic[0], 0.0);
    };
    std::string text;
    bool synthetic = true, others = true, any = false;
    for (const WorkloadResults& w : results.workloads) {
        if (w.full_flexibility || w.arrivals.all.empty()) continue;
        any = true;
        (w.synthetic ? synthetic : others) =
            w.synthetic ? synthetic && without(w) == 0 : others && without(w) > 0;
        text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", w.name, without(w));
    }
    return {
        "figures 16, 17", "in Synthetic there are always elastic jobs, in the other workloads not",
        any ? all_of({verdict(synthetic), verdict(others)}) : Verdict::undecided,
        "parts of a hundred of the time of arrivals without any, at 30 % elastic jobs: " + text};
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

std::vector<Finding> key_findings(const Results& results, Guard algorithm7) {
    const Guards guards = guards_with(algorithm7);
    return {elastic_jobs_help(results, guards),   differences_are_small(results, guards),
            which_order_is_best(results, guards), distribution_matters(results, guards),
            which_guard_is_best(results, guards), full_flexibility_is_not_enough(results),
            largest_difference(results, guards),  load_levels_orders(results, guards)};
}

std::vector<Finding> figure_findings(const Results& results, Guard algorithm7) {
    const Guards guards = guards_with(algorithm7);
    std::vector<Finding> findings;
    const auto add = [&](const auto& list) {
        for (const auto& said : list)
            for (const WorkloadResults& workload : results.workloads)
                if (workload.name == said.workload)
                    findings.push_back(finding_of(said, workload, guards));
    };
    add(kStatements);
    add(kClusters);
    for (const WorkloadResults& workload : results.workloads) {
        if (workload.name == "KIT") {
            findings.push_back(uses_no_more_than(workload, guards, 2));
            findings.push_back(application_slows_less(workload));
        }
        if (workload.name == "KIT_shrunk") {
            findings.push_back(uses_no_more_than(workload, guards, 5));
            findings.push_back(random_uses_best(workload, guards));
        }
    }
    findings.push_back(full_flexibility_saturates(results, guards));
    findings.push_back(always_elastic(results));
    return findings;
}

}  // namespace elastic::studies::lina

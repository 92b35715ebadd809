// SPDX-License-Identifier: MIT
// What the numbers say of the key findings of [lina].
//
// A finding is worked out from the results alone; the paper's words decide only what is counted.
// Where the paper says "most" or "many" without a number, the rule is in the finding's own text, so
// that a reader can disagree with it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "studies/lina/counting.hpp"

namespace elastic::studies::lina {
namespace {

std::vector<double> seeds_like(double value, const std::vector<double>& seeds) {
    return std::vector<double>(seeds.size(), value);
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
    Tally lowest, all;
    std::array<Tally, kMetrics> by_metric;
    for_each_row(results, guards,
                 [&](const WorkloadResults& w, std::size_t p, Guard, const auto& row) {
                     for (const Cell& cell : row)
                         for (const Metric metric : kAllMetrics) {
                             const Answer does = helps(cell, metric, w.rigid);
                             if (p == 0) lowest.count(does);
                             if (p == 0) by_metric[metric].count(does);
                             all.count(does);
                         }
                 });
    std::string each;
    for (const Metric metric : kAllMetrics)
        each += fmt::format("{}{} {}", each.empty() ? "" : ", ", kMetricNames[metric],
                            to_string(by_metric[metric]));
    return {"key finding 1", "even 10 % elastic jobs improve every metric in all cases",
            in_all(lowest),
            fmt::format("at {:.0f} % better than rigid in {} ({}); at all percentages in {}",
                        results.percents.front(), to_string(lowest), each, to_string(all))};
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
    return {"key finding 2",
            "in many cases the difference between candidate selection techniques is insignificant",
            small.share() >= 1.0 / 3 ? Verdict::confirmed
            : small.share() >= 0.1   ? Verdict::partly
                                     : Verdict::not_confirmed,
            fmt::format(
                "best and worst are less than {:.0f} % or the error apart in {} (turnaround "
                "{}, utilisation {}, slowdown {}, static slowdown {}); counted as many: a third",
                kSmall, to_string(small), to_string(by_metric[turnaround]),
                to_string(by_metric[utilisation]), to_string(by_metric[slowdown]),
                to_string(by_metric[static_slowdown]))};
}

// "" for the measure that stands first.
std::string by(Metric slow) {
    return slow == slowdown ? "" : ", by the run time in the log";
}

Finding which_order_is_best(const Results& results, const Guards& guards, Metric slow_metric) {
    const Ranking tat = ranking(results, guards, turnaround),
                  use = ranking(results, guards, utilisation),
                  slow = ranking(results, guards, slow_metric);
    const auto worst_of_slowdown = Ranking::most(slow.worst);
    const auto part = [](const Ranking& ranks, bool holds) {
        return ranks.rows > 0 ? verdict(holds) : Verdict::undecided;
    };
    const std::array spreads{all_spreads(results, guards, turnaround),
                             all_spreads(results, guards, utilisation),
                             all_spreads(results, guards, slow_metric)};
    // Of the three, in this order.
    const auto is_more_visible = [&](std::size_t a, std::size_t b) {
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
    return {"key finding 3" + by(slow_metric),
            "turnaround: Gain best, Random worst; utilisation: Random best, Resource worst; "
            "slowdown: Gain best, Random and Resource worst; differences most visible in slowdown, "
            "least in turnaround",
            all_of(parts),
            fmt::format("{} of {} parts hold. Turnaround: {}; utilisation: {}; {}: {}; best and "
                        "worst of a seed are {:.1f} %, {:.1f} %, {:.1f} % apart in the mean",
                        holding, parts.size(), tat.text(), use.text(), name_of(slow_metric),
                        slow.text(), mean_of(spreads[turnaround]), mean_of(spreads[utilisation]),
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

Finding which_guard_is_best(const Results& results, const Guards& guards, Metric slow_metric) {
    Tally use, tat, slow;
    for (const WorkloadResults& w : results.workloads) {
        if (w.full_flexibility) continue;
        for (const auto& row : w.cells)
            for (std::size_t v = 0; v < kOrders; ++v) {
                use.count(leads(row, guards, guards[1], v, utilisation));
                tat.count(leads(row, guards, application, v, turnaround));
                slow.count(leads(row, guards, application, v, slow_metric));
            }
    }
    return {"key finding 5" + by(slow_metric),
            "System always has the highest utilisation; Application mostly the lowest turnaround "
            "time and slowdown",
            all_of({in_all(use), in_most(tat), in_most(slow)}),
            fmt::format("System leads in utilisation in {}; Application in turnaround in {}, in "
                        "{} in {}",
                        to_string(use), to_string(tat), name_of(slow_metric), to_string(slow))};
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

Finding largest_difference(const Results& results, const Guards& guards, Metric slow_metric) {
    constexpr double kPaper = 18.05, kPaperAt = 80, kTolerance = 0.1;
    LargestSpread most;
    std::string where;
    for (const WorkloadResults& w : results.workloads) {
        if (w.full_flexibility) continue;
        for (const Guard guard : guards) {
            const LargestSpread one = largest_spread(results, w, guard, slow_metric);
            if (one.percent <= most.percent) continue;
            most = one;
            where = fmt::format("{}, {}", w.name, kGuardNames[guard]);
        }
    }
    const bool size = std::abs(most.percent - kPaper) <= kTolerance * kPaper;
    return {
        "key finding 7" + by(slow_metric),
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

}  // namespace

std::vector<Finding> key_findings(const Results& results, Guard algorithm7) {
    const Guards guards = guards_with(algorithm7);
    return {elastic_jobs_help(results, guards),
            differences_are_small(results, guards),
            which_order_is_best(results, guards, slowdown),
            distribution_matters(results, guards),
            which_guard_is_best(results, guards, slowdown),
            full_flexibility_is_not_enough(results),
            largest_difference(results, guards, slowdown),
            load_levels_orders(results, guards),
            which_order_is_best(results, guards, static_slowdown),
            which_guard_is_best(results, guards, static_slowdown),
            largest_difference(results, guards, static_slowdown)};
}

}  // namespace elastic::studies::lina

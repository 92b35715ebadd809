// SPDX-License-Identifier: MIT
// What [lina] says of its figures in section 5.3, where that is clear enough to be counted.
//
// As in lina_findings.cpp, a finding is worked out from the results alone; the paper's words decide
// only what is counted.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "studies/lina/counting.hpp"

namespace elastic::studies::lina {
namespace {

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
                   const Guards& guards, Metric metric) {
    const Guard guard = said.guard == system ? guards[1] : said.guard;
    const Tally tally = tally_of(workload, guards, guard, metric, said.best, said.orders);
    return {fmt::format("figure {}", said.figure),
            fmt::format("{}: {} has the {} {} for {}", said.workload, kGuardNames[said.guard],
                        said.best ? "best" : "worst", name_of(metric), names_of(said.orders)),
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
                   const Guards& guards, Metric metric) {
    constexpr double kClose = 2;  // per cent
    Tally tally;
    double most = 0;
    for (const Order v : kEveryOrder)
        for (const Guard guard : {application, guards[1]}) {
            if (guard == guards[1] && !said.with_system) continue;
            const auto base = curve(workload, by_default, v, metric);
            Difference apart = difference(curve(workload, guard, v, metric), base);
            apart.mean *= 100 / mean_of(base);
            apart.error *= 100 / mean_of(base);
            tally.count(is_within(apart, kClose));
            most = std::max(most, std::abs(apart.mean));
        }
    return {
        fmt::format("figure {}", said.figure),
        fmt::format("{}: {} are clustered together in {}", said.workload,
                    said.with_system ? "all three" : "Application and Default", name_of(metric)),
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
Finding application_slows_less(const WorkloadResults& w, Metric metric) {
    Tally tally;
    for (const Order v : {resource, expansion, adaptation, remaining_time})
        tally.count(
            is_better(metric, curve(w, application, v, metric), curve(w, by_default, v, metric)));
    return {"figure 3",
            fmt::format("{}: Application has a lower {} than Default but for Random and Gain",
                        w.name, name_of(metric)),
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

std::vector<Finding> figure_findings(const Results& results, Guard algorithm7) {
    const Guards guards = guards_with(algorithm7);
    std::vector<Finding> findings;
    const auto add = [&](const auto& list) {
        for (const auto& said : list)
            for (const WorkloadResults& workload : results.workloads) {
                if (workload.name != said.workload) continue;
                findings.push_back(finding_of(said, workload, guards, said.metric));
                if (said.metric != slowdown) continue;
                findings.push_back(finding_of(said, workload, guards, static_slowdown));
            }
    };
    add(kStatements);
    add(kClusters);
    for (const WorkloadResults& workload : results.workloads) {
        if (workload.name == "KIT") {
            findings.push_back(uses_no_more_than(workload, guards, 2));
            for (const Metric metric : kSlowdowns)
                findings.push_back(application_slows_less(workload, metric));
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

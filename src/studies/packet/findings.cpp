// SPDX-License-Identifier: MIT
// One function a statement of [packet], in the order of its sections 5, 7 and 8.  All are judged by
// paired differences over the seeds (report.hpp); what the paper leaves in words has one number
// here: a plateau is reached where no metric is further from its value at the greatest scale ratio
// than a twentieth of what it changes over all ratios.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "studies/packet/results.hpp"

namespace elastic::studies::packet {
namespace {

constexpr double kFirst = 0.1, kLast = 1000;

const Flow kWorkload085{true, 0.85};
const Flow kWorkload090{true, 0.90};

// Value at one ratio less that at another, of the same seeds.
Difference change(const Curve& curve, double at, double less, Metric metric) {
    return difference(curve.values(at, metric), curve.values(less, metric));
}

Answer falls(const Curve& curve, double from, double to, Metric metric) {
    return is_positive(change(curve, from, to, metric));
}

double plateau_width(const Curve& curve, Metric metric) {
    return kPlateau * std::abs(curve.mean(kFirst, metric) - curve.mean(kLast, metric));
}

Answer is_flat_from(const Curve& curve, double from, Metric metric) {
    Answer all = Answer::yes;
    for (const double ratio : scale_ratios())
        if (ratio >= from && ratio < kLast)
            all = both(
                all, is_within(change(curve, ratio, kLast, metric), plateau_width(curve, metric)));
    return all;
}

double flat_from(const Curve& curve, Metric metric) {
    return plateau_begins(curve.means(metric));
}

Answer is_zero_from(const Curve& curve, double from) {
    constexpr Duration kZero = 1;
    const std::vector<double> nothing(curve.values(from, kMedianQueueTime).size(), 0.0);
    Answer all = Answer::yes;
    for (const double ratio : scale_ratios())
        if (ratio >= from)
            all = both(
                all, is_within(difference(curve.values(ratio, kMedianQueueTime), nothing), kZero));
    return all;
}

constexpr const char* kMoreUseful = "the higher the scale ratio, the higher the useful utilisation";
constexpr const char* kUsefulSignificance =
    "no statistically significant effect of the scale ratio on useful utilisation";
constexpr const char* kUsefulInfluence = "the scale ratio does not influence useful utilisation";
constexpr const char* kHomogeneity =
    "homogeneity changes the absolute values alone, not how the scale ratio acts";

// By decades, up to where the plateau is said to begin.
Tally falling(const Curve& curve, Metric metric) {
    Tally tally;
    tally.count(falls(curve, 0.1, 1, metric));
    tally.count(falls(curve, 1, 10, metric));
    return tally;
}

void add(Tally& sum, const Tally& more) {
    sum.holds += more.holds, sum.of += more.of, sum.undecided += more.undecided;
}

std::string percent(double share) {
    return fmt::format("{:.0f} %", 100 * share);
}

// Section 5.
Finding less_initialisation(const Results& results) {
    Tally tally;
    for (const Curve& curve : results.curves) {
        const auto wasted = [&](double ratio) {
            std::vector<double> full = curve.values(ratio, kFullUtilisation);
            const std::vector<double> useful = curve.values(ratio, kUsefulUtilisation);
            for (std::size_t i = 0; i < full.size(); ++i) full[i] -= useful[i];
            return full;
        };
        tally.count(is_positive(difference(wasted(0.1), wasted(1))));
        tally.count(is_positive(difference(wasted(1), wasted(10))));
    }
    return {"section 5", "the higher the scale ratio, the less is spent on initialisations",
            in_all(tally), fmt::format("from 0.1 to 1 and from 1 to 10, in {}", to_string(tally))};
}

Finding more_useful(const Results& results) {
    Tally tally;
    for (const Curve& curve : results.curves)
        tally.count(opposite(falls(curve, kFirst, kLast, kUsefulUtilisation)));
    const Curve& one = results.at(kWorkload085, kShares.back());
    return {"section 5", kMoreUseful, in_all(tally),
            fmt::format("from 0.1 to 1000, in {}; Workload0.85 with 50 %: {:.1f} and {:.1f} %",
                        to_string(tally), 100 * one.mean(kFirst, kUsefulUtilisation),
                        100 * one.mean(kLast, kUsefulUtilisation))};
}

// Section 7.
Finding mean_falls(const std::string& place, const Curve& curve) {
    return {place,
            fmt::format("Workload{:.2f}, {}: the average queue time falls with the scale ratio",
                        curve.flow.load, percent(curve.share)),
            in_all(falling(curve, kMeanQueueTime)),
            fmt::format("{:.0f} s at 0.1, {:.0f} s at 1, {:.0f} s at 10, {:.0f} s at 1000",
                        curve.mean(0.1, kMeanQueueTime), curve.mean(1, kMeanQueueTime),
                        curve.mean(10, kMeanQueueTime), curve.mean(1000, kMeanQueueTime))};
}

Finding mean_is_flat(const std::string& place, const Curve& curve, double from) {
    return {place,
            fmt::format("Workload{:.2f}, {}: above {:.0f} the average queue time is on a plateau",
                        curve.flow.load, percent(curve.share), from),
            verdict(is_flat_from(curve, from, kMeanQueueTime)),
            fmt::format("the plateau begins at {}; {:.0f} s at {:.0f}, {:.0f} s at 1000",
                        exact(flat_from(curve, kMeanQueueTime)), curve.mean(from, kMeanQueueTime),
                        from, curve.mean(kLast, kMeanQueueTime))};
}

Finding median_is_zero(const std::string& place, const Curve& curve, double from) {
    return {place,
            fmt::format("Workload{:.2f}, {}: from {:.0f} on the median queue time is 0",
                        curve.flow.load, percent(curve.share), from),
            verdict(is_zero_from(curve, from)),
            fmt::format("{:.1f} s at 1, {:.1f} s at {:.0f}, {:.1f} s at 1000",
                        curve.mean(1, kMedianQueueTime), curve.mean(from, kMedianQueueTime), from,
                        curve.mean(kLast, kMedianQueueTime))};
}

Finding median_before_mean(const Results& results) {
    const Curve& curve = results.at(kWorkload085, 0.05);
    const double median = flat_from(curve, kMedianQueueTime),
                 mean = flat_from(curve, kMeanQueueTime);
    return {"figure 5",
            "the median queue time reaches its plateau at a lower scale ratio than the average",
            verdict(median < mean), fmt::format("at {} and at {}", exact(median), exact(mean))};
}

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
    const double mean_a = mean_of(a), mean_b = mean_of(b);
    double ab = 0, aa = 0, bb = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        ab += (a[i] - mean_a) * (b[i] - mean_b);
        aa += (a[i] - mean_a) * (a[i] - mean_a);
        bb += (b[i] - mean_b) * (b[i] - mean_b);
    }
    return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

Finding length_is_like_time(const Results& results) {
    Tally tally;
    double least = 1;
    for (const Curve& curve : results.curves) {
        const double r = correlation(curve.means(kQueueLength), curve.means(kMeanQueueTime));
        tally.count(r >= 0.99);
        least = std::min(least, r);
    }
    return {
        "figure 6", "the average queue length looks similar to the average queue time",
        in_all(tally),
        fmt::format("correlation over the scale ratios of at least 0.99 in {}, the least {:.4f}",
                    to_string(tally), least)};
}

Finding table_is_near(const Results& results, const PrintedTable& table) {
    constexpr double kNear = 2;  // times
    Nearness near;
    for (std::size_t row = 0; row < table.shares.size(); ++row)
        for (std::size_t k = 0; k < table.printed[row].size(); ++k)
            near.count(results.at({true, table.load}, table.shares[row])
                           .mean(scale_ratios()[k], table.metric),
                       table.printed[row][k], kNear);
    return {table.name, table.title + ": our numbers are within a factor of two",
            every_value(near.tally), to_string(near)};
}

Finding falls_for_every_share(const Results& results) {
    Tally tally;
    for (const double share : kShares)
        add(tally, falling(results.at(kWorkload085, share), kMeanQueueTime));
    return {"figure 8", "Workload0.85: the average queue time falls with any initialisation share",
            in_all(tally), "from 0.1 to 1 and from 1 to 10, in " + to_string(tally)};
}

Finding flat_for_every_share(const Results& results) {
    Tally tally;
    std::string from;
    for (const double share : kShares) {
        const Curve& curve = results.at(kWorkload085, share);
        tally.count(is_flat_from(curve, 20, kMeanQueueTime));
        from += fmt::format("{}{} with {}", from.empty() ? "" : ", ",
                            exact(flat_from(curve, kMeanQueueTime)), percent(share));
    }
    return {"figure 8", "Workload0.85: above 20 the average queue time is on a plateau",
            in_all(tally), fmt::format("in {}; it begins at {}", to_string(tally), from)};
}

// What figures 8 and 9 show: the ratios above those of table 2.
Finding small_shares_wait_longest(const Results& results) {
    Tally ends, middle;
    for (const Flow& flow : homogeneous_flows())
        for (const double ratio : scale_ratios()) {
            if (ratio <= 0.5 || ratio > 20) continue;
            const auto at = [&](double share) {
                return results.at(flow, share).values(ratio, kMeanQueueTime);
            };
            ends.count(is_positive(difference(at(0.05), at(0.50))));
            middle.count(both(is_positive(difference(at(0.05), at(0.30))),
                              is_positive(difference(at(0.30), at(0.50)))));
        }
    const Curve &five = results.at(kWorkload085, 0.05), &fifty = results.at(kWorkload085, 0.50);
    return {"figures 8 and 9",
            "the average queue time is longest with 5 % and shortest with 50 %, in all workloads",
            in_all(ends),
            fmt::format("5 over 50 % in {} for ratios 0.6 to 20, with 30 % between them in {}; "
                        "Workload0.85: {:.0f} and {:.0f} s at 1, {:.0f} and {:.0f} s at 20",
                        to_string(ends), to_string(middle), five.mean(1, kMeanQueueTime),
                        fifty.mean(1, kMeanQueueTime), five.mean(20, kMeanQueueTime),
                        fifty.mean(20, kMeanQueueTime))};
}

Finding large_shares_begin_longest(const Results& results) {
    const Curve &five = results.at(kWorkload085, 0.05), &fifty = results.at(kWorkload085, 0.50);
    return {"table 2", "at 0.1 it is the other way round: longest with 50 %, shortest with 5 %",
            verdict(is_positive(
                difference(fifty.values(0.1, kMeanQueueTime), five.values(0.1, kMeanQueueTime)))),
            fmt::format("{:.0f} s with 50 %, {:.0f} s with 5 %; the paper 9448 and 1493 s",
                        fifty.mean(0.1, kMeanQueueTime), five.mean(0.1, kMeanQueueTime))};
}

Finding falls_everywhere(const Results& results) {
    Tally tally;
    for (const Curve& curve : results.curves) {
        add(tally, falling(curve, kMeanQueueTime));
        tally.count(falls(curve, 0.1, 1, kMedianQueueTime));
    }
    return {"section 7", "average and median queue time fall, whatever the workload and the share",
            in_all(tally), to_string(tally)};
}

Finding load_waits(const Results& results) {
    Tally tally;
    for (const double ratio : scale_ratios())
        for (std::size_t i = 0; i + 1 < kLoads.size(); ++i)
            tally.count(is_positive(
                difference(results.at({true, kLoads[i + 1]}, 0.05).values(ratio, kMeanQueueTime),
                           results.at({true, kLoads[i]}, 0.05).values(ratio, kMeanQueueTime))));
    return {"figure 10", "the higher the load, the longer the average queue time", in_all(tally),
            "at 5 %, each load with the one below, in " + to_string(tally)};
}

Finding flat_for_every_load(const Results& results) {
    Tally tally;
    for (const Flow& flow : homogeneous_flows())
        tally.count(is_flat_from(results.at(flow, 0.05), 50, kMeanQueueTime));
    return {"figure 10", "at 5 % the average queue time is on a plateau above 50, at each load",
            in_all(tally), to_string(tally)};
}

Finding reduce_the_ratio(const Results& results) {
    Tally tally;
    for (const Curve& curve : results.curves)
        tally.count(opposite(falls(curve, kFirst, 10, kMeanQueueTime)));
    return {"section 7", "to reduce the average queue time, the scale ratio should be reduced",
            in_all(tally),
            fmt::format("0.1 waits less than 10 in {}; figures 5 to 10 of the paper, too, say the "
                        "opposite of this sentence",
                        to_string(tally))};
}

Finding full_falls(const Results& results) {
    Tally tally;
    for (const double share : kShares)
        tally.count(falls(results.at(kWorkload085, share), kFirst, kLast, kFullUtilisation));
    const Curve& five = results.at(kWorkload085, 0.05);
    return {"figure 11", "Workload0.85: full utilisation falls with the scale ratio at any share",
            in_all(tally),
            fmt::format("from 0.1 to 1000, in {}; with 5 %: {:.1f} and {:.1f} %", to_string(tally),
                        100 * five.mean(kFirst, kFullUtilisation),
                        100 * five.mean(kLast, kFullUtilisation))};
}

Finding full_falls_with_load(const Results& results) {
    Tally tally;
    for (const Flow& flow : homogeneous_flows())
        tally.count(falls(results.at(flow, 0.05), kFirst, kLast, kFullUtilisation));
    return {"figure 12", "at 5 % full utilisation is highest at low scale ratios, at each load",
            in_all(tally), "0.1 over 1000 in " + to_string(tally)};
}

// The widest difference of the means over the ratios.
double spread(const Curve& curve, Metric metric) {
    const std::vector<double> means = curve.means(metric);
    return std::ranges::max(means) - std::ranges::min(means);
}

Finding useful_changes_slightly(const Results& results) {
    constexpr double kSlightly = 0.03;
    Tally tally;
    std::string spreads;
    for (const double share : kShares) {
        const Curve& curve = results.at(kWorkload085, share);
        tally.count(spread(curve, kUsefulUtilisation) <= kSlightly);
        spreads += fmt::format("{}{:.1f}", spreads.empty() ? "" : ", ",
                               100 * spread(curve, kUsefulUtilisation));
    }
    return {"figure 13", "Workload0.85: useful utilisation changes slightly with the scale ratio",
            in_all(tally),
            fmt::format("by no more than {:.0f} units in {}; by {} units with 5 to 50 %",
                        100 * kSlightly, to_string(tally), spreads)};
}

// Whether no decade differs from the last ratio by more than the error.
Answer has_no_effect(const Curve& curve, Metric metric) {
    for (const double ratio : {0.1, 1.0, 10.0, 100.0})
        if (is_positive(change(curve, ratio, kLast, metric)) != Answer::undecided)
            return Answer::no;
    return Answer::yes;
}

Finding useful_is_not_affected(const Results& results) {
    Tally tally;
    for (const Flow& flow : homogeneous_flows())
        for (const double share : kShares)
            tally.count(has_no_effect(results.at(flow, share), kUsefulUtilisation));
    return {"figures 13 and 14", kUsefulSignificance, in_all(tally),
            fmt::format("none of 0.1, 1, 10 and 100 differs from 1000 by more than the error in {}",
                        to_string(tally))};
}

// Section 8, which has the heterogeneous flows, too.
Finding flat_from_50(const Results& results) {
    Tally waits, use;
    for (const Curve& curve : results.curves) {
        waits.count(is_flat_from(curve, 50, kMeanQueueTime));
        use.count(is_flat_from(curve, 50, kFullUtilisation));
    }
    return {"section 6", "scale ratios over 50 influence no metric for any of the workflows",
            all_of({in_all(waits), in_all(use)}),
            fmt::format("the average queue time is on its plateau in {}, full utilisation in {}",
                        to_string(waits), to_string(use))};
}

Finding all_fall(const Results& results) {
    Tally tally;
    for (const Curve& curve : results.curves)
        for (const Metric metric : {kQueueLength, kMeanQueueTime, kMedianQueueTime})
            tally.count(falls(curve, kFirst, 10, metric));
    return {"section 8",
            "queue length, average and median queue time fall as the scale ratio increases",
            in_all(tally), "from 0.1 to 10, in " + to_string(tally)};
}

Finding full_is_greatest_at_low(const Results& results) {
    Tally tally;
    for (const Curve& curve : results.curves) {
        const std::vector<double> means = curve.means(kFullUtilisation);
        const auto most = std::ranges::max_element(means) - means.begin();
        tally.count(scale_ratios()[static_cast<std::size_t>(most)] <= 1);
    }
    return {"section 8", "full utilisation is greatest at low scale ratios", in_all(tally),
            "at a ratio of at most 1 in " + to_string(tally)};
}

Finding useful_is_not_affected_anywhere(const Results& results) {
    Tally tally;
    double widest = 0;
    for (const Curve& curve : results.curves) {
        tally.count(has_no_effect(curve, kUsefulUtilisation));
        widest = std::max(widest, spread(curve, kUsefulUtilisation));
    }
    return {"section 8", kUsefulInfluence, in_all(tally),
            fmt::format("no difference beyond the error in {}; the widest spread is {:.0f} units",
                        to_string(tally), 100 * widest)};
}

std::vector<double> logarithms(std::vector<double> values) {
    for (double& value : values) value = std::log(1 + value);
    return values;
}

Finding homogeneity_does_not_matter(const Results& results) {
    constexpr double kAlike = 0.9;
    Tally tally;
    for (const double load : kLoads)
        for (const double share : kShares) {
            const Curve& even = results.at({true, load}, share);
            const Curve& mixed = results.at({false, load}, share);
            tally.count(correlation(logarithms(even.means(kMeanQueueTime)),
                                    logarithms(mixed.means(kMeanQueueTime))) >= kAlike);
        }
    return {"section 8", kHomogeneity, in_all(tally),
            fmt::format("logarithms of the average queue times of both correlate with at least {} "
                        "in {}; with 5 %, load 0.85, the plateau begins at {} (homogeneous) and {}",
                        kAlike, to_string(tally),
                        exact(flat_from(results.at(kWorkload085, 0.05), kMeanQueueTime)),
                        exact(flat_from(results.at({false, 0.85}, 0.05), kMeanQueueTime)))};
}

Finding load_does_not_matter(const Results& results) {
    constexpr double kAlike = 0.9;
    Tally tally;
    for (const bool homogeneous : {true, false})
        for (const double share : kShares)
            tally.count(
                correlation(
                    logarithms(results.at({homogeneous, 0.85}, share).means(kMeanQueueTime)),
                    logarithms(results.at({homogeneous, 0.95}, share).means(kMeanQueueTime))) >=
                kAlike);
    return {"section 8", "load changes the absolute values alone, not how the scale ratio acts",
            in_all(tally),
            fmt::format("logarithms of the average queue times at 0.85 and 0.95 correlate with at "
                        "least {} in {}",
                        kAlike, to_string(tally))};
}

// What is unfinished at the last submission is not measured, and it is more where groups are
// slower.
std::string useful_reason(const Results& own, const Results& longer) {
    const auto both_spreads = [&](const Flow& flow, double share) {
        return fmt::format("{:.1f} units instead of {:.1f}",
                           100 * spread(longer.at(flow, share), kUsefulUtilisation),
                           100 * spread(own.at(flow, share), kUsefulUtilisation));
    };
    return fmt::format(
        "Ten times as long, with as much unfinished at the last submission, the means of 5 % at "
        "load "
        "0.85 spread over {} (homogeneous), {} (heterogeneous)",
        both_spreads(kWorkload085, 0.05), both_spreads({false, 0.85}, 0.05));
}

std::string homogeneity_reason(const Results& by_one_node) {
    const auto begins = [&](const Flow& flow) {
        return exact(flat_from(by_one_node.at(flow, 0.05), kMeanQueueTime));
    };
    return fmt::format(
        "With S by times on one node, so that the initialisation is as long beside a job's work in "
        "both, the plateau begins at {} (homogeneous) and {}",
        begins(kWorkload085), begins({false, 0.85}));
}

}  // namespace

const std::vector<PrintedTable>& printed_tables() {
    static const std::vector<PrintedTable> tables{
        {"table 1",
         "average queue time of Workload0.85, share 50 %",
         0.85,
         {0.50},
         {{9448, 4505, 8361, 453, 436}},
         kMeanQueueTime},
        {"table 1",
         "median queue time of Workload0.85, share 50 %",
         0.85,
         {0.50},
         {{8187, 3671, 7306, 203, 189}},
         kMedianQueueTime},
        {"table 2",
         "average queue time of Workload0.85",
         0.85,
         {0.05, 0.10, 0.30, 0.50},
         {{1493, 1241, 1195, 986, 1204},
          {1577, 1488, 1129, 1055, 915},
          {7019, 864, 759, 508, 416},
          {9448, 4505, 8361, 453, 436}},
         kMeanQueueTime},
        {"table 3",
         "average queue time of Workload0.90, share 5 %",
         0.90,
         {0.05},
         {{2722, 2423, 1611, 1921, 1272}},
         kMeanQueueTime},
    };
    return tables;
}

std::vector<Finding> findings(const Results& results) {
    const Curve& five = results.at(kWorkload085, 0.05);
    const Curve& fifty = results.at(kWorkload085, 0.50);
    std::vector<Finding> list{
        less_initialisation(results),        more_useful(results),
        mean_falls("figure 5", five),        mean_is_flat("figure 5", five, 20),
        median_is_zero("figure 5", five, 8), median_before_mean(results),
        length_is_like_time(results),        median_is_zero("figure 7", fifty, 4)};
    for (const PrintedTable& table : printed_tables())
        list.push_back(table_is_near(results, table));
    for (Finding& more : std::vector<Finding>{
             falls_for_every_share(results), flat_for_every_share(results),
             small_shares_wait_longest(results), large_shares_begin_longest(results),
             mean_falls("figure 9", results.at(kWorkload090, 0.05)),
             mean_falls("figure 9", results.at(kWorkload090, 0.50)), falls_everywhere(results),
             load_waits(results), flat_for_every_load(results), reduce_the_ratio(results),
             full_falls(results), full_falls_with_load(results), useful_changes_slightly(results),
             useful_is_not_affected(results)})
        list.push_back(std::move(more));
    return list;
}

std::vector<Finding> findings_of_all(const Results& results) {
    return {flat_from_50(results),
            all_fall(results),
            full_is_greatest_at_low(results),
            useful_is_not_affected_anywhere(results),
            homogeneity_does_not_matter(results),
            load_does_not_matter(results)};
}

void add_reasons(std::vector<Finding>& list, const Results& own,
                 const std::vector<Reading>& readings) {
    const auto results_of = [&](std::string_view name) -> const Results& {
        return std::ranges::find(readings, name, &Reading::name)->results;
    };
    const std::string useful = useful_reason(own, results_of(kTenTimesAsLong));
    const std::string homogeneity = homogeneity_reason(results_of(kShareByOneNode));
    for (Finding& finding : list) {
        if (finding.statement == kMoreUseful || finding.statement == kUsefulSignificance ||
            finding.statement == kUsefulInfluence)
            finding.reason = useful;
        if (finding.statement == kHomogeneity) finding.reason = homogeneity;
    }
}

}  // namespace elastic::studies::packet

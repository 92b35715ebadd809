// SPDX-License-Identifier: MIT
// The paper's series, a day of Amazon's, is printed as a picture only.  Of it the text says: over
// 24 hours an instance costs $16.65; 12 of the hours begin with a price below $0.5 and together
// cost $4.9; a bid has to be above $1.25 to survive the day.  A year is drawn that has these in the
// mean, and what is judged is what the scheduler makes of it: whether the job has the spot nodes in
// the hours that it takes them for and in no other.
//
// Nothing here knows what the simulation will cost: the engine counts used nodes times price.
#include "studies/gupta/prices.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/model/policy.hpp"
#include "simulator/engine.hpp"
#include "simulator/random.hpp"
#include "studies/report/plot.hpp"

namespace elastic::studies {
namespace {

using namespace simulator;

constexpr Duration kHour = 3600;
constexpr int kHours = 365 * 24;
constexpr Time kYear = kHours * kHour;

// What the paper's text says of its day.
constexpr double kDayHours = 24, kDayCost = 16.65, kHighest = 1.25;
constexpr double kCheap = 0.5, kCheapHours = 12, kCheapCost = 4.9;
constexpr double kPaperSaving = 0.4;

// Prices are uniform on both sides of $0.5, about their means.
constexpr double kCheapMean = kCheapCost / kCheapHours;
constexpr double kDearMean = (kDayCost - kCheapCost) / (kDayHours - kCheapHours);
// Not in the paper: for how many hours a price stays on its side of $0.5, on average.
constexpr double kStay = 3;

constexpr int kStatic = 4, kSpot = 4;
// Table II, Stencil2D: the mean of a shrink and an expansion, seconds.
constexpr Duration kRescaleCost = (2.904 + 7.283) / 2;

constexpr double kAnyPrice = -1;
constexpr std::array kThresholds{0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.25};

SupplySeries series_of(const std::vector<double>& prices) {
    SupplySeries series;
    series.supply.sets = {"spot"};
    series.nodes = {kSpot};
    for (std::size_t hour = 0; hour < prices.size(); ++hour)
        series.supply.changes.push_back(
            {static_cast<double>(hour) * kHour, 0, prices[hour], std::nullopt});
    // Behind the year nobody takes them.
    series.supply.changes.push_back({kYear, 0, core::kMaxPrice, std::nullopt});
    return series;
}

// As much work as all nodes do in a year.
Workload workload_of(double threshold) {
    Workload workload;
    workload.nodes = kStatic + kSpot;
    Job& job = workload.jobs.emplace_back();
    job.id = 1;
    job.nodes = kStatic;
    job.run = job.estimate = kYear * workload.nodes / kStatic;
    job.elasticity = 0;
    core::Annotation& annotation = workload.elasticities.emplace_back().annotation;
    annotation.malleable = true;
    annotation.min = annotation.pref = kStatic;
    annotation.max = workload.nodes;
    // Who pays any price leaves behind the year all the same, where nothing is counted any more.
    annotation.price = threshold < 0 ? core::kMaxPrice / 2 : threshold;
    annotation.cost.sync = kRescaleCost;
    return workload;
}

PricedYear simulate_year(const std::vector<double>& prices, const SupplySeries& series,
                         double threshold) {
    SimulationOptions options;
    options.policy = *core::preset("equipartition");
    options.policy.resize_gap = 0;
    options.supply = &series;
    const Outcome outcome = simulate(workload_of(threshold), options);
    const Counters& c = outcome.counters;
    PricedYear year;
    year.threshold = threshold;
    year.effective = c.priced > 0 ? c.cost / (c.priced / kHour) : 0;
    year.usable = c.priced / (kSpot * kYear);
    year.shrinks = c.shrinks;
    year.expansions = c.expansions;
    for (const double price : prices) {
        if (threshold >= 0 && price > threshold) continue;
        year.affordable += 1.0 / kHours;
        year.mean_price += price / kHours;
    }
    if (year.affordable > 0) year.mean_price /= year.affordable;
    return year;
}

// The first hour of the day that has most in common with the paper's.
std::size_t most_similar_day(const std::vector<double>& prices) {
    std::size_t best = 0;
    double least = std::numeric_limits<double>::max();
    for (std::size_t begin = 0; begin + 24 <= prices.size(); begin += 24) {
        double cost = 0, cheap = 0;
        for (std::size_t hour = begin; hour < begin + 24; ++hour) {
            cost += prices[hour];
            cheap += prices[hour] < kCheap;
        }
        const double off =
            std::abs(cost - kDayCost) / kDayCost + std::abs(cheap - kCheapHours) / kCheapHours;
        if (off < least) {
            least = off;
            best = begin;
        }
    }
    return best;
}

Figure figure9(const std::vector<double>& prices) {
    Figure figure;
    figure.title = "As figure 9: price of a spot node on a day like the paper's";
    figure.x_label = "hour";
    figure.y_label = "price";
    figure.from_zero = true;
    Panel& panel = figure.panels.emplace_back();
    Series ours{"generated", {}}, threshold{"threshold of 0.5", {}, true};
    const std::size_t day = most_similar_day(prices);
    for (std::size_t hour = 0; hour < 24; ++hour) {
        figure.x.push_back(static_cast<double>(hour));
        ours.y.push_back(prices[day + hour]);
        threshold.y.push_back(kCheap);
    }
    panel.series = {ours, threshold};
    return figure;
}

Figure figure10(const std::vector<PricedYear>& years) {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    Figure figure;
    figure.title = "As figure 10: effective price and usable hours by threshold, over a year";
    figure.x_label = "price threshold";
    figure.y_label = "price; share of the hours";
    figure.from_zero = true;
    Series price{"effective price", {}}, usable{"usable hours", {}};
    Series paper{"effective price, paper", {}, true};
    for (const PricedYear& year : years) {
        figure.x.push_back(year.threshold < 0 ? kHighest + 0.05 : year.threshold);
        price.y.push_back(year.effective);
        usable.y.push_back(year.usable);
        paper.y.push_back(year.threshold == kCheap ? kCheapMean
                          : year.threshold < 0     ? kDayCost / kDayHours
                                                   : kNone);
    }
    figure.panels = {{"", {price, usable, paper}}};
    return figure;
}

Table table10(const std::vector<PricedYear>& years) {
    Table table({"threshold", "effective_price", "usable_hours", "mean_price_of_affordable_hours",
                 "affordable_hours", "shrinks", "expansions", "paper_effective_price",
                 "paper_usable_hours"});
    for (const PricedYear& year : years) {
        const bool is_any = year.threshold < 0, is_half = year.threshold == kCheap;
        table.add({is_any ? "any" : exact(year.threshold), fixed(year.effective, 3),
                   fixed(year.usable, 3), fixed(year.mean_price, 3), fixed(year.affordable, 3),
                   std::to_string(year.shrinks), std::to_string(year.expansions),
                   is_any    ? fixed(kDayCost / kDayHours, 2)
                   : is_half ? fixed(kCheapMean, 2)
                             : "",
                   is_any    ? "1.00"
                   : is_half ? fixed(kCheapHours / kDayHours, 2)
                             : ""});
    }
    return table;
}

void put(Report& report, const std::string& name, const Figure& figure) {
    if (check_can_draw())
        report.figure(name, figure);
    else
        report.table(name, figure.title, to_table(figure));
}

const PricedYear& at(const std::vector<PricedYear>& years, double threshold) {
    return *std::ranges::find(years, threshold, &PricedYear::threshold);
}

Finding saving(const std::vector<PricedYear>& years) {
    constexpr double kTolerance = 0.05;
    const PricedYear &half = at(years, kCheap), &any = years.back();
    const double saved = 1 - half.effective / any.effective;
    return {"section VII-B",
            "with a threshold of 0.5 the effective price is around 40 % better than at any price",
            verdict(std::abs(saved - kPaperSaving) <= kTolerance),
            fmt::format("{:.3f} and {:.3f}, {:.0f} % better (the paper: 0.41 and 0.69); the series "
                        "is made to have the paper's means",
                        half.effective, any.effective, 100 * saved)};
}

Finding half_the_hours(const std::vector<PricedYear>& years) {
    constexpr double kTolerance = 0.05;
    const double usable = at(years, kCheap).usable;
    return {"section VII-B", "with a threshold of 0.5 half of the hours are usable",
            verdict(std::abs(usable - kCheapHours / kDayHours) <= kTolerance),
            fmt::format("{:.1f} % of the year", 100 * usable)};
}

Finding trade_off(const std::vector<PricedYear>& years) {
    Tally tally;
    for (std::size_t i = 0; i + 1 < years.size(); ++i) {
        tally.count(years[i].effective <= years[i + 1].effective);
        tally.count(years[i].usable <= years[i + 1].usable);
    }
    return {"figure 10", "the lower the effective price, the fewer the usable hours", in_all(tally),
            "in " + to_string(tally) + " steps of the threshold"};
}

// What the paper supposes and does not show.
Finding nothing_is_wasted(const std::vector<PricedYear>& years) {
    constexpr double kTolerance = 1e-6;
    Tally tally;
    for (const PricedYear& year : years) {
        tally.count(std::abs(year.usable - year.affordable) <= kTolerance);
        tally.count(std::abs(year.effective - year.mean_price) <= kTolerance);
    }
    return {"section VII-B",
            "the job has the spot nodes in every hour that costs no more than its threshold, and "
            "in no other",
            in_all(tally), "hours and prices agree in " + to_string(tally)};
}

}  // namespace

std::vector<double> year_of_prices(std::uint64_t seed) {
    Random random(seed);
    std::vector<double> prices;
    bool is_cheap = random.chance(kCheapHours / kDayHours);
    const double cheap_half = kCheap - kCheapMean, dear_half = kHighest - kDearMean;
    for (int hour = 0; hour < kHours; ++hour) {
        if (random.chance(1 / kStay)) is_cheap = !is_cheap;
        prices.push_back(is_cheap ? random.uniform(kCheapMean - cheap_half, kCheapMean + cheap_half)
                                  : random.uniform(kDearMean - dear_half, kDearMean + dear_half));
    }
    return prices;
}

void reproduce_prices(Report& report, std::uint64_t seed, std::vector<Finding>& findings) {
    const std::vector<double> prices = year_of_prices(seed);
    const SupplySeries series = series_of(prices);
    std::vector<PricedYear> years;
    for (const double threshold : kThresholds)
        years.push_back(simulate_year(prices, series, threshold));
    years.push_back(simulate_year(prices, series, kAnyPrice));
    put(report, "figure9", figure9(prices));
    put(report, "figure10", figure10(years));
    report.table("prices", "A year by price threshold; paper_ columns the paper's day",
                 table10(years));
    for (Finding finding :
         {saving(years), half_the_hours(years), trade_off(years), nothing_is_wasted(years)})
        findings.push_back(std::move(finding));
}

std::vector<std::string> price_assumptions() {
    return {
        fmt::format("Prices: the paper's series is Amazon's and not printed in numbers. A year is "
                    "drawn, hour by hour: below 0.5 with mean {:.3f}, above it with mean {:.3f} up "
                    "to {}, each for half of the time, as the text says of the paper's day; that a "
                    "price stays on its side of 0.5 for {} hours on average is assumed.",
                    kCheapMean, kDearMean, kHighest, kStay),
        fmt::format("The job: {} on-demand nodes, which it keeps, and up to {} spot nodes; prices "
                    "change on the hour, and so does what is paid, as in the paper. A price equal "
                    "to the threshold is taken.",
                    kStatic, kSpot),
    };
}

}  // namespace elastic::studies

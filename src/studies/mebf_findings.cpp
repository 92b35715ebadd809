// SPDX-License-Identifier: MIT
// [mebf] section 4 against what came out.  The cells of the paper's tables 3 to 7 are
// not in the text that this was made from; paper_ columns hold what its prose
// prints.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "studies/mebf_results.hpp"
#include "studies/table.hpp"

namespace elastic::studies::mebf {

std::string name_of(const Scenario& s) {
    return fmt::format("{}_{}_{}_{}{}{}", s.large ? "5K" : "1K",
                       s.is_intensive ? "intensive" : "normal", kScalabilityNames[s.scalability],
                       s.half_overhead ? "ROH" : "ROF",
                       s.malleable < 100 ? fmt::format("_{:.0f}malleable", s.malleable) : "",
                       s.model_error ? "_error" : "");
}

double value(const Results& results, const Scenario& scenario, Policy policy,
             double Values::*metric) {
    return results.at(scenario)[policy].*metric;
}

double improvement(const Results& results, const Scenario& scenario, Policy policy,
                   double Values::*metric) {
    const double base = value(results, scenario, ebf, metric);
    return base > 0 ? 100 * (1 - value(results, scenario, policy, metric) / base) : 0;
}

std::vector<Group> by_scalability(Scenario scenario) {
    std::vector<Group> groups;
    for (const Scalability level : kScalabilities) {
        scenario.scalability = level;
        groups.push_back({kScalabilityNames[level], scenario});
    }
    return groups;
}

namespace {

std::vector<Scenario> rows_of(const std::vector<std::vector<Group>>& lists) {
    std::vector<Scenario> rows;
    for (const auto& list : lists)
        for (const Group& group : list) rows.push_back(group.scenario);
    return rows;
}

// ---- tables

Table table5(const Results& results) {
    Table table({"workload", "policy", "shrink_percent", "expand_percent", "backfill_percent"});
    for (const Group& group : by_scalability({}))
        for (const Policy policy : kExpandPolicies) {
            const Values& v = results.at(group.scenario)[policy];
            const double all = std::max(v.shrinks + v.expansions + v.backfills, 1.0);
            table.add({name_of(group.scenario), kPolicyNames[policy],
                       fixed(100 * v.shrinks / all, 1), fixed(100 * v.expansions / all, 1),
                       fixed(100 * v.backfills / all, 1)});
        }
    return table;
}

// An improvement over EBF that the paper's prose prints, per cent.
struct Printed {
    Scenario scenario;
    Policy policy;
    double percent;
};

const std::vector<Printed> kPrintedTurnaround{
    // Section 4.3 on figure 7 (taken to be LS, whose figure 8 repeats the Handoff) and on 8, which
    // prints Intensive and Spare of 1K_intensive_LS the other way round: 37 and 33.
    {{.scalability = LS}, handoff, 40},
    {{.scalability = LS}, intensive, 33},
    {{.scalability = LS}, spare, 37},
    {{.large = true, .scalability = LS}, spare, 49},
    {{.large = true, .scalability = LS}, intensive, 48},
    {{.large = true, .scalability = LS}, handoff, 47},
    {{.scalability = MS}, intensive, 42},
    {{.scalability = HS}, spare, 17},
    // Figure 12.
    {{.malleable = 40}, handoff, 2.1},
    {{.malleable = 40}, spare, 2.1},
    {{.malleable = 40}, intensive, 2.1},
    {{.malleable = 60}, handoff, 34},
};
const std::vector<Printed> kPrintedTable6{
    {{.scalability = MS}, intensive, 42},
    {{.scalability = HS}, spare, 42},
    {{.large = true, .scalability = LS}, spare, 49},
};
const std::vector<Printed> kPrintedTable7{
    {{.malleable = 60}, handoff, 34},
    {{.malleable = 80}, intensive, 33},
};

std::string printed(const std::vector<Printed>& list, const Scenario& scenario, Policy policy) {
    for (const Printed& one : list)
        if (one.scenario == scenario && one.policy == policy) return exact(one.percent);
    return "";
}

Table improvements(const Results& results, const std::vector<Scenario>& rows,
                   double Values::*metric, const std::vector<Printed>& paper) {
    Table table({"workload", "policy", "improvement_percent", "paper_improvement_percent"});
    for (const Scenario& scenario : rows)
        for (const Policy policy : kExpandPolicies)
            table.add({name_of(scenario), kPolicyNames[policy],
                       fixed(improvement(results, scenario, policy, metric), 1),
                       printed(paper, scenario, policy)});
    return table;
}

}  // namespace

void put_tables(Report& report, const Results& results) {
    report.table("table5", "As table 5: shrinks, expansions and backfills, of all such events",
                 table5(results));
    report.table(
        "table6", "As table 6: improvement of the slowdown over EBF",
        improvements(results, rows_of({by_scalability({}), by_scalability({.large = true})}),
                     &Values::slowdown, kPrintedTable6));
    report.table("table7", "As table 7: the same with rigid jobs among them, 1K",
                 improvements(results,
                              rows_of({by_scalability({.malleable = 60}),
                                       by_scalability({.malleable = 80})}),
                              &Values::slowdown, kPrintedTable7));
    std::vector<Scenario> rows = rows_of({by_scalability({}), by_scalability({.large = true})});
    for (const double share : {40, 60, 80}) rows.push_back({.malleable = share});
    report.table("turnaround_improvements",
                 "Improvement of the turnaround time over EBF, beside what section 4.3 prints",
                 improvements(results, rows, &Values::turnaround, kPrintedTurnaround));
}

namespace {

// ---- findings

Policy best_of(const Results& results, const Scenario& scenario) {
    return *std::ranges::max_element(
        kExpandPolicies, {}, [&](Policy policy) { return improvement(results, scenario, policy); });
}

std::string improvements_text(const Results& results, const Scenario& scenario) {
    return fmt::format("{}: Handoff {:.1f} %, Spare {:.1f} %, Intensive {:.1f} %",
                       name_of(scenario), improvement(results, scenario, handoff),
                       improvement(results, scenario, spare),
                       improvement(results, scenario, intensive));
}

Verdict verdict(bool holds) {
    return holds ? Verdict::confirmed : Verdict::not_confirmed;
}

Finding better_than_ebf(const Results& results, std::string place, std::string statement,
                        const std::vector<Scenario>& list) {
    Tally tally;
    std::string text;
    for (const Scenario& scenario : list) {
        for (const Policy policy : kExpandPolicies)
            tally.count(improvement(results, scenario, policy) > 0);
        text += "; " + improvements_text(results, scenario);
    }
    return {std::move(place), std::move(statement), in_all(tally),
            "better in " + to_string(tally) + text};
}

Finding best_is(const Results& results, std::string place, const Scenario& scenario,
                Policy expected) {
    const Policy best = best_of(results, scenario);
    return {std::move(place),
            fmt::format("{}: {} has the best turnaround time", name_of(scenario),
                        kPolicyNames[expected]),
            verdict(best == expected), improvements_text(results, scenario)};
}

Finding close_together(const Results& results) {
    Tally tally;
    std::string text;
    for (const Group& group : by_scalability({.large = true})) {
        double low = 1e9, high = -1e9;
        for (const Policy policy : kExpandPolicies) {
            const double one = improvement(results, group.scenario, policy);
            low = std::min(low, one);
            high = std::max(high, one);
        }
        tally.count(high - low <= 2);  // the paper's own are 47, 48 and 49 %
        text += fmt::format("{}{}: {:.1f}", text.empty() ? "" : ", ", group.category, high - low);
    }
    return {"figure 8", "5K: the policies hardly differ (2 points in the paper)", in_all(tally),
            "points between best and worst: " + text};
}

Finding utilisation_finding(const Results& results) {
    const auto use = [&](const Scenario& s, Policy p) {
        return value(results, s, p, &Values::utilisation);
    };
    Tally better, intensive_best;
    for (const bool large : {false, true})
        for (const Group& group : by_scalability({.large = large})) {
            if (large) {
                intensive_best.count(
                    use(group.scenario, intensive) >=
                    std::max(use(group.scenario, handoff), use(group.scenario, spare)));
            }
            if (large || group.scenario.scalability != LS)
                for (const Policy policy : kExpandPolicies)
                    better.count(use(group.scenario, policy) > use(group.scenario, ebf));
        }
    const Scenario low{.scalability = LS}, big{.large = true, .scalability = LS};
    return {"figure 10",
            "utilisation: 1K LS EBF best; 1K MS, HS and 5K MEBF better; 5K 99 %, Intensive highest",
            all_of({verdict(use(low, ebf) >= use(low, intensive)), in_all(better),
                    in_all(intensive_best), verdict(use(big, intensive) >= 0.98)}),
            fmt::format("1K LS: EBF {:.1f} %, Intensive {:.1f} %; MEBF better in {}; Intensive "
                        "highest at 5K in {}; 5K LS: {:.1f} % with Intensive, {:.1f} % with EBF. "
                        "Resizes make work: with sub-linear speed-up a grown job uses more",
                        100 * use(low, ebf), 100 * use(low, intensive), to_string(better),
                        to_string(intensive_best), 100 * use(big, intensive), 100 * use(big, ebf))};
}

Finding plus_finding(const Results& results, bool large) {
    Tally same, less;
    std::string text;
    for (const Group& group : by_scalability({.large = large})) {
        const auto gain = [&](Policy policy) {
            return improvement(results, group.scenario, policy, &Values::slowdown);
        };
        same.count(std::abs(gain(shrink_plus) - gain(basic)) <= 2);
        less.count(gain(expand_plus) < gain(basic));
        text += fmt::format("; {}: basic {:.1f} %, shrink+ {:.1f} %, expand+ {:.1f} %",
                            group.category, gain(basic), gain(shrink_plus), gain(expand_plus));
    }
    return {large ? "figure 14" : "figure 13",
            fmt::format("{}: shrink+ improves the slowdown as basic does, expand+ less",
                        large ? "5K" : "1K"),
            all_of({in_all(same), in_all(less)}),
            fmt::format("shrink+ within 2 points of basic in {}, expand+ less in {}{}",
                        to_string(same), to_string(less), text)};
}

Finding shrink_plus_beats_expand_plus(const Results& results) {
    Tally tally;
    std::string text;
    for (const bool is_intensive : {false, true}) {
        const Scenario s{.large = true, .is_intensive = is_intensive};
        const double a = value(results, s, shrink_plus, &Values::slowdown),
                     b = value(results, s, expand_plus, &Values::slowdown);
        tally.count(a < b);
        text += fmt::format("{}{}: shrink+ {:.2f}, expand+ {:.2f}", text.empty() ? "" : "; ",
                            name_of(s), a, b);
    }
    return {"figure 15", "5K MS: shrink+ has the lower slowdown at both loads", in_all(tally),
            text};
}

}  // namespace

std::vector<Finding> findings(const Results& results) {
    const Scenario l1{.scalability = LS}, l5{.large = true, .scalability = LS};
    Scenario n1 = l1, n5 = l5;
    n1.is_intensive = n5.is_intensive = false;
    const Scenario h5{.large = true, .scalability = HS};
    Scenario h5_half = h5;
    h5_half.half_overhead = true;
    std::vector<Scenario> shares, errors;
    for (const double share : {40, 60, 80, 100}) shares.push_back({.malleable = share});
    for (const Group& group : by_scalability({.model_error = true}))
        errors.push_back(group.scenario);
    return {
        better_than_ebf(results, "figure 7",
                        "all three policies have a better turnaround time than EBF at both loads",
                        {l1, n1, l5, n5}),
        best_is(results, "figure 7, 8", l1, handoff),
        best_is(results, "figure 7", l5, spare),
        best_is(results, "figure 8", {}, intensive),
        best_is(results, "figure 8", {.scalability = HS}, spare),
        better_than_ebf(results, "figure 8", "MEBF is better than EBF at all levels of scalability",
                        rows_of({by_scalability({}), by_scalability({.large = true})})),
        close_together(results),
        best_is(results, "figure 9", h5, handoff),
        best_is(results, "figure 9", h5_half, intensive),
        utilisation_finding(results),
        better_than_ebf(results, "figure 12", "MEBF is better from 40 % malleable jobs on", shares),
        best_is(results, "figure 12", {.malleable = 60}, handoff),
        best_is(results, "figure 12", {.malleable = 80}, intensive),
        plus_finding(results, false),
        plus_finding(results, true),
        shrink_plus_beats_expand_plus(results),
        better_than_ebf(results, "figure 16",
                        "MEBF stays better than EBF when jobs scale worse than the model says",
                        errors),
    };
}

}  // namespace elastic::studies::mebf

// SPDX-License-Identifier: MIT
// What the runs of [mebf] are and come to, and what that says of the paper's statements.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "studies/report.hpp"

namespace elastic::studies::mebf {

// What the paper compares; EBF is EASY backfilling.
enum Policy : std::size_t { ebf, handoff, spare, intensive, basic, shrink_plus, expand_plus };
inline constexpr std::size_t kPolicies = 7;
inline constexpr std::array<const char*, kPolicies> kPolicyNames{
    "EBF", "Handoff", "Spare", "Intensive", "MEBF-basic", "MEBF-shrink+", "MEBF-expand+"};
inline constexpr std::array kExpandPolicies{handoff, spare, intensive};

enum Scalability : std::size_t { LS, MS, HS };
inline constexpr std::array kScalabilities{LS, MS, HS};
inline constexpr std::array<const char*, 3> kScalabilityNames{"LS", "MS", "HS"};

// A workload of table 4: KIT_intensive_MS_ROF and so on.
struct Scenario {
    bool large = false;  // 5K
    bool is_intensive = true;
    Scalability scalability = MS;
    bool half_overhead = false;  // ROH
    double malleable = 100;      // per cent
    bool model_error = false;
    auto operator<=>(const Scenario&) const = default;
};

// As the paper writes it, e.g. "1K_intensive_MS_ROF".
std::string name_of(const Scenario&);

// Means over the seeds.
struct Values {
    double turnaround = 0, slowdown = 0, utilisation = 0;
    double shrinks = 0, expansions = 0, backfills = 0;
};

using Results = std::map<Scenario, std::array<Values, kPolicies>>;

double value(const Results&, const Scenario&, Policy, double Values::*metric);
// By how many per cent the policy is below EBF.
double improvement(const Results&, const Scenario&, Policy,
                   double Values::*metric = &Values::turnaround);

// A row of a table or a group of bars.
struct Group {
    std::string category;
    Scenario scenario;
};

// LS, MS and HS of it.
std::vector<Group> by_scalability(Scenario);

// Tables 5 to 7, and the turnaround times that the prose prints, with the paper's numbers beside
// ours.
void put_tables(Report&, const Results&);
// What section 4.3 says of its figures.
std::vector<Finding> findings(const Results&);

}  // namespace elastic::studies::mebf

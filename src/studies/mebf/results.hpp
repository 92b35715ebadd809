// SPDX-License-Identifier: MIT
// What the runs of [mebf] are and come to, and what that says of the paper's statements.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "studies/report/report.hpp"

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

// One run.
struct Values {
    double turnaround = 0, slowdown = 0, utilisation = 0;
    double shrinks = 0, expansions = 0, backfills = 0;
};

// By policy and seed.
using Results = std::map<Scenario, std::array<std::vector<Values>, kPolicies>>;

// Of each seed, and their mean.
std::vector<double> values(const Results&, const Scenario&, Policy, double Values::*metric);
double value(const Results&, const Scenario&, Policy, double Values::*metric);
// By how many per cent of EBF's mean the policy is below EBF.
std::vector<double> improvements(const Results&, const Scenario&, Policy,
                                 double Values::*metric = &Values::turnaround);
double improvement(const Results&, const Scenario&, Policy,
                   double Values::*metric = &Values::turnaround);

// The same study with the paper or the log read in another way.
struct Reading {
    std::string name;
    Results results;
};

// What the simulations of figures 6 and 11 show.
struct Observations {
    // By policy and seed: the nodes with which jobs started that were expanded, mean over the
    // expansions; and by group of sizes the per cent of all expansions.
    std::array<std::vector<double>, kPolicies> expanded_start;
    std::array<std::vector<std::vector<double>>, kPolicies> expansion_shares;
    // By policy: utilisation of each part of the time, per cent, mean over the seeds.
    std::array<std::vector<double>, kPolicies> use;
};

// A row of a table or a group of bars.
struct Group {
    std::string category;
    Scenario scenario;
};

// LS, MS and HS of it.
std::vector<Group> by_scalability(Scenario);

// Tables 5 to 7, and the turnaround times that the prose prints, with the paper's numbers beside
// ours and those of the other readings.
void put_tables(Report&, const Results&, const std::vector<Reading>& others);
// What section 4.3 says of its figures 7 to 16 and of table 5.
std::vector<Finding> findings(const Results&);
// What it says of figures 3, 6 and 11.
std::vector<Finding> findings(const Observations&);
// What the paper says in two ways that cannot both be.
std::vector<std::string> contradictions();

}  // namespace elastic::studies::mebf

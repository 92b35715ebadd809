// SPDX-License-Identifier: MIT
// What is run for an advice: presets on a site's jobs, some of which are malleable.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/policy.hpp"
#include "simulator/engine.hpp"
#include "simulator/trust/trust.hpp"
#include "studies/advice/site.hpp"

namespace elastic::studies {

inline constexpr std::string_view kBaseline = "easy";  // what all presets are compared with

struct Condition {
    double share = 0, cost_factor = 0;  // as of AdviceOptions
};

// What is taken for granted, put otherwise; empty for nothing.
using Change = std::function<void(simulator::WorkloadOptions&)>;

// By seed.
using Runs = std::vector<Figures>;
Figures mean_of(const Runs&);
// The mean turnaround by easy's under the same seeds, less 1.
Difference gain_of(const Runs&, const Runs& easy);
// The highest of them.
double worst_of(const Runs&, const Runs& easy);

class Trials {
  public:
    struct NamedPolicy {
        std::string name;
        core::Policy policy;
    };

    // Both are borrowed.
    Trials(const AdviceOptions&, const Site&);

    // All that differ in a simulation.
    const std::vector<NamedPolicy>& policies() const { return policies_; }
    std::size_t index_of(std::string_view policy) const;
    // Under the baseline, the jobs as they are.
    const simulator::Outcome& easy() const { return easy_; }

    std::size_t seeds() const { return static_cast<std::size_t>(options_.seeds); }
    std::vector<Condition> conditions() const;
    Condition middle() const;  // that of the closer looks
    PoolOptions pool(const char* what) const { return {options_.pool.threads, what}; }

    simulator::Workload draw(const Condition&, std::size_t seed, const Change& = {}) const;
    simulator::Outcome run(const simulator::Workload&, std::string_view policy,
                           std::size_t seed) const;
    // Of an outcome of those jobs, or of the same jobs as they are.
    Figures figures(const simulator::Workload&, const simulator::Outcome&) const;
    Figures measure(const Condition&, std::size_t seed, std::string_view policy,
                    const Change& = {}) const;

  private:
    const AdviceOptions& options_;
    const Site& site_;
    std::vector<NamedPolicy> policies_;
    simulator::Outcome easy_;
};

// What becomes of the site's jobs as they are under the baseline, and what that tells of the log.
simulator::Outcome run_easy(const Site&);
simulator::Trust judge_trust(const Site&, const simulator::Outcome& easy);

// The site's arrivals scaled so that it waits as it did, and all presets with them under the middle
// condition, beside the same with arrivals as they were.
Result<Calibrated> compare_calibrated(const Trials&, const Site&, const std::vector<Standing>&);

// All presets under all conditions: by share and cost, then by policy.
std::vector<Standing> compare_presets(const Trials&);

}  // namespace elastic::studies

// SPDX-License-Identifier: MIT
// What is run for an advice: presets on a site's jobs, some of which are malleable.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/policy.hpp"
#include "simulator/engine.hpp"
#include "simulator/trust/trust.hpp"
#include "simulator/workload_sample.hpp"
#include "studies/advice/site.hpp"

namespace elastic::studies {

inline constexpr std::string_view kBaseline = "easy";  // what all presets are compared with

struct Condition {
    double share = 0, cost_factor = 0;  // as of AdviceOptions
    bool operator==(const Condition&) const = default;
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
    using Drawn = std::shared_ptr<const simulator::Workload>;

    // Of all jobs of the site, or of a sample; options and site are borrowed.
    Trials(const AdviceOptions&, const Site&, std::optional<simulator::WorkloadSample> = {});

    // All that a simulation can tell apart, but for those that are equal in all but their name.
    const std::vector<NamedPolicy>& policies() const { return policies_; }
    std::size_t index_of(std::string_view policy) const;
    std::size_t same_as(std::size_t policy) const;  // the first that is equal
    bool resizes(std::size_t policy) const { return policies_[policy].policy.resizes(); }

    // Under the baseline, the jobs as they are.
    const simulator::Workload& as_they_are() const { return as_they_are_; }
    const simulator::Outcome& easy() const { return easy_; }
    // Nothing if these are all jobs.
    const std::optional<simulator::WorkloadSample>& sample() const { return sample_; }
    std::size_t all_jobs() const { return site_.workload.jobs.size(); }
    // Of a job of the workloads in that of the site.
    std::size_t place(std::size_t job) const { return sample_ ? sample_->places[job] : job; }

    std::size_t seeds() const { return static_cast<std::size_t>(options_.seeds); }
    Condition headline() const;
    std::vector<Condition> conditions() const;  // the headline first
    PoolOptions pool(std::string_view what) const;

    simulator::Workload draw(const Condition&, std::size_t seed, const Change& = {}) const;
    // The same without a change; the last few are kept.
    Drawn drawn(const Condition&, std::size_t seed) const;
    simulator::Outcome run(const simulator::Workload&, std::string_view policy, std::size_t seed,
                           bool segments = false) const;
    // Of an outcome of those jobs, or of the same jobs as they are.
    Figures figures(const simulator::Workload&, const simulator::Outcome&) const;
    // Of a policy; what resizes nobody is run once.
    Figures measure(const Condition&, std::size_t seed, std::size_t policy) const;

  private:
    struct Kept {
        Condition condition;
        std::size_t seed = 0;
        Drawn workload;
    };
    struct Once {
        std::once_flag flag;
        simulator::Outcome outcome;
    };
    const simulator::Outcome& rigid_outcome(std::size_t policy) const;

    const AdviceOptions& options_;
    const Site& site_;
    std::optional<simulator::WorkloadSample> sample_;
    std::vector<NamedPolicy> policies_;
    simulator::Workload as_they_are_;
    simulator::Outcome easy_;
    mutable std::mutex mutex_;
    mutable std::deque<Kept> kept_;
    mutable std::deque<Once> rigid_;  // by policy
};

// What becomes of jobs as they are under the baseline, and what that tells of the site's log.
simulator::Outcome run_easy(const simulator::Workload&, std::uint64_t seed);
simulator::Trust judge_trust(const Site&, const simulator::Outcome& easy);

// Of those that have one such.
const Standing& standing_of(const std::vector<Standing>&, std::string_view policy,
                            const Condition&);

// The site's arrivals scaled so that it waits as it did, and the recommended preset, or all, with
// them under the headline's condition, beside the same with arrivals as they were.
Result<Calibrated> compare_calibrated(const Trials&, const Site&, const std::vector<Standing>&,
                                      std::string_view recommended, bool all);

// Presets, by their places, under conditions: by share and cost, then by policy.
std::vector<Standing> compare_presets(const Trials&, const std::vector<Condition>&,
                                      const std::vector<std::size_t>& policies);

}  // namespace elastic::studies

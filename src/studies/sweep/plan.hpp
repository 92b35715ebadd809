// SPDX-License-Identifier: MIT
// STUDY.conf: which runs a sweep consists of.
//
//     Log=a.swf.gz, b.swf          # relative to the study's folder
//     Elastic=0-100/20             # 0, 20, ... 100
//     Policy=easy, lina-default/gain
//     Set.ResizeGap=0, 60          # a choice of elastic.conf(5)
//     Seed=1-10
//
// One key a line, as in elastic.conf; each may have a list, and the study is the product of all
// lists.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.hpp"
#include "core/model/policy.hpp"
#include "simulator/make_workload.hpp"

namespace elastic::studies {

inline constexpr std::size_t kMaxRuns = 1'000'000;

struct Axis {
    std::string key;                  // as documented, whatever the case in the file
    std::vector<std::string> values;  // at least one, none twice
    int line = 0;
    bool of_policy = false;  // Policy and Set.*
};

// One run: what its values mean.
struct RunSpec {
    std::string log;
    bool lenient = false;
    simulator::WorkloadOptions workload;
    core::Policy policy;
    std::optional<core::Policy> baseline;  // what waits are compared with
};

class SweepPlan {
  public:
    // Every value is checked, alone, here; errors name file and line.
    static Result<SweepPlan> parse(std::string_view text, std::string_view file_name);

    // Those of the workload first, in the order of the file; the last one changes fastest.
    const std::vector<Axis>& axes() const { return axes_; }
    std::size_t runs() const { return runs_; }
    // Runs [i * n, (i + 1) * n) have the same workload, n being this.
    std::size_t runs_per_workload() const { return per_workload_; }

    // The values of run `index`, one for each axis.
    std::vector<std::string> values(std::size_t index) const;
    RunSpec spec(std::size_t index) const;
    // What the study says of the machine, for all of its runs: any number of nodes, or none.
    simulator::WorkloadOptions machine() const;
    // The line of a key in the file; 0 if it is not there.
    int line_of(std::string_view key) const;

  private:
    std::vector<Axis> axes_;
    std::size_t runs_ = 1, per_workload_ = 1;
};

}  // namespace elastic::studies

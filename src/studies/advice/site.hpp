// SPDX-License-Identifier: MIT
// What advice is about: a site's log, on a machine of known size.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/result.hpp"
#include "simulator/make_workload.hpp"
#include "simulator/trust/grouping.hpp"
#include "studies/advice/advice.hpp"

namespace elastic::studies {

struct Site {
    simulator::Log log;
    // Its partitions, queue and limits as far as they are known; `options` borrow them.
    std::unique_ptr<const simulator::Site> machine;
    simulator::WorkloadOptions options;            // as asked for, with the machine's nodes
    std::string nodes_from{};                      // who says how many
    simulator::Workload workload{};                // the jobs as they are
    std::vector<simulator::Grouping> groupings{};  // of these
};

// Errors are those of advise().
Result<Site> read_site(const AdviceOptions&);

// Nothing if the log names none.
const simulator::Grouping* users(const Site&);

// All that makes the advice say less.
std::vector<std::string> warnings(const Site&);

}  // namespace elastic::studies

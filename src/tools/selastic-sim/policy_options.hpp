// SPDX-License-Identifier: MIT
// The policy to simulate, from the command line.
#pragma once

#include <string>
#include <vector>

#include "common/result.hpp"
#include "core/model/policy.hpp"

namespace elastic::tools {

struct PolicyOptions {
    std::string name;               // --policy; "": elastic.conf's default
    std::string config;             // --config, a file like elastic.conf; excludes `name`
    std::vector<std::string> sets;  // --set, each "Key=Value"
};

struct NamedPolicy {
    std::string name;  // with the choices that were set: "lina-default VictimOrder=gain"
    core::Policy policy;
};

// Errors name the option, or the file and its line.
Result<NamedPolicy> choose_policy(const PolicyOptions&);

}  // namespace elastic::tools

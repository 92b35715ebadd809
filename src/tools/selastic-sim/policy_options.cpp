// SPDX-License-Identifier: MIT
// A preset or a file first, single choices after: as elastic.conf does it.
#include "selastic-sim/policy_options.hpp"

#include "common/text.hpp"
#include "core/model/config.hpp"

namespace elastic::tools {
namespace {

Result<NamedPolicy> base_policy(const PolicyOptions& options) {
    if (!options.config.empty()) {
        const Result<core::Config> config = core::read_config(options.config);
        if (!config) return config.error();
        return NamedPolicy{config->policy_name, config->policy};
    }
    const std::string name =
        options.name.empty() ? core::Config{}.policy_name : lower_case(options.name);
    const Result<core::Policy> policy = core::preset(name);
    if (!policy) return error("--policy: {}", policy.error().message);
    return NamedPolicy{name, *policy};
}

Result<void> set_choice(core::Policy& policy, std::string_view setting) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string_view::npos)
        return error("--set {}: must be Key=Value", printable(setting));
    const std::string_view key = trim(setting.substr(0, equals));
    if (equal_ignoring_case(key, "Policy")) return error("--set Policy: use --policy");
    const core::ChoiceResult choice =
        core::set_choice(policy, key, trim(setting.substr(equals + 1)));
    if (!choice.known)
        return error("--set {}: {} is no choice of a policy, see elastic.conf(5)",
                     printable(setting), printable(key));
    if (!choice.result) return error("--set {}", choice.result.error().message);
    return {};
}

}  // namespace

Result<NamedPolicy> choose_policy(const PolicyOptions& options) {
    Result<NamedPolicy> chosen = base_policy(options);
    if (!chosen) return chosen;
    for (const std::string& setting : options.sets) {
        if (const Result<void> done = set_choice(chosen->policy, setting); !done)
            return done.error();
        chosen->name += ' ' + setting;
    }
    return chosen;
}

}  // namespace elastic::tools

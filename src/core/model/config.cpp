// SPDX-License-Identifier: MIT
// elastic.conf through one table of keys; the policy's choices are looked up where they are
// defined, so a new choice needs nothing here.
//
// Always holds: a Config returned from here was read without a single error; there is no partly
// read one.
#include "core/model/config.hpp"

#include <algorithm>
#include <array>
#include <type_traits>

#include <fmt/ranges.h>

#include "common/atomic_file.hpp"
#include "common/config_file.hpp"
#include "common/text.hpp"
#include "core/model/packet.hpp"

namespace elastic::core {

namespace {

// An error is what follows "KEY=VALUE: ".
struct Key {
    std::string_view name;
    Result<void> (*read)(Config&, std::string_view value);
};

template <auto member, int low, int high>
Result<void> integer(Config& config, std::string_view text) {
    std::optional<std::int64_t> number = parse_integer(text);
    if (!number || *number < low || *number > high) {
        return error("must be a number from {} to {}", low, high);
    }
    config.*member = static_cast<int>(*number);
    return {};
}

template <auto member, int low, int high>
Result<void> duration(Config& config, std::string_view text) {
    Result<Duration> seconds = parse_duration(text);
    if (!seconds) return seconds.error();
    if (*seconds < low || *seconds > high) return error("must be {} to {} seconds", low, high);
    config.*member = *seconds;
    return {};
}

Result<void> link_bandwidth(Config& config, std::string_view text) {
    const std::optional<double> rate = parse_bytes(text);
    if (!rate || *rate < kMinRate || *rate > kMaxRate)
        return error("must be bytes a second, as in 10G, from 1K to 1P");
    config.link_bandwidth = *rate;
    return {};
}

Result<void> scale_ratio(Config& config, std::string_view text) {
    const std::optional<double> ratio = parse_number(text);
    if (!ratio || *ratio < kLeastScaleRatio || *ratio > kGreatestScaleRatio)
        return error("must be a number from {} to {}", kLeastScaleRatio, kGreatestScaleRatio);
    config.scale_ratio = *ratio;
    return {};
}

// One of the names of an enumeration.
template <auto member>
Result<void> one_of(Config& config, std::string_view text) {
    using Choice = std::remove_reference_t<decltype(config.*member)>;
    constexpr auto kNames = names(Choice{});
    for (std::size_t i = 0; i < kNames.size(); ++i)
        if (equal_ignoring_case(text, kNames[i])) {
            config.*member = static_cast<Choice>(i);
            return {};
        }
    return error("one of {}", fmt::join(kNames, ", "));
}

template <auto member>
Result<void> path(Config& config, std::string_view text) {
    if (!text.starts_with('/')) return error("must be an absolute path");
    config.*member = text;
    return {};
}

constexpr int kDay = 86400;

constexpr std::array kKeys{
    Key{"GraceTime", duration<&Config::grace_time, 1, kDay>},
    Key{"PreemptShrinkTime", duration<&Config::preempt_shrink_time, 0, 3600>},
    Key{"MaxGraceTime", duration<&Config::max_grace_time, 1, kDay>},
    Key{"ShrinkTimeout", one_of<&Config::shrink_timeout>},
    Key{"BackOff", duration<&Config::back_off, 0, kDay>},
    Key{"LinkBandwidth", link_bandwidth},
    Key{"ScaleRatio", scale_ratio},
    Key{"InitTime", duration<&Config::init_time, 1, kDay>},
    Key{"Starts", one_of<&Config::starts>},
    Key{"Hosted", one_of<&Config::hosted>},
    Key{"Observe", one_of<&Config::observe>},
    Key{"ListenPort", integer<&Config::listen_port, 1, 65535>},
    Key{"Interval", duration<&Config::interval, 0, 60>},
    Key{"ForecastInterval", duration<&Config::forecast_interval, 1, 3600>},
    Key{"ForecastTime", duration<&Config::forecast_time, 0, 60>},
    Key{"MaxConnections", integer<&Config::max_connections, 1, 65536>},
    Key{"MaxConnectionsPerUser", integer<&Config::max_connections_per_user, 1, 65536>},
    Key{"JournalFile", path<&Config::journal_file>},
    Key{"LeaveNodes", one_of<&Config::leave_nodes>},
    Key{"SupplyFile", path<&Config::supply_file>},
    Key{"SupplyCommand", path<&Config::supply_command>},
    Key{"SupplyInterval", duration<&Config::supply_interval, 1, kDay>},
    Key{"SupplyTimeout", duration<&Config::supply_timeout, 1, 3600>},
};

bool is_policy(const Setting& setting) {
    return equal_ignoring_case(setting.key, "Policy");
}

Result<void> apply_policy(Config& config, const Setting& setting) {
    Result<Policy> policy = preset(setting.value);
    if (!policy) return policy.error();
    config.policy = *policy;
    config.policy_name = lower_case(setting.value);
    return {};
}

Result<void> apply(Config& config, const Setting& setting) {
    if (is_policy(setting)) return apply_policy(config, setting);
    auto key = std::ranges::find_if(
        kKeys, [&](const Key& known) { return equal_ignoring_case(known.name, setting.key); });
    if (key != kKeys.end()) {
        Result<void> done = key->read(config, setting.value);
        if (done) return done;
        return error("{}={}: {}", key->name, printable(setting.value), done.error().message);
    }
    ChoiceResult choice = set_choice(config.policy, setting.key, setting.value);
    if (!choice.known) return error("unknown key {}", printable(setting.key));
    return choice.result;
}

}  // namespace

Result<Config> parse_config(std::string_view text, std::string_view file_name) {
    Result<std::vector<Setting>> settings = parse_settings(text, file_name);
    if (!settings) return settings.error();
    std::stable_partition(settings->begin(), settings->end(), is_policy);
    Config config;
    std::string wrong;
    for (const Setting& setting : *settings) {
        if (Result<void> done = apply(config, setting); !done) {
            wrong += wrong.empty() ? "" : "; ";
            wrong += at_line(file_name, setting.line, done.error().message).message;
        }
    }
    if (!wrong.empty()) return Error{std::move(wrong)};
    if (!config.supply_file.empty() && !config.supply_command.empty())
        return error("{}: SupplyFile and SupplyCommand: only one of them can be given", file_name);
    // Slurm starts jobs with what they ask for, and so does who only observes.
    if (config.starts == Starts::slurm || config.observe == Observe::yes) {
        config.policy.initial_size = InitialSize::requested;
        config.policy.expand_from = ExpandFrom::gap;
    }
    // It takes nodes that are lent for nodes in use.
    if (config.starts == Starts::slurm) config.policy.reserved_nodes = ReservedNodes::kept;
    return config;
}

Result<Config> read_config(const std::string& path) {
    Result<std::string> text = read_file(path, kMaxConfigFile);
    if (!text) return text.error();
    return parse_config(*text, path);
}

}  // namespace elastic::core

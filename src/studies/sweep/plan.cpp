// SPDX-License-Identifier: MIT
// A table with a row for each key, as in policy.cpp: which values the key may have, and what they
// set.
#include "studies/sweep/plan.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "common/config_file.hpp"
#include "common/text.hpp"

namespace elastic::studies {
namespace {

using simulator::WorkloadOptions;

constexpr std::string_view kChoicePrefix = "Set.";
constexpr std::size_t kMostValues = 10'000;  // of one list

struct Key {
    std::string_view name;
    bool whole_numbers = false;  // lists may have ranges
    Result<void> (*set)(RunSpec&, std::string_view value);
};

template <auto member>
constexpr Key whole_number(std::string_view name) {
    return {name, true, [](RunSpec& spec, std::string_view value) -> Result<void> {
                const auto number = parse_integer(value);
                if (!number || *number < 0) return error("must be a whole number from 0");
                using Number = std::remove_reference_t<decltype(spec.workload.*member)>;
                spec.workload.*member = static_cast<Number>(*number);
                return {};
            }};
}

template <auto member>
constexpr Key number(std::string_view name) {
    return {name, true, [](RunSpec& spec, std::string_view value) -> Result<void> {
                const auto number = parse_number(value);
                if (!number || *number < 0) return error("must be a number from 0");
                spec.workload.*member = *number;
                return {};
            }};
}

Result<void> set_log(RunSpec& spec, std::string_view value) {
    spec.log = value;
    return {};
}

Result<void> set_lenient(RunSpec& spec, std::string_view value) {
    spec.lenient = equal_ignoring_case(value, "yes");
    if (!spec.lenient && !equal_ignoring_case(value, "no")) return error("must be yes or no");
    return {};
}

Result<void> set_overrun(RunSpec& spec, std::string_view value) {
    const bool extend = equal_ignoring_case(value, "extend");
    if (!extend && !equal_ignoring_case(value, "cut")) return error("must be cut or extend");
    spec.workload.overrun = extend ? simulator::Overrun::extend : simulator::Overrun::cut;
    return {};
}

Result<void> set_estimates(RunSpec& spec, std::string_view value) {
    const bool exact = equal_ignoring_case(value, "exact");
    if (!exact && !equal_ignoring_case(value, "logged")) return error("must be logged or exact");
    spec.workload.estimates = exact ? simulator::Estimates::exact : simulator::Estimates::logged;
    return {};
}

Result<void> set_limit_error(RunSpec& spec, std::string_view value) {
    const auto ends = split(value, ':');
    const auto low = parse_number(ends.front()), high = parse_number(ends.back());
    constexpr simulator::Range kAll = simulator::kLimitErrors;
    if (ends.size() != 2 || !low || !high || *low < kAll.low || *high > kAll.high || *low > *high)
        return error("must be LO:HI with {} <= LO <= HI <= {}", kAll.low, kAll.high);
    spec.workload.limit_error = {*low, *high};
    return {};
}

Result<void> set_truth(RunSpec& spec, std::string_view value) {
    const Result<core::SpeedupModel> model = simulator::parse_truth(value);
    if (!model) return model.error();
    spec.workload.truth = *model;
    return {};
}

Result<void> set_rho(RunSpec& spec, std::string_view value) {
    const auto ends = split(value, ':');
    const auto low = parse_number(ends.front()), high = parse_number(ends.back());
    if (ends.size() != 2 || !low || !high || *low < 0 || *high > 1 || *low > *high)
        return error("must be LO:HI with 0 <= LO <= HI <= 1");
    const simulator::ElasticModel& model = spec.workload.model;
    spec.workload.model = simulator::mebf_model({*low, *high}, model.cost_factor, model.rho_model);
    return {};
}

Result<void> set_rho_model(RunSpec& spec, std::string_view value) {
    const auto model = simulator::rho_model(value);
    if (!model) return error("must be {}", fmt::join(simulator::rho_model_names(), " or "));
    spec.workload.model.rho_model = *model;
    return {};
}

Result<void> set_cost_factor(RunSpec& spec, std::string_view value) {
    const auto number = parse_number(value);
    if (!number || *number < 0) return error("must be a number from 0");
    spec.workload.model.cost_factor = *number;
    return {};
}

Result<void> set_data(RunSpec& spec, std::string_view value) {
    const auto ends = split(value, ':');
    const auto low = parse_bytes(ends.front()), high = parse_bytes(ends.back());
    if (ends.size() != 2 || !low || !high || *low > *high || *high > simulator::kMaxBytesPerNode)
        return error("must be LO:HI in bytes, as in 1G:64G, up to 1P");
    spec.workload.data = {*low, *high};
    return {};
}

Result<void> set_link_bandwidth(RunSpec& spec, std::string_view value) {
    const auto rate = parse_bytes(value);
    if (!rate || *rate < core::kMinRate || *rate > core::kMaxRate)
        return error("must be bytes a second, as in 10G, from 1K to 1P");
    spec.workload.link_bandwidth = *rate;
    return {};
}

Result<void> set_policy(RunSpec& spec, std::string_view value) {
    const Result<core::Policy> policy = core::preset(value);
    if (!policy) return policy.error();
    spec.policy = *policy;
    return {};
}

Result<void> set_baseline(RunSpec& spec, std::string_view value) {
    const Result<core::Policy> policy = core::preset(value);
    if (!policy) return policy.error();
    spec.baseline = *policy;
    return {};
}

constexpr std::string_view kPolicy = "Policy", kBaseline = "Baseline";
constexpr std::array<std::string_view, 9> kOfDrawnJobs{
    "EvolvingShare", "MinFactor",  "MaxFactor", "PrefFactor",   "Rho",
    "RhoModel",      "CostFactor", "Data",      "LinkBandwidth"};

constexpr std::array kKeys{
    Key{"Log", false, set_log},
    Key{"Lenient", false, set_lenient},
    whole_number<&WorkloadOptions::nodes>("Nodes"),
    whole_number<&WorkloadOptions::procs_per_node>("ProcsPerNode"),
    whole_number<&WorkloadOptions::jobs>("Jobs"),
    whole_number<&WorkloadOptions::skip>("Skip"),
    number<&WorkloadOptions::scale_arrival>("ScaleArrival"),
    Key{"Overrun", false, set_overrun},
    Key{"Estimates", false, set_estimates},
    Key{"LimitError", false, set_limit_error},
    number<&WorkloadOptions::elastic>("Elastic"),
    number<&WorkloadOptions::evolving_share>("EvolvingShare"),
    number<&WorkloadOptions::min_factor>("MinFactor"),
    number<&WorkloadOptions::max_factor>("MaxFactor"),
    number<&WorkloadOptions::pref_factor>("PrefFactor"),
    Key{"Rho", false, set_rho},
    Key{"RhoModel", false, set_rho_model},
    Key{"CostFactor", true, set_cost_factor},
    Key{"Data", false, set_data},
    Key{"LinkBandwidth", false, set_link_bandwidth},
    Key{"Truth", false, set_truth},
    whole_number<&WorkloadOptions::seed>("Seed"),
    Key{kBaseline, false, set_baseline},
    Key{kPolicy, false, set_policy},
};

const Key* find_key(std::string_view name) {
    const auto key = std::ranges::find_if(
        kKeys, [&](const Key& row) { return equal_ignoring_case(row.name, name); });
    return key == kKeys.end() ? nullptr : &*key;
}

bool is_choice(std::string_view key) {
    return equal_ignoring_case(key.substr(0, kChoicePrefix.size()), kChoicePrefix);
}

// Errors of the core begin with "KEY=VALUE: " themselves.
Result<void> apply(RunSpec& spec, const std::string& key, const std::string& value) {
    const Key* row = find_key(key);
    if (row && (row->name == kPolicy || row->name == kBaseline)) return row->set(spec, value);
    if (row) {
        const Result<void> done = row->set(spec, value);
        return done ? done
                    : error("{}={}: {}", printable(key), printable(value), done.error().message);
    }
    const core::ChoiceResult done =
        core::set_choice(spec.policy, std::string_view(key).substr(kChoicePrefix.size()), value);
    if (!done.known)
        return error("{}={}: is no choice of a policy, see elastic.conf(5)", printable(key),
                     printable(value));
    if (!done.result) return error("{}{}", kChoicePrefix, done.result.error().message);
    return {};
}

// "LOW-HIGH" or "LOW-HIGH/STEP".
struct Span {
    std::int64_t low = 0, high = 0, step = 1;
};

std::optional<Span> parse_span(std::string_view text) {
    const std::size_t dash = text.find('-', 1), slash = text.find('/');
    if (dash == std::string_view::npos) return std::nullopt;
    const auto low = parse_integer(text.substr(0, dash));
    const auto high = parse_integer(
        text.substr(dash + 1, slash == std::string_view::npos ? slash : slash - dash - 1));
    const auto step = slash == std::string_view::npos ? std::optional<std::int64_t>(1)
                                                      : parse_integer(text.substr(slash + 1));
    if (!low || !high || !step) return std::nullopt;
    return Span{*low, *high, *step};
}

Result<void> add_span(std::vector<std::string>& values, const Span& span, std::string_view text) {
    if (span.low < 0 || span.high < span.low || span.step < 1 ||
        (span.high - span.low) / span.step >= static_cast<std::int64_t>(kMostValues))
        return error("{}: must be LOW-HIGH or LOW-HIGH/STEP, at most {} values", printable(text),
                     kMostValues);
    for (std::int64_t value = span.low; value <= span.high; value += span.step)
        values.push_back(std::to_string(value));
    return {};
}

Result<std::vector<std::string>> parse_list(std::string_view text, bool whole_numbers) {
    std::vector<std::string> values;
    for (std::string_view part : split(text, ',')) {
        part = trim(part);
        if (part.empty()) return error("an empty place in the list");
        const std::optional<Span> span = whole_numbers ? parse_span(part) : std::nullopt;
        if (!span) {
            values.emplace_back(part);
        } else if (const Result<void> added = add_span(values, *span, part); !added) {
            return added.error();
        }
        if (values.size() > kMostValues) return error("more than {} values", kMostValues);
    }
    std::vector<std::string> sorted = values;
    std::ranges::sort(sorted);
    const auto twice = std::ranges::adjacent_find(sorted);
    if (twice != sorted.end()) return error("{} stands twice", printable(*twice));
    return values;
}

Result<Axis> parse_axis(const Setting& setting) {
    const Key* key = find_key(setting.key);
    const bool choice = is_choice(setting.key);
    if (!key && !choice) {
        std::vector<std::string_view> names;
        for (const Key& row : kKeys) names.push_back(row.name);
        return error("{}: one of {}, Set.CHOICE", printable(setting.key), fmt::join(names, ", "));
    }
    Result<std::vector<std::string>> values = parse_list(setting.value, key && key->whole_numbers);
    if (!values) return error("{}: {}", printable(setting.key), values.error().message);
    for (const std::string& value : *values) {
        RunSpec spec;
        if (const Result<void> done = apply(spec, setting.key, value); !done) return done.error();
    }
    return Axis{key ? std::string(key->name) : setting.key, *std::move(values), setting.line,
                choice || key->name == kPolicy};
}

}  // namespace

Result<SweepPlan> SweepPlan::parse(std::string_view text, std::string_view file_name) {
    const Result<std::vector<Setting>> settings = parse_settings(text, file_name);
    if (!settings) return settings.error();
    SweepPlan plan;
    for (const Setting& setting : *settings) {
        Result<Axis> axis = parse_axis(setting);
        if (!axis) return at_line(file_name, setting.line, axis.error().message);
        plan.runs_ *= axis->values.size();
        if (axis->of_policy) plan.per_workload_ *= axis->values.size();
        if (plan.runs_ > kMaxRuns)
            return at_line(file_name, setting.line,
                           fmt::format("the study has more than {} runs", kMaxRuns));
        plan.axes_.push_back(*std::move(axis));
    }
    for (const std::string_view needed : {std::string_view("Log"), kPolicy})
        if (plan.line_of(needed) == 0)
            return error("{}: {} is missing", printable(file_name, 200), needed);
    for (const Axis& axis : plan.axes_)
        if (std::ranges::count(kOfDrawnJobs, axis.key) > 0 && plan.line_of("Elastic") == 0)
            return at_line(file_name, axis.line, axis.key + ": without effect without Elastic");
    // Set.* changes what Policy has set, so it comes after it.
    const auto rank = [](const Axis& axis) {
        return axis.of_policy ? (axis.key == kPolicy ? 1 : 2) : 0;
    };
    std::ranges::stable_sort(plan.axes_, {}, rank);
    return plan;
}

simulator::WorkloadOptions SweepPlan::machine() const {
    simulator::WorkloadOptions options;
    options.nodes = line_of("Nodes") > 0 ? 1 : 0;
    options.procs_per_node = line_of("ProcsPerNode") > 0 ? 1 : 0;
    return options;
}

int SweepPlan::line_of(std::string_view key) const {
    const auto axis = std::ranges::find(axes_, key, &Axis::key);
    return axis == axes_.end() ? 0 : axis->line;
}

std::vector<std::string> SweepPlan::values(std::size_t index) const {
    std::vector<std::string> list(axes_.size());
    for (std::size_t a = axes_.size(); a-- > 0;) {
        list[a] = axes_[a].values[index % axes_[a].values.size()];
        index /= axes_[a].values.size();
    }
    return list;
}

RunSpec SweepPlan::spec(std::size_t index) const {
    RunSpec spec;
    const std::vector<std::string> list = values(index);
    for (std::size_t a = 0; a < axes_.size(); ++a) (void)apply(spec, axes_[a].key, list[a]);
    return spec;
}

}  // namespace elastic::studies

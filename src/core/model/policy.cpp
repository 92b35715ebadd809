// SPDX-License-Identifier: MIT
// The names of policies and of their choices.
//
// One names() a choice and one row a key: a new victim order is a name more (and a case in
// choices/victim_order.cpp), and appears in elastic.conf, in error messages and in every preset
// that wants it.  Names of values are compared without regard to case, as Slurm does with its own.
#include "core/model/policy.hpp"

#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <array>
#include <string>

#include "common/names.hpp"
#include "common/text.hpp"

namespace elastic::core {

constexpr auto names(InitialSize) {
    return std::to_array<std::string_view>(
        {"requested", "least", "available", "flexible", "beneficial", "equal-share", "minimum"});
}
constexpr auto names(Backfill) {
    return std::to_array<std::string_view>({"none", "easy", "conservative", "first-fit"});
}
constexpr auto names(BackfillOrder) {
    return std::to_array<std::string_view>({"queue", "shortest", "lightest"});
}
constexpr auto names(ShrinkGuard) {
    return std::to_array<std::string_view>({"never", "default", "application", "system",
                                            "system-text", "queue-blocked", "shrink-plus"});
}
constexpr auto names(VictimOrder) {
    return std::to_array<std::string_view>({"random", "gain", "shrinkable", "expansions",
                                            "adaptation-cost", "remaining-time", "scalability",
                                            "above-preferred", "use", "slowdown"});
}
constexpr auto names(ShrinkAmount) {
    return std::to_array<std::string_view>(
        {"needed", "share", "equal-share", "even", "preferred-first", "to-preferred", "each"});
}
constexpr auto names(ShrinkFor) {
    return std::to_array<std::string_view>({"starter", "anybody"});
}
constexpr auto names(ShrinkAgain) {
    return std::to_array<std::string_view>({"next-round", "never"});
}
constexpr auto names(StartsOn) {
    return std::to_array<std::string_view>({"idle", "agreed", "steal", "pool"});
}
constexpr auto names(ExpandTrigger) {
    return std::to_array<std::string_view>(
        {"never", "nobody-can-use", "queue-empty", "expand-plus"});
}
constexpr auto names(ExpandOrder) {
    return std::to_array<std::string_view>({"longest-remaining", "scalability", "benefit",
                                            "smallest", "above-minimum", "above-preferred", "use"});
}
constexpr auto names(ExpandAmount) {
    return std::to_array<std::string_view>({"to-max", "to-fastest", "to-earliest-end", "handoff",
                                            "spare", "spare-all", "equal-share", "even",
                                            "preferred-first", "to-preferred"});
}
constexpr auto names(ExpandFrom) {
    return std::to_array<std::string_view>({"gap", "start"});
}
constexpr auto names(ReservedNodes) {
    return std::to_array<std::string_view>({"kept", "lent"});
}
constexpr auto names(HeadDelayBinds) {
    return std::to_array<std::string_view>({"requests", "all"});
}
constexpr auto names(Feasibility) {
    return std::to_array<std::string_view>({"none", "mebf", "payback", "slowdown"});
}
constexpr auto names(Belief) {
    return std::to_array<std::string_view>({"declared", "learned"});
}

namespace {

bool same(std::string_view a, std::string_view b) {
    return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

// Hostile text in an error message is cut, so that the message stays one short line.
std::string shown(std::string_view value) {
    return printable(value.substr(0, 64));
}

// Another word for a value, as a paper has it.
struct Alias {
    std::string_view key, alias, name;
};
constexpr Alias kAliases[] = {{"ExpandAmount", "intensive", "to-max"}};

std::string_view without_alias(std::string_view key, std::string_view value) {
    for (const Alias& row : kAliases)
        if (same(row.key, key) && same(row.alias, value)) return row.name;
    return value;
}

template <Named Choice>
Result<void> choose(Choice& place, std::string_view key, std::string_view value) {
    static constexpr auto kNames = names(Choice{});
    const std::string_view wanted = without_alias(key, value);
    const auto found =
        std::ranges::find_if(kNames, [&](std::string_view name) { return same(name, wanted); });
    if (found == kNames.end())
        return error("{}={}: one of {}", key, shown(value), fmt::join(kNames, ", "));
    place = static_cast<Choice>(found - kNames.begin());
    return {};
}

struct Key {
    std::string_view name;
    Result<void> (*set)(Policy&, std::string_view key, std::string_view value);
    std::string (*get)(const Policy&);
};

// Makes the row of `key` for one member of Policy, an enumeration with names().
template <auto member>
constexpr Key choice(std::string_view key) {
    return {key,
            [](Policy& policy, std::string_view name, std::string_view value) {
                return choose(policy.*member, name, value);
            },
            [](const Policy& policy) { return std::string(to_string(policy.*member)); }};
}

template <auto member>
constexpr Key duration(std::string_view key) {
    return {key,
            [](Policy& policy, std::string_view name, std::string_view value) -> Result<void> {
                Result<Duration> time = parse_duration(value);
                if (!time) return error("{}={}: {}", name, shown(value), time.error().message);
                policy.*member = *time;
                return {};
            },
            // parse_duration() takes no exponent.
            [](const Policy& policy) {
                const std::string text = fmt::format("{}", policy.*member);
                return text.find('e') == text.npos ? text : fmt::format("{:f}", policy.*member);
            }};
}

constexpr std::string_view kUnlimited = "unlimited";

template <auto member>
constexpr Key limit(std::string_view key) {
    return {key,
            [](Policy& policy, std::string_view name, std::string_view value) -> Result<void> {
                if (!same(value, kUnlimited))
                    return duration<member>(name).set(policy, name, value);
                policy.*member = kNever;
                return {};
            },
            [](const Policy& policy) {
                return policy.*member < kNever ? duration<member>("").get(policy)
                                               : std::string(kUnlimited);
            }};
}

template <auto member, int most>
constexpr Key number(std::string_view key) {
    return {key,
            [](Policy& policy, std::string_view name, std::string_view value) -> Result<void> {
                const std::optional<double> number = parse_number(value);
                if (!number || *number < 0 || *number > most)
                    return error("{}={}: must be a number from 0 to {}", name, shown(value), most);
                policy.*member = *number;
                return {};
            },
            [](const Policy& policy) { return fmt::format("{}", policy.*member); }};
}

constexpr Key kKeys[] = {
    choice<&Policy::initial_size>("InitialSize"),
    choice<&Policy::backfill>("Backfill"),
    choice<&Policy::backfill_order>("BackfillOrder"),
    choice<&Policy::shrink_guard>("ShrinkGuard"),
    choice<&Policy::victim_order>("VictimOrder"),
    choice<&Policy::shrink_amount>("ShrinkAmount"),
    choice<&Policy::shrink_for>("ShrinkFor"),
    choice<&Policy::shrink_again>("ShrinkAgain"),
    choice<&Policy::starts_on>("StartsOn"),
    choice<&Policy::expand_trigger>("ExpandTrigger"),
    choice<&Policy::expand_order>("ExpandOrder"),
    choice<&Policy::expand_amount>("ExpandAmount"),
    choice<&Policy::expand_from>("ExpandFrom"),
    choice<&Policy::reserved_nodes>("ReservedNodes"),
    choice<&Policy::feasibility>("Feasibility"),
    duration<&Policy::resize_gap>("ResizeGap"),
    limit<&Policy::head_delay>("HeadDelay"),
    choice<&Policy::head_delay_binds>("HeadDelayBinds"),
    choice<&Policy::belief>("Belief"),
    number<&Policy::objective, 1>("Objective"),
    duration<&Policy::guard_time>("GuardTime"),
    number<&Policy::guard_done, 1>("GuardDone"),
    number<&Policy::guard_utilization, 1>("GuardUtilization"),
    number<&Policy::shrink_share, 1>("ShrinkShare"),
    number<&Policy::spare_ratio, 1000>("SpareRatio"),
    number<&Policy::spare_kept, 1>("SpareKept"),
    number<&Policy::least_remaining, 1>("LeastRemaining"),
    number<&Policy::most_slowdown, 1000>("MostSlowdown"),
};

Policy rigid(Backfill backfill) {
    Policy policy;
    policy.backfill = backfill;
    policy.shrink_guard = ShrinkGuard::never;
    policy.expand_trigger = ExpandTrigger::never;
    return policy;
}

// Ours: what the order of elastic does without resizes.
Policy easy_lightest() {
    Policy policy = rigid(Backfill::easy);
    policy.backfill_order = BackfillOrder::lightest;
    return policy;
}

Policy lina(ShrinkGuard guard) {
    Policy policy;
    policy.shrink_guard = guard;
    return policy;
}

// Malleable EASY backfilling.  The paper does not say how MEBF-basic expands; taken here as
// Intensive, which adds no condition to what all three have.
Policy mebf(ExpandAmount amount) {
    Policy policy;
    policy.initial_size = InitialSize::available;
    policy.shrink_guard = ShrinkGuard::queue_blocked;
    policy.victim_order = VictimOrder::scalability;
    policy.shrink_amount = ShrinkAmount::share;
    policy.expand_trigger = ExpandTrigger::queue_empty;
    policy.expand_order = ExpandOrder::scalability;
    policy.expand_amount = amount;
    policy.feasibility = Feasibility::mebf;
    return policy;
}

Policy mebf_shrink_plus() {
    Policy policy = mebf(ExpandAmount::to_max);
    policy.shrink_guard = ShrinkGuard::shrink_plus;
    return policy;
}

Policy mebf_expand_plus() {
    Policy policy = mebf(ExpandAmount::to_max);
    policy.expand_trigger = ExpandTrigger::expand_plus;
    return policy;
}

// The variant of dynamic equipartitioning of [gupta] section VI-E.
Policy equipartition() {
    Policy policy;
    policy.initial_size = InitialSize::equal_share;
    policy.shrink_amount = ShrinkAmount::equal_share;
    policy.expand_order = ExpandOrder::smallest;
    policy.expand_amount = ExpandAmount::equal_share;
    policy.resize_gap = 100;  // the best of the three values of its table IV
    return policy;
}

// The strategies that [wagomu] calls MIN, AVERAGE and PREF.
Policy wagomu_min() {
    Policy policy;
    policy.initial_size = InitialSize::minimum;
    policy.expand_order = ExpandOrder::above_minimum;
    return policy;
}

Policy wagomu_average() {
    Policy policy;
    policy.initial_size = InitialSize::minimum;
    policy.victim_order = VictimOrder::use;
    policy.shrink_amount = ShrinkAmount::even;
    policy.expand_order = ExpandOrder::use;
    policy.expand_amount = ExpandAmount::even;
    return policy;
}

Policy wagomu_pref() {
    Policy policy;
    policy.initial_size = InitialSize::flexible;
    policy.victim_order = VictimOrder::above_preferred;
    policy.shrink_amount = ShrinkAmount::preferred_first;
    policy.expand_order = ExpandOrder::above_preferred;
    policy.expand_amount = ExpandAmount::preferred_first;
    return policy;
}

// Their variants with agreements.
Policy with_agreements(Policy policy, StartsOn starts_on) {
    policy.starts_on = starts_on;
    return policy;
}

// KEEP-PREF: nobody ever has less than it prefers, at its start or later.
Policy wagomu_keep_pref() {
    Policy policy = wagomu_pref();
    policy.initial_size = InitialSize::requested;
    policy.shrink_amount = ShrinkAmount::to_preferred;
    return policy;
}

// [sd]: nobody ever has more than it asked for.
Policy slowdown_driven() {
    Policy policy;
    policy.victim_order = VictimOrder::slowdown;
    policy.expand_amount = ExpandAmount::to_preferred;
    policy.feasibility = Feasibility::slowdown;
    return policy;
}

// Ours: doc/policies.md says how it works and what it was chosen by.
Policy elastic_default() {
    Policy policy;
    policy.initial_size = InitialSize::beneficial;
    policy.backfill_order = BackfillOrder::lightest;
    policy.expand_order = ExpandOrder::benefit;
    policy.expand_amount = ExpandAmount::to_fastest;
    policy.expand_from = ExpandFrom::start;
    policy.reserved_nodes = ReservedNodes::lent;
    policy.feasibility = Feasibility::payback;
    policy.resize_gap = 2;
    policy.head_delay = 24 * 3600;
    policy.head_delay_binds = HeadDelayBinds::all;
    policy.belief = Belief::learned;
    return policy;
}

struct Preset {
    std::string_view name;
    Policy policy;
};

// Each but the first and easy-lightest as its paper has it, or what of it was at hand
// (doc/policies.md).
const std::array kPresets{
    Preset{"elastic", elastic_default()},
    Preset{"fcfs", rigid(Backfill::none)},
    Preset{"easy", rigid(Backfill::easy)},
    Preset{"easy-lightest", easy_lightest()},
    Preset{"conservative", rigid(Backfill::conservative)},
    Preset{"lina-default", lina(ShrinkGuard::by_default)},
    Preset{"lina-application", lina(ShrinkGuard::application)},
    Preset{"lina-system", lina(ShrinkGuard::system)},
    Preset{"lina-system-text", lina(ShrinkGuard::system_text)},
    Preset{"mebf-basic", mebf(ExpandAmount::to_max)},
    Preset{"mebf-handoff", mebf(ExpandAmount::handoff)},
    Preset{"mebf-spare", mebf(ExpandAmount::spare)},
    Preset{"mebf-intensive", mebf(ExpandAmount::to_max)},
    Preset{"mebf-shrink-plus", mebf_shrink_plus()},
    Preset{"mebf-expand-plus", mebf_expand_plus()},
    Preset{"equipartition", equipartition()},
    Preset{"wagomu-min", wagomu_min()},
    Preset{"wagomu-pref", wagomu_pref()},
    Preset{"wagomu-average", wagomu_average()},
    Preset{"wagomu-min-agreement", with_agreements(wagomu_min(), StartsOn::agreed)},
    Preset{"wagomu-min-steal", with_agreements(wagomu_min(), StartsOn::steal)},
    Preset{"wagomu-min-pool", with_agreements(wagomu_min(), StartsOn::pool)},
    Preset{"wagomu-pref-agreement", with_agreements(wagomu_pref(), StartsOn::agreed)},
    Preset{"wagomu-pref-steal", with_agreements(wagomu_pref(), StartsOn::steal)},
    Preset{"wagomu-pref-pool", with_agreements(wagomu_pref(), StartsOn::pool)},
    Preset{"wagomu-average-agreement", with_agreements(wagomu_average(), StartsOn::agreed)},
    Preset{"wagomu-average-steal", with_agreements(wagomu_average(), StartsOn::steal)},
    Preset{"wagomu-average-pool", with_agreements(wagomu_average(), StartsOn::pool)},
    Preset{"wagomu-keep-pref", wagomu_keep_pref()},
    Preset{"sd-policy", slowdown_driven()},
};

}  // namespace

Result<Policy> preset(std::string_view name) {
    const std::size_t slash = name.find('/');
    for (const Preset& row : kPresets) {
        if (!same(row.name, name.substr(0, slash))) continue;
        Policy policy = row.policy;
        if (slash == std::string_view::npos) return policy;
        const Result<void> done =
            choose(policy.victim_order, "VictimOrder", name.substr(slash + 1));
        if (!done) return error("Policy={}: {}", shown(name), done.error().message);
        return policy;
    }
    return error("Policy={}: one of {}", shown(name), fmt::join(preset_names(), ", "));
}

std::vector<std::string_view> preset_names() {
    std::vector<std::string_view> list;
    for (const Preset& row : kPresets) list.push_back(row.name);
    return list;
}

ChoiceResult set_choice(Policy& policy, std::string_view key, std::string_view value) {
    for (const Key& row : kKeys)
        if (same(row.name, key)) return {true, row.set(policy, row.name, value)};
    return {false, {}};
}

std::vector<ChoiceValue> choices_of(const Policy& policy) {
    std::vector<ChoiceValue> list;
    for (const Key& row : kKeys) list.push_back({row.name, row.get(policy)});
    return list;
}

}  // namespace elastic::core

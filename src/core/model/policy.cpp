// SPDX-License-Identifier: MIT
// The names of policies and of their choices.
//
// One table a choice and one row a key: a new victim order is a new row in its table (and a case in
// choices/victim_order.cpp), and appears in elastic.conf, in error messages and in every preset
// that wants it.  Names of values are compared without regard to case, as Slurm does with its own.
#include "core/model/policy.hpp"

#include <fmt/format.h>
#include <strings.h>

#include <array>
#include <string>

#include "common/text.hpp"

namespace elastic::core {
namespace {

template <class Choice>
struct Name {
    std::string_view name;
    Choice choice;
};

constexpr Name<InitialSize> kInitialSize[] = {
    {"requested", InitialSize::requested},   {"least", InitialSize::least},
    {"available", InitialSize::available},   {"flexible", InitialSize::flexible},
    {"beneficial", InitialSize::beneficial}, {"equal-share", InitialSize::equal_share},
    {"minimum", InitialSize::minimum}};
constexpr Name<Backfill> kBackfill[] = {
    {"none", Backfill::none}, {"easy", Backfill::easy}, {"conservative", Backfill::conservative}};
constexpr Name<BackfillOrder> kBackfillOrder[] = {{"queue", BackfillOrder::queue},
                                                  {"shortest", BackfillOrder::shortest},
                                                  {"lightest", BackfillOrder::lightest}};
constexpr Name<ShrinkGuard> kShrinkGuard[] = {{"never", ShrinkGuard::never},
                                              {"default", ShrinkGuard::by_default},
                                              {"application", ShrinkGuard::application},
                                              {"system", ShrinkGuard::system},
                                              {"system-text", ShrinkGuard::system_text},
                                              {"queue-blocked", ShrinkGuard::queue_blocked},
                                              {"shrink-plus", ShrinkGuard::shrink_plus}};
constexpr Name<VictimOrder> kVictimOrder[] = {{"random", VictimOrder::random},
                                              {"gain", VictimOrder::gain},
                                              {"shrinkable", VictimOrder::shrinkable},
                                              {"expansions", VictimOrder::expansions},
                                              {"adaptation-cost", VictimOrder::adaptation_cost},
                                              {"remaining-time", VictimOrder::remaining_time},
                                              {"scalability", VictimOrder::scalability},
                                              {"above-preferred", VictimOrder::above_preferred},
                                              {"use", VictimOrder::use},
                                              {"slowdown", VictimOrder::slowdown}};
constexpr Name<ShrinkAmount> kShrinkAmount[] = {{"needed", ShrinkAmount::needed},
                                                {"share", ShrinkAmount::share},
                                                {"equal-share", ShrinkAmount::equal_share},
                                                {"even", ShrinkAmount::even},
                                                {"preferred-first", ShrinkAmount::preferred_first},
                                                {"to-preferred", ShrinkAmount::to_preferred}};
constexpr Name<ShrinkFor> kShrinkFor[] = {{"starter", ShrinkFor::starter},
                                          {"anybody", ShrinkFor::anybody}};
constexpr Name<ShrinkAgain> kShrinkAgain[] = {{"next-round", ShrinkAgain::next_round},
                                              {"never", ShrinkAgain::never}};
constexpr Name<StartsOn> kStartsOn[] = {{"idle", StartsOn::idle},
                                        {"agreed", StartsOn::agreed},
                                        {"steal", StartsOn::steal},
                                        {"pool", StartsOn::pool}};
constexpr Name<ExpandTrigger> kExpandTrigger[] = {{"never", ExpandTrigger::never},
                                                  {"nobody-can-use", ExpandTrigger::nobody_can_use},
                                                  {"queue-empty", ExpandTrigger::queue_empty},
                                                  {"expand-plus", ExpandTrigger::expand_plus}};
constexpr Name<ExpandOrder> kExpandOrder[] = {{"longest-remaining", ExpandOrder::longest_remaining},
                                              {"scalability", ExpandOrder::scalability},
                                              {"benefit", ExpandOrder::benefit},
                                              {"smallest", ExpandOrder::smallest},
                                              {"above-minimum", ExpandOrder::above_minimum},
                                              {"above-preferred", ExpandOrder::above_preferred},
                                              {"use", ExpandOrder::use}};
constexpr Name<ExpandAmount> kExpandAmount[] = {{"to-max", ExpandAmount::to_max},
                                                {"intensive", ExpandAmount::to_max},
                                                {"to-fastest", ExpandAmount::to_fastest},
                                                {"to-earliest-end", ExpandAmount::to_earliest_end},
                                                {"handoff", ExpandAmount::handoff},
                                                {"spare", ExpandAmount::spare},
                                                {"spare-all", ExpandAmount::spare_all},
                                                {"equal-share", ExpandAmount::equal_share},
                                                {"even", ExpandAmount::even},
                                                {"preferred-first", ExpandAmount::preferred_first},
                                                {"to-preferred", ExpandAmount::to_preferred}};
constexpr Name<ExpandFrom> kExpandFrom[] = {{"gap", ExpandFrom::gap}, {"start", ExpandFrom::start}};
constexpr Name<ReservedNodes> kReservedNodes[] = {{"kept", ReservedNodes::kept},
                                                  {"lent", ReservedNodes::lent}};
constexpr Name<HeadDelayBinds> kHeadDelayBinds[] = {{"requests", HeadDelayBinds::requests},
                                                    {"all", HeadDelayBinds::all}};
constexpr Name<Feasibility> kFeasibility[] = {{"none", Feasibility::none},
                                              {"mebf", Feasibility::mebf},
                                              {"payback", Feasibility::payback},
                                              {"slowdown", Feasibility::slowdown}};

bool same(std::string_view a, std::string_view b) {
    return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

template <class Choice, std::size_t rows>
std::string names(const Name<Choice> (&table)[rows]) {
    std::string list;
    for (const auto& row : table) list += fmt::format("{}{}", list.empty() ? "" : ", ", row.name);
    return list;
}

// Hostile text in an error message is cut, so that the message stays one short line.
std::string shown(std::string_view value) {
    return printable(value.substr(0, 64));
}

template <class Choice, std::size_t rows>
Result<void> choose(Choice& place, std::string_view key, const Name<Choice> (&table)[rows],
                    std::string_view value) {
    for (const auto& row : table) {
        if (!same(row.name, value)) continue;
        place = row.choice;
        return {};
    }
    return error("{}={}: one of {}", key, shown(value), names(table));
}

// An alias stands behind the name it is another word for.
template <class Choice, std::size_t rows>
std::string name_of(Choice choice, const Name<Choice> (&table)[rows]) {
    for (const auto& row : table)
        if (row.choice == choice) return std::string(row.name);
    return "";
}

struct Key {
    std::string_view name;
    Result<void> (*set)(Policy&, std::string_view key, std::string_view value);
    std::string (*get)(const Policy&);
};

// Makes the row of `key` for one member of Policy and its table of names.
template <auto member, const auto& table>
constexpr Key choice(std::string_view key) {
    return {key,
            [](Policy& policy, std::string_view name, std::string_view value) {
                return choose(policy.*member, name, table, value);
            },
            [](const Policy& policy) { return name_of(policy.*member, table); }};
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
    choice<&Policy::initial_size, kInitialSize>("InitialSize"),
    choice<&Policy::backfill, kBackfill>("Backfill"),
    choice<&Policy::backfill_order, kBackfillOrder>("BackfillOrder"),
    choice<&Policy::shrink_guard, kShrinkGuard>("ShrinkGuard"),
    choice<&Policy::victim_order, kVictimOrder>("VictimOrder"),
    choice<&Policy::shrink_amount, kShrinkAmount>("ShrinkAmount"),
    choice<&Policy::shrink_for, kShrinkFor>("ShrinkFor"),
    choice<&Policy::shrink_again, kShrinkAgain>("ShrinkAgain"),
    choice<&Policy::starts_on, kStartsOn>("StartsOn"),
    choice<&Policy::expand_trigger, kExpandTrigger>("ExpandTrigger"),
    choice<&Policy::expand_order, kExpandOrder>("ExpandOrder"),
    choice<&Policy::expand_amount, kExpandAmount>("ExpandAmount"),
    choice<&Policy::expand_from, kExpandFrom>("ExpandFrom"),
    choice<&Policy::reserved_nodes, kReservedNodes>("ReservedNodes"),
    choice<&Policy::feasibility, kFeasibility>("Feasibility"),
    duration<&Policy::resize_gap>("ResizeGap"),
    limit<&Policy::head_delay>("HeadDelay"),
    choice<&Policy::head_delay_binds, kHeadDelayBinds>("HeadDelayBinds"),
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
    policy.head_delay = 4 * 3600;
    policy.head_delay_binds = HeadDelayBinds::all;
    return policy;
}

struct Preset {
    std::string_view name;
    Policy policy;
};

// Each but the first as its paper has it, or what of it was at hand (doc/policies.md).
const std::array kPresets{
    Preset{"elastic", elastic_default()},
    Preset{"fcfs", rigid(Backfill::none)},
    Preset{"easy", rigid(Backfill::easy)},
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
            choose(policy.victim_order, "VictimOrder", kVictimOrder, name.substr(slash + 1));
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

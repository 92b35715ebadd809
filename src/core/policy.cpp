// SPDX-License-Identifier: MIT
// The names of policies and of their choices.
//
// One table a choice and one row a key: a new victim order is a new row in its
// table (and a unit in victims.cpp), and appears in elastic.conf, in error
// messages and in every preset that wants it.  Names of values are compared
// without regard to case, as Slurm does with its own.
#include "core/policy.hpp"

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

constexpr Name<InitialSize> kInitialSize[] = {{"requested", InitialSize::requested},
                                              {"least", InitialSize::least}};
constexpr Name<Backfill> kBackfill[] = {{"none", Backfill::none}, {"easy", Backfill::easy}};
constexpr Name<ShrinkGuard> kShrinkGuard[] = {{"never", ShrinkGuard::never},
                                              {"default", ShrinkGuard::by_default}};
constexpr Name<VictimOrder> kVictimOrder[] = {{"shrinkable", VictimOrder::shrinkable},
                                              {"gain", VictimOrder::gain}};
constexpr Name<ShrinkAmount> kShrinkAmount[] = {{"needed", ShrinkAmount::needed}};
constexpr Name<ExpandTrigger> kExpandTrigger[] = {
    {"never", ExpandTrigger::never}, {"nobody-can-use", ExpandTrigger::nobody_can_use}};
constexpr Name<ExpandOrder> kExpandOrder[] = {
    {"longest-remaining", ExpandOrder::longest_remaining}};
constexpr Name<ExpandAmount> kExpandAmount[] = {{"to-max", ExpandAmount::to_max}};

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

struct Key {
    std::string_view name;
    Result<void> (*set)(Policy&, std::string_view key, std::string_view value);
};

// Makes the row of `key` for one member of Policy and its table of names.
template <auto member, const auto& table>
constexpr Key choice(std::string_view key) {
    return {key, [](Policy& policy, std::string_view name, std::string_view value) {
                return choose(policy.*member, name, table, value);
            }};
}

constexpr Key kKeys[] = {
    choice<&Policy::initial_size, kInitialSize>("InitialSize"),
    choice<&Policy::backfill, kBackfill>("Backfill"),
    choice<&Policy::shrink_guard, kShrinkGuard>("ShrinkGuard"),
    choice<&Policy::victim_order, kVictimOrder>("VictimOrder"),
    choice<&Policy::shrink_amount, kShrinkAmount>("ShrinkAmount"),
    choice<&Policy::expand_trigger, kExpandTrigger>("ExpandTrigger"),
    choice<&Policy::expand_order, kExpandOrder>("ExpandOrder"),
    choice<&Policy::expand_amount, kExpandAmount>("ExpandAmount"),
    {"ResizeGap",
     [](Policy& policy, std::string_view key, std::string_view value) -> Result<void> {
         Result<Duration> gap = parse_duration(value);
         if (!gap) return error("{}={}: {}", key, shown(value), gap.error().message);
         policy.resize_gap = *gap;
         return {};
     }},
};

Policy rigid(Backfill backfill) {
    Policy policy;
    policy.backfill = backfill;
    policy.shrink_guard = ShrinkGuard::never;
    policy.expand_trigger = ExpandTrigger::never;
    return policy;
}

struct Preset {
    std::string_view name;
    Policy policy;
};

// Each as its paper has it; what a row does not mention is Policy's default.
const std::array kPresets{
    Preset{"fcfs", rigid(Backfill::none)},
    Preset{"easy", rigid(Backfill::easy)},
    Preset{"lina-default", Policy{}},
};

}  // namespace

Result<Policy> preset(std::string_view name) {
    for (const Preset& row : kPresets)
        if (same(row.name, name)) return row.policy;
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

}  // namespace elastic::core

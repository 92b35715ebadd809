// SPDX-License-Identifier: MIT
// A policy is one choice in each of a few places (doc/architecture.md lists
// them with their papers); a published policy is a named preset of choices.
#pragma once

#include <string_view>
#include <vector>

#include "common/result.hpp"
#include "common/time.hpp"

namespace elastic::core {

// requested: the preferred size.  least: a malleable job that starts by
// shrinking others starts with its minimum ([lina] algorithm 4, lines 2 and 3).
enum class InitialSize { requested, least };
enum class Backfill { none, easy };
enum class ShrinkGuard { never, by_default };  // [lina] algorithm 5 is `default`
enum class VictimOrder { shrinkable, gain };   // [lina] section 4
enum class ShrinkAmount { needed };            // [lina] algorithm 8
enum class ExpandTrigger { never, nobody_can_use };
enum class ExpandOrder { longest_remaining };  // [lina]
enum class ExpandAmount { to_max };

struct Policy {
    InitialSize initial_size = InitialSize::requested;
    Backfill backfill = Backfill::easy;
    ShrinkGuard shrink_guard = ShrinkGuard::by_default;
    VictimOrder victim_order = VictimOrder::shrinkable;
    ShrinkAmount shrink_amount = ShrinkAmount::needed;
    ExpandTrigger expand_trigger = ExpandTrigger::nobody_can_use;
    ExpandOrder expand_order = ExpandOrder::longest_remaining;
    ExpandAmount expand_amount = ExpandAmount::to_max;
    Duration resize_gap = 30;  // [gupta] T_gap: least time between two resizes of one job
};

// "fcfs", "easy", "lina-default"; an error lists the known names.
Result<Policy> preset(std::string_view name);
std::vector<std::string_view> preset_names();

// One choice by its key in elastic.conf ("VictimOrder", "gain"); an error names
// the key and the possible values.  `known` is false for a key that is no choice.
struct ChoiceResult {
    bool known = true;
    Result<void> result;
};
ChoiceResult set_choice(Policy&, std::string_view key, std::string_view value);

}  // namespace elastic::core

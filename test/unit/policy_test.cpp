// SPDX-License-Identifier: MIT
// Policies by name, and their choices by key and value.
#include "core/model/policy.hpp"

#include <string>
#include <utility>

#include "testing.hpp"

using namespace elastic;
using namespace elastic::core;

TEST(every_preset_has_a_name_and_is_found_by_it) {
    for (std::string_view name : preset_names()) check_ok(preset(name));
    check_that(preset("EASY")->expand_trigger == ExpandTrigger::never);
    check_error(
        preset("best"),
        "Policy=best: one of elastic, fcfs, easy, easy-lightest, conservative, lina-default, "
        "lina-application, lina-system, lina-system-text, mebf-basic, mebf-handoff, mebf-spare, "
        "mebf-intensive, mebf-shrink-plus, mebf-expand-plus, equipartition, wagomu-min, "
        "wagomu-pref, wagomu-average, wagomu-min-agreement, wagomu-min-steal, wagomu-min-pool, "
        "wagomu-pref-agreement, wagomu-pref-steal, wagomu-pref-pool, wagomu-average-agreement, "
        "wagomu-average-steal, wagomu-average-pool, wagomu-keep-pref, sd-policy");
}

TEST(a_preset_can_name_its_victim_order) {
    check_that(preset("lina-system/adaptation-cost")->victim_order == VictimOrder::adaptation_cost);
    check_that(preset("lina-system/gain")->shrink_guard == ShrinkGuard::system);
    check_error(
        preset("lina-system/tallest"),
        "Policy=lina-system/tallest: VictimOrder=tallest: one of random, gain, shrinkable, "
        "expansions, adaptation-cost, remaining-time, scalability, above-preferred, use, slowdown");
}

TEST(the_variants_of_a_strategy_differ_in_what_a_job_starts_on) {
    for (const std::string base : {"wagomu-min", "wagomu-pref", "wagomu-average"}) {
        Policy policy = *preset(base);
        check_that(policy.starts_on == StartsOn::idle);
        for (const auto& [suffix, starts_on] : {std::pair{"-agreement", StartsOn::agreed},
                                                {"-steal", StartsOn::steal},
                                                {"-pool", StartsOn::pool}}) {
            policy.starts_on = starts_on;
            check_that(*preset(base + suffix) == policy);
        }
    }
    check_that(!preset("wagomu-min-agreement")->trades() && preset("wagomu-min-steal")->trades());
}

TEST(a_choice_is_set_by_key_and_value) {
    Policy policy;
    check_ok(set_choice(policy, "victimorder", "Gain").result);
    check_that(policy.victim_order == VictimOrder::gain);
    check_ok(set_choice(policy, "ResizeGap", "2:00").result);
    check_eq(policy.resize_gap, 120.0);
    check_that(!set_choice(policy, "ListenPort", "1").known);
}

TEST(a_wrong_value_names_the_key_and_the_choices_and_changes_nothing) {
    Policy policy;
    const ChoiceResult wrong = set_choice(policy, "victimorder", "tallest");
    check_that(wrong.known);
    check_error(wrong.result,
                "VictimOrder=tallest: one of random, gain, shrinkable, expansions, "
                "adaptation-cost, remaining-time, scalability, above-preferred, use, slowdown");
    check_that(policy.victim_order == VictimOrder::shrinkable);
    check_that(!set_choice(policy, "ResizeGap", "soon").result);
}

TEST(a_long_wrong_value_makes_a_short_message) {
    Policy policy;
    const std::string value(100'000, 'x');
    check_that(set_choice(policy, "Backfill", value).result.error().message.size() < 200);
    check_that(preset(value).error().message.size() < 700);
}

TEST(choices_make_an_equal_policy_out_of_any_other) {
    for (std::string_view name : preset_names()) {
        const Policy policy = *preset(name);
        Policy other = *preset("mebf-shrink-plus/random");
        for (const auto& [key, value] : choices_of(policy))
            check_ok(set_choice(other, key, value).result);
        check_that(other == policy);
    }
}

TEST(numbers_of_a_policy_lose_nothing) {
    Policy policy;
    policy.resize_gap = 0.1;
    policy.guard_time = 31536000;
    policy.shrink_share = 1.0 / 3;
    policy.spare_ratio = 1e-7;
    Policy other;
    for (const auto& [key, value] : choices_of(policy))
        check_ok(set_choice(other, key, value).result);
    check_that(other == policy);
}

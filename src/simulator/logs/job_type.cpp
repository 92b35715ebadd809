// SPDX-License-Identifier: MIT
// No field of a log has an end of line, so that one between fields keeps ("a", "b c") and ("a b",
// "c") apart.
#include "simulator/logs/job_type.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/text.hpp"

namespace elastic::simulator {

Result<TypeRule> parse_type_rule(std::string_view text) {
    constexpr auto kNames = names(TypeField{});
    TypeRule rule;
    for (const std::string_view name : split(text, ',')) {
        const auto place = elastic::index_of(kNames, trim(name));
        if (!place) return error("'{}' is none of {}", printable(name), fmt::join(kNames, ", "));
        const auto field = static_cast<TypeField>(*place);
        if (std::ranges::count(rule, field) > 0) return error("{} stands twice", to_string(field));
        rule.push_back(field);
    }
    return rule;
}

std::string to_string(const TypeRule& rule) {
    std::string text;
    for (const TypeField field : rule) {
        if (!text.empty()) text += ',';
        text += to_string(field);
    }
    return text;
}

int TypeBook::type_of(const std::array<std::optional<std::string_view>, kTypeFields>& fields) {
    constexpr std::size_t kShown = 60;
    if (rule_.empty()) return -1;
    std::string key, name;
    for (const TypeField field : rule_) {
        const auto& value = fields[static_cast<std::size_t>(field)];
        if (!value) return -1;
        if (!name.empty()) key += '\n', name += ", ";
        key += *value;
        name += printable(*value, kShown);
    }
    const auto [found, is_new] = types_.try_emplace(key, static_cast<int>(names_.size()));
    if (is_new) names_.push_back(name);
    return found->second;
}

}  // namespace elastic::simulator

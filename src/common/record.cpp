// SPDX-License-Identifier: MIT
// What the formats let in.
#include "common/record.hpp"

#include "common/text.hpp"

namespace elastic {

Result<std::int64_t> Whole::checked(const Json& json, std::int64_t low, std::int64_t high) {
    const auto found = json.integer();
    if (found && low <= *found && *found <= high) return *found;
    return error(" must be an integer from {} to {}, not {}", low, high, json.describe());
}

Result<void> Number::read(const Json& json, double& value) const {
    const auto found = json.number();
    if (!found || !(low <= *found && *found <= high))
        return error(" must be a number from {} to {}, not {}", low, high, json.describe());
    value = *found;
    return {};
}

Result<void> Text::read(const Json& json, std::string& value) const {
    const auto found = json.text();
    if (!found) return error(" must be a string, not {}", json.describe());
    if (found->size() > longest)
        return error(" has {} bytes, at most {} are allowed", found->size(), longest);
    value = *found;
    return {};
}

Json Prose::write(std::string_view value) const {
    return Json(value.size() <= longest && is_ascii(value) ? value : to_utf8(value, longest));
}

Result<void> Flag::read(const Json& json, bool& value) const {
    const auto found = json.boolean();
    if (!found) return error(" must be true or false, not {}", json.describe());
    value = *found;
    return {};
}

Result<std::size_t> read_name(const Json& json, std::span<const std::string_view> table) {
    const auto name = json.text();
    const auto place = name ? index_of(table, *name) : std::nullopt;
    if (place) return *place;
    return error(" must be one of {}, not {}", fmt::join(table, ", "), json.describe());
}

}  // namespace elastic

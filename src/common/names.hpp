// SPDX-License-Identifier: MIT
// The words for an enumeration's values, in one table that stands beside it:
//
//     enum class Role { application, tool };
//     constexpr auto names(Role) {
//         return std::to_array<std::string_view>({"application", "tool"});
//     }
//
// The table is in the order of the values, which count from 0.  The words are those of messages, of
// files and of the wire (record.hpp); in another namespace `using elastic::to_string;` makes
// to_string() known.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <variant>

namespace elastic {

template <class Enum>
concept Named = std::is_enum_v<Enum> && requires(Enum value) {
    names(value).size();
};

template <Named Enum>
std::string_view to_string(Enum value) {
    static constexpr auto kNames = names(Enum{});
    return kNames[static_cast<std::size_t>(value)];
}

// The names of a variant's alternatives, in their order; each alternative says its own as kName.
template <class... Kinds>
constexpr auto names_of(std::type_identity<std::variant<Kinds...>>) {
    return std::array<std::string_view, sizeof...(Kinds)>{Kinds::kName...};
}

// The place of a name in a table.
inline std::optional<std::size_t> index_of(std::span<const std::string_view> table,
                                           std::string_view name) {
    const auto found = std::ranges::find(table, name);
    if (found == table.end()) return std::nullopt;
    return static_cast<std::size_t>(found - table.begin());
}

}  // namespace elastic

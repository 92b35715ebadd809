// SPDX-License-Identifier: MIT
// A word of an enumeration, whether this version knows it or not: a later peer's words are kept as
// they came, so that an answer or a log can repeat them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "common/names.hpp"

namespace elastic::protocol {

template <Named Enum>
class OpenWord {
  public:
    OpenWord(Enum known) : value_(known) {}
    // A name of the enumeration is that word.
    explicit OpenWord(std::string text) {
        static constexpr auto kNames = names(Enum{});
        if (const auto place = index_of(kNames, text))
            value_ = static_cast<Enum>(*place);
        else
            value_ = std::move(text);
    }

    std::optional<Enum> known() const {
        const Enum* known = std::get_if<Enum>(&value_);
        return known ? std::optional(*known) : std::nullopt;
    }
    std::string_view text() const {
        const std::string* unknown = std::get_if<std::string>(&value_);
        return unknown ? *unknown : to_string(std::get<Enum>(value_));
    }

    friend bool operator==(const OpenWord&, const OpenWord&) = default;

  private:
    std::variant<Enum, std::string> value_;
};

}  // namespace elastic::protocol

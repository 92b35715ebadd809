// SPDX-License-Identifier: MIT
// A check sees the text before the command line's parser does, so the message can quote it and name
// the bounds as whole numbers where they are.
#include "arguments.hpp"

#include <fmt/format.h>

#include "common/text.hpp"

namespace elastic::tools {

CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
    const std::string range = fmt::format("from {} to {}", least, most);
    return CLI::Validator(
        [=](std::string& text) {
            const auto value = parse_integer(text);
            if (value && *value >= least && *value <= most) return std::string();
            return fmt::format("'{}' is no whole number {}", text, range);
        },
        range);
}

CLI::Validator number(double least, double most) {
    const std::string range = fmt::format("from {} to {}", least, most);
    return CLI::Validator(
        [=](std::string& text) {
            const auto value = parse_number(text);
            if (value && *value >= least && *value <= most) return std::string();
            return fmt::format("'{}' is no number {}", text, range);
        },
        range);
}

}  // namespace elastic::tools

// SPDX-License-Identifier: MIT
// Durations in Slurm's notation.  Stricter than Slurm: a lower field beyond its clock ("1:75") is a
// typing mistake and refused.
#include "common/time.hpp"

#include <array>
#include <cmath>

#include "common/text.hpp"

namespace elastic {

namespace {

constexpr std::string_view kDigits = "0123456789";

// Digits with at most one fraction; no sign, no exponent.
std::optional<Duration> plain_seconds(std::string_view text) {
    if (!consists_of(text, "0123456789.") || text[0] == '.' || text.back() == '.')
        return std::nullopt;
    return parse_number(text);
}

// The fields of "A:B:C"; every one but the first below its limit.  `units` are the seconds one of
// each field counts.
template <std::size_t N>
std::optional<Duration> clock(const std::vector<std::string_view>& fields,
                              const std::array<int, N>& units, bool first_is_bounded) {
    Duration sum = 0;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        std::optional<double> value;
        if (consists_of(fields[i], kDigits)) value = parse_number(fields[i]);
        if (!value) return std::nullopt;
        double limit = units[i] == 3600 ? 24 : 60;
        if ((i > 0 || first_is_bounded) && *value >= limit) return std::nullopt;
        sum += *value * units[i];
    }
    return sum;
}

}  // namespace

std::optional<Duration> parse_slurm_time(std::string_view text) {
    constexpr std::array kHoursFirst{3600, 60, 1};
    constexpr std::array kMinutesFirst{60, 1};
    std::size_t dash = text.find('-');
    std::vector<std::string_view> fields =
        split(dash == std::string_view::npos ? text : text.substr(dash + 1), ':');
    if (fields.size() > 3) return std::nullopt;
    if (dash == std::string_view::npos) {
        if (fields.size() < 2) return std::nullopt;
        return fields.size() == 2 ? clock(fields, kMinutesFirst, false)
                                  : clock(fields, kHoursFirst, false);
    }
    std::string_view days = text.substr(0, dash);
    if (!consists_of(days, kDigits)) return std::nullopt;
    std::optional<double> count = parse_number(days);
    std::optional<Duration> rest = clock(fields, kHoursFirst, true);
    if (!count || !rest) return std::nullopt;
    return *count * 86400 + *rest;
}

Result<Duration> parse_duration(std::string_view text) {
    std::optional<Duration> seconds = plain_seconds(text);
    if (!seconds) seconds = parse_slurm_time(text);
    if (!seconds) {
        return error("'{}' is no time; write seconds, MM:SS, HH:MM:SS or D-HH[:MM[:SS]]",
                     printable(text));
    }
    if (*seconds > kYear) return error("'{}' is more than a year", printable(text));
    return *seconds;
}

std::string format_duration(Duration seconds) {
    if (!(std::fabs(seconds) < kNever)) return "never";
    auto whole = std::llround(std::fabs(seconds));
    std::string text =
        fmt::format("{:02}:{:02}:{:02}", whole / 3600 % 24, whole / 60 % 60, whole % 60);
    if (whole >= 86400) text = fmt::format("{}-{}", whole / 86400, text);
    return seconds < 0 && whole > 0 ? "-" + text : text;
}

}  // namespace elastic

// SPDX-License-Identifier: MIT
// Times are computed, not converted by the C library: the result must not depend on the time zone
// of whoever runs the simulator.  (Local times repeat an hour once a year; ElapsedRaw, which is
// preferred, does not.)
#include "simulator/logs/sacct_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <string>

#include "common/text.hpp"
#include "common/time.hpp"

namespace elastic::simulator {

namespace {

using Value = std::optional<double>;

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kDate = "0000-00-00T";

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// "64", and "64.0" of tools that keep numbers as floating point.
std::optional<double> plain_number(std::string_view text) {
    if (!consists_of(text, "0123456789.") || text.front() == '.') return std::nullopt;
    return parse_number(text);
}

// "1536", or "1.50K" as sacct writes it, in powers of 1024.
struct Count {
    std::optional<double> number;
    double unit = 1;
};

Count read_count(std::string_view text) {
    constexpr std::string_view kSuffixes = "KMGTP";
    const std::size_t power = text.empty() ? text.npos : kSuffixes.find(text.back());
    if (power == text.npos) return {plain_number(text)};
    return {plain_number(text.substr(0, text.size() - 1)), std::pow(1024, power + 1)};
}

bool is_whole(double number) {
    return number == std::trunc(number);
}

Value count(std::string_view text) {
    const auto [number, unit] = read_count(text);
    if (!number || (unit == 1 && !is_whole(*number))) return std::nullopt;
    return std::round(*number * unit);
}

// What a point in time may end in.
struct Offset {
    bool is_given = false;
    double seconds = 0;
};

// Takes "Z", "+01:00", "+0100" or "+01" from the end of `time`; nothing if it is no offset.
std::optional<Offset> take_offset(std::string_view& time) {
    const std::size_t at = time.find_first_of("Z+-", kDate.size());
    if (at == std::string_view::npos) return Offset{};
    std::string digits(time.substr(at + 1));
    const char sign = time[at];
    time = time.substr(0, at);
    if (sign == 'Z') return digits.empty() ? std::optional(Offset{true, 0}) : std::nullopt;
    if (digits.size() == 5 && digits[2] == ':') digits.erase(2, 1);
    if (!consists_of(digits, kDigits) || (digits.size() != 2 && digits.size() != 4))
        return std::nullopt;
    digits.resize(4, '0');
    const auto clock = parse_integer(digits);
    const std::int64_t hours = *clock / 100, minutes = *clock % 100;
    if (hours > 23 || minutes > 59) return std::nullopt;
    const auto seconds = static_cast<double>(hours * 3600 + minutes * 60);
    return Offset{true, sign == '-' ? -seconds : seconds};
}

// Takes ".123" from the end of a time.
Value take_fraction(std::string_view& time) {
    const std::size_t at = time.find('.');
    if (at == std::string_view::npos) return 0;
    const std::string_view digits = time.substr(at + 1);
    if (!consists_of(digits, kDigits)) return std::nullopt;
    const Value fraction = parse_number(time.substr(at));
    time = time.substr(0, at);
    return fraction;
}

// "2024-05-01T10:00:00", the T being a blank in some CSV files.
Value date_and_time(std::string_view text) {
    constexpr std::string_view kPattern = "0000-00-00T00:00:00";
    if (text.size() != kPattern.size()) return std::nullopt;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool fits = kPattern[i] == '0'   ? is_digit(text[i])
                          : kPattern[i] == 'T' ? text[i] == 'T' || text[i] == ' '
                                               : text[i] == kPattern[i];
        if (!fits) return std::nullopt;
    }
    const auto part = [&](std::size_t at, std::size_t digits) {
        return static_cast<int>(*parse_integer(text.substr(at, digits)));
    };
    const std::chrono::year_month_day day{std::chrono::year(part(0, 4)),
                                          std::chrono::month(static_cast<unsigned>(part(5, 2))),
                                          std::chrono::day(static_cast<unsigned>(part(8, 2)))};
    const int hour = part(11, 2), minute = part(14, 2), second = part(17, 2);
    if (!day.ok() || hour > 23 || minute > 59 || second > 60) return std::nullopt;
    const auto days = std::chrono::sys_days(day).time_since_epoch().count();
    return 86400.0 * static_cast<double>(days) + 3600 * hour + 60 * minute + second;
}

// The same with a fraction of a second and an offset from UTC, which is taken off.
Value iso_time(std::string_view text) {
    if (text.size() < kDate.size()) return std::nullopt;
    const auto offset = take_offset(text);
    const Value fraction = take_fraction(text), whole = date_and_time(text);
    if (!offset || !fraction || !whole) return std::nullopt;
    return *whole + *fraction - offset->seconds;
}

// "1-02:03:04", or "1 days 02:03:04" as pandas has it, perhaps with a fraction of a second.
Value time_span(std::string_view text) {
    constexpr std::string_view kDays = " days ";
    const Value fraction = take_fraction(text);
    const std::size_t days = text.find(kDays);
    const Value whole = days == text.npos
                            ? parse_slurm_time(text)
                            : parse_slurm_time(fmt::format("{}-{}", text.substr(0, days),
                                                           text.substr(days + kDays.size())));
    return fraction && whole ? Value(*whole + *fraction) : std::nullopt;
}

// "16G" in MiB, as Slurm counts.
double mebibytes(std::string_view text) {
    constexpr std::string_view kUnits = "KMGTP";
    double unit = 1;
    if (!text.empty() && kUnits.find(text.back()) != kUnits.npos) {
        unit = std::pow(1024, static_cast<double>(kUnits.find(text.back())) - 1);
        text.remove_suffix(1);
    }
    return std::max(plain_number(text).value_or(0), 0.0) * unit;
}

}  // namespace

Tres parse_tres(std::string_view text) {
    Tres tres;
    double gpus_of_kinds = 0;
    for (const std::string_view part : split(text, ',')) {
        const std::size_t sign = part.find('=');
        if (sign == part.npos) continue;
        const std::string_view name = trim(part.substr(0, sign)),
                               value = trim(part.substr(sign + 1));
        if (name == "mem") tres.memory = mebibytes(value);
        const double count = std::max(plain_number(value).value_or(0), 0.0);
        if (name == "cpu") tres.processors = count;
        if (name == "node") tres.nodes = count;
        if (name == "gres/gpu") tres.gpus = count;
        if (name.starts_with("gres/gpu:")) gpus_of_kinds += count;
    }
    tres.gpus = std::max(tres.gpus, gpus_of_kinds);
    return tres;
}

bool is_unknown(std::string_view text) {
    constexpr std::array<std::string_view, 7> kWords{"",    "Unknown", "None", "INVALID",
                                                     "NaN", "NaT",     "<NA>"};
    return std::ranges::any_of(kWords, [&](auto w) { return equal_ignoring_case(text, w); });
}

bool is_unlimited(std::string_view text) {
    return equal_ignoring_case(text, "UNLIMITED") || equal_ignoring_case(text, "Partition_Limit");
}

bool is_rounded(std::string_view count) {
    const auto [number, unit] = read_count(count);
    return number && unit > 1 && !is_whole(2 * *number);
}

std::optional<bool> has_offset(std::string_view time) {
    const auto offset = time.size() > kDate.size() ? take_offset(time) : std::nullopt;
    return offset ? std::optional(offset->is_given) : std::nullopt;
}

Value read_value(std::string_view text, Form form) {
    switch (form) {
        case Form::text:
            return std::nullopt;
        case Form::count:
            return count(text);
        case Form::seconds:
            return plain_number(text);
        case Form::minutes: {
            const Value minutes = plain_number(text);
            return minutes ? Value(60 * *minutes) : minutes;
        }
        case Form::time: {
            const Value epoch = plain_number(text);
            return epoch ? epoch : iso_time(text);
        }
        case Form::clock:
            return time_span(text);
    }
    return std::nullopt;
}

const char* what_is_wrong(Form form) {
    switch (form) {
        case Form::time:
            return "is no time such as 2024-05-01T10:00:00";
        case Form::clock:
            return "is no time span such as 1-02:03:04";
        case Form::count:
            return "is no whole number";
        default:
            return "is no number";
    }
}

}  // namespace elastic::simulator

// SPDX-License-Identifier: MIT
// Own versions of what <cctype> and strtol offer, because those depend on the locale of the host
// process (slurmctld) and accept more than is meant.
#include "common/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace elastic {

namespace {

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

template <class T>
std::optional<T> parse_whole(std::string_view text) {
    T value{};
    const char* end = text.data() + text.size();
    auto [stop, failure] = std::from_chars(text.data(), end, value);
    if (failure != std::errc() || stop != end) return std::nullopt;
    return value;
}

// The number of bytes of the valid UTF-8 sequence that `text` begins with, 0 if none does (Unicode
// 15, table 3-7).
std::size_t utf8_sequence(std::string_view text) {
    auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    unsigned char first = byte(0);
    if (first < 0x80) return 1;
    std::size_t length = first < 0xc2   ? 0
                         : first < 0xe0 ? 2
                         : first < 0xf0 ? 3
                         : first < 0xf5 ? 4
                                        : 0;
    if (length == 0 || text.size() < length) return 0;
    unsigned char low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    unsigned char high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (byte(1) < low || byte(1) > high) return 0;
    for (std::size_t i = 2; i < length; ++i) {
        if (byte(i) < 0x80 || byte(i) > 0xbf) return 0;
    }
    return length;
}

}  // namespace

std::string printable(std::string_view text, std::size_t max_length) {
    std::string out;
    for (char c : text) {
        if (out.size() >= max_length) return out + "...";
        if (c >= 0x20 && c <= 0x7e) {
            out += c;
        } else {
            out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        }
    }
    return out;
}

bool is_ascii(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

std::string to_utf8(std::string_view text, std::size_t most) {
    constexpr std::string_view kReplacement = "\xef\xbf\xbd";
    std::string out;
    out.reserve(std::min(text.size(), most));
    while (!text.empty()) {
        const std::size_t length = utf8_sequence(text);
        const std::string_view next = length > 0 ? text.substr(0, length) : kReplacement;
        if (next.size() > most - out.size()) break;
        out += next;
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return out;
}

std::string escape_xml(std::string_view text) {
    std::string out;
    for (const char c : printable(text, 4 * text.size() + 1)) switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            default:
                out += c;
        }
    return out;
}

std::string_view trim(std::string_view text) {
    constexpr std::string_view kBlanks = " \t\r";
    std::size_t first = text.find_first_not_of(kBlanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
    return std::ranges::equal(a, b, [](char x, char y) { return lower(x) == lower(y); });
}

std::string lower_case(std::string_view text) {
    std::string out(text);
    std::ranges::transform(out, out.begin(), lower);
    return out;
}

bool consists_of(std::string_view text, std::string_view characters) {
    return !text.empty() && text.find_first_not_of(characters) == std::string_view::npos;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (;;) {
        std::size_t end = text.find(separator);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
    return parse_whole<std::int64_t>(text);
}

std::optional<std::uint64_t> parse_unsigned(std::string_view text) {
    return parse_whole<std::uint64_t>(text);
}

std::optional<double> parse_number(std::string_view text) {
    std::optional<double> value = parse_whole<double>(text);
    if (value && !std::isfinite(*value)) return std::nullopt;
    return value;
}

std::optional<double> parse_bytes(std::string_view text) {
    constexpr std::string_view kSuffixes = "KMGTP";
    double unit = 1;
    if (const std::size_t power = text.empty() ? text.npos : kSuffixes.find(text.back());
        power != kSuffixes.npos) {
        unit = std::pow(1000, power + 1);
        text.remove_suffix(1);
    }
    const std::optional<double> number = parse_number(text);
    if (!number || *number < 0 || std::signbit(*number)) return std::nullopt;
    return *number * unit;
}

}  // namespace elastic

// SPDX-License-Identifier: MIT
// Small tools for parsers of text that people type.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace elastic {

// Of a C string; empty for null.
inline std::string_view text(const char* value) {
    return value ? std::string_view(value) : std::string_view();
}

// Fit to stand in an error message whatever it holds: bytes other than printable ASCII as \xNN, cut
// to `max_length` characters with "..." behind.
std::string printable(std::string_view text, std::size_t max_length = 60);

// Fit to stand in XML and HTML, in texts and attributes: markup is escaped, bytes other than
// printable ASCII are as from printable().
std::string escape_xml(std::string_view text);

bool is_ascii(std::string_view);
// Bytes that are not UTF-8 become U+FFFD; cut between two characters if longer than `most` bytes.
std::string to_utf8(std::string_view text, std::size_t most = std::string_view::npos);

std::string_view trim(std::string_view text);  // blanks and tabs, CR too
bool equal_ignoring_case(std::string_view, std::string_view);
std::string lower_case(std::string_view);  // ASCII
// Whether there is something, and nothing but these characters.
bool consists_of(std::string_view text, std::string_view characters);

// The parts between separators, empty ones included; one empty part for "".
std::vector<std::string_view> split(std::string_view text, char separator);

// The whole text as a decimal number, without blanks or a leading '+'; nothing if it is anything
// else, out of range, infinite or NaN.
std::optional<std::int64_t> parse_integer(std::string_view text);
std::optional<std::uint64_t> parse_unsigned(std::string_view text);
std::optional<double> parse_number(std::string_view text);
// A number of bytes: "1.5G".  K, M, G, T and P are powers of 1000; no sign.
std::optional<double> parse_bytes(std::string_view text);

}  // namespace elastic

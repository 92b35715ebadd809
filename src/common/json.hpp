// SPDX-License-Identifier: MIT
// json-c with ownership and typed, checked access.
//
// A Json shares its value like json-c does (reference counted); copying is cheap and does not
// clone. Not safe for use by two threads at once.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.hpp"

struct json_object;

namespace elastic {

class Json {
  public:
    Json() = default;                // null
    template <std::same_as<bool> T>  // not from pointers
    Json(T value) : Json(new_bool(value)) {}
    template <std::integral T>
    requires(!std::same_as<T, bool>) Json(T value)
        : Json(new_int(static_cast<std::int64_t>(value))) {}
    // Written with as many digits as it takes to read it back, whole numbers without ".0".  JSON
    // has no infinity and no NaN: they become null.
    Json(double value);
    // Bytes that are not UTF-8 become U+FFFD, so that what is dumped can be parsed.
    Json(std::string_view value);
    Json(const std::string& value) : Json(std::string_view(value)) {}
    Json(const char* value) : Json(std::string_view(value)) {}
    static Json object();
    static Json array();

    // Exactly one JSON value and nothing behind it but white space; UTF-8; at most 32 levels deep.
    // Numbers beyond double or std::int64_t are refused (so are the two ends of std::int64_t, to
    // which json-c rounds them).  As json-c, takes raw control characters in keys, and before its
    // 0.18 in strings.
    static Result<Json> parse(std::string_view text);

    Json(const Json&);
    Json(Json&&) noexcept;
    Json& operator=(Json) noexcept;
    ~Json();

    // One line, no spaces.  Keys stay in the order in which they were set.
    std::string dump() const;
    std::string dump_pretty() const;

    bool is_object() const;
    bool is_array() const;

    // Builders.  `set` on an object, `push` on an array; both return *this and assert the type.
    // They change the value that all copies share.
    Json& set(std::string_view key, const Json& value);
    Json& push(const Json& value);

    bool has(std::string_view key) const;
    std::vector<std::string> keys() const;

    std::optional<Json> member(std::string_view key) const;  // nothing if absent
    Json get(std::string_view key) const;                    // null if absent

    // The value itself: nothing if it is of another type.  record.hpp reads others' data by these,
    // with limits and errors.
    std::optional<std::int64_t> integer() const;
    std::optional<double> number() const;  // an integer is one, too
    std::optional<bool> boolean() const;
    std::optional<std::string_view> text() const;  // as long as the value lives

    // Members of one's own data: the fallback if absent or of another type.
    std::int64_t get_int(std::string_view key, std::int64_t fallback = 0) const;
    double get_number(std::string_view key, double fallback = 0) const;
    bool get_bool(std::string_view key, bool fallback = false) const;
    std::string get_string(std::string_view key, std::string_view fallback = "") const;

    // What it is, for messages: short and printable.
    std::string describe() const;

    // Arrays.
    std::size_t size() const;
    Json at(std::size_t index) const;

  private:
    explicit Json(json_object* owned) : value_(owned) {}
    static Result<Json> parse(std::string_view text, int flags);  // of json-c's tokener
    static json_object* new_bool(bool);
    static json_object* new_int(std::int64_t);
    json_object* find(std::string_view key) const;  // borrowed

    json_object* value_ = nullptr;
};

}  // namespace elastic

// SPDX-License-Identifier: MIT
// A thin owner of json-c's reference-counted values.
//
// json-c is lenient in ways that matter for hostile input: it takes NaN and infinities, rounds
// numbers that are too large, stops at a NUL byte and passes on what is not UTF-8.  `parse` closes
// these, so that whatever it returned can be dumped and parsed again, and a look-up never sees a
// surprise.  Where json-c 0.18 is strict, it refuses all that is not ASCII (its issue 892); so it
// is strict with a copy that has letters in place of that.
//
// Always holds: value_ is owned by one reference; JSON's null is a null pointer.
#include "common/json.hpp"

#include <fmt/format.h>
#include <json-c/json.h>

#include <algorithm>
#include <cassert>
#include <climits>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "common/text.hpp"

namespace elastic {

namespace {

constexpr int kMaxDepth = 32;

struct FreeTokener {
    void operator()(json_tokener* tokener) const { json_tokener_free(tokener); }
};

// The recursion is bounded by the tokener's depth.
bool numbers_in_range(json_object* value) {
    switch (json_object_get_type(value)) {
        case json_type_double:
            return std::isfinite(json_object_get_double(value));
        case json_type_int: {
            std::int64_t number = json_object_get_int64(value);
            return number != std::numeric_limits<std::int64_t>::max() &&
                   number != std::numeric_limits<std::int64_t>::min();
        }
        case json_type_object: {
            json_object_object_foreach(value, key, member) {
                static_cast<void>(key);
                if (!numbers_in_range(member)) return false;
            }
            return true;
        }
        case json_type_array:
            for (std::size_t i = 0; i < json_object_array_length(value); ++i) {
                if (!numbers_in_range(json_object_array_get_idx(value, i))) return false;
            }
            return true;
        default:
            return true;
    }
}

bool is_beyond_ascii(char c) {
    return static_cast<unsigned char>(c) >= 0x80;
}

std::string dump_with(json_object* value, int flags) {
    std::size_t length = 0;
    const char* text = json_object_to_json_string_length(value, flags, &length);
    return text ? std::string(text, length) : std::string("null");
}

bool is_number(json_object* value) {
    return json_object_is_type(value, json_type_int) ||
           json_object_is_type(value, json_type_double);
}

std::string_view string_of(json_object* value) {
    return {json_object_get_string(value),
            static_cast<std::size_t>(json_object_get_string_len(value))};
}

}  // namespace

json_object* Json::new_bool(bool value) {
    return json_object_new_boolean(value);
}

json_object* Json::new_int(std::int64_t value) {
    return json_object_new_int64(value);
}

// A negative zero would be read again as the integer 0: adding zero makes it a positive one.
Json::Json(double value)
    : Json(std::isfinite(value)
               ? json_object_new_double_s(value, fmt::format("{}", value + 0.0).c_str())
               : nullptr) {}

Json::Json(std::string_view value) {
    std::string mended;
    if (!is_ascii(value)) value = mended = to_utf8(value);
    value_ = json_object_new_string_len(value.data(), static_cast<int>(value.size()));
}

Json Json::object() {
    return Json(json_object_new_object());
}

Json Json::array() {
    return Json(json_object_new_array());
}

Result<Json> Json::parse(std::string_view text) {
    if (text.size() >= INT_MAX) return elastic::error("JSON: {} bytes are too many", text.size());
    if (is_ascii(text)) return parse(text, JSON_TOKENER_STRICT);
    std::string letters(text);
    std::ranges::replace_if(letters, is_beyond_ascii, 'x');
    const Result<Json> strict = parse(letters, JSON_TOKENER_STRICT);
    return strict ? parse(text, JSON_TOKENER_VALIDATE_UTF8) : strict;
}

Result<Json> Json::parse(std::string_view text, int flags) {
    std::unique_ptr<json_tokener, FreeTokener> tokener(json_tokener_new_ex(kMaxDepth));
    if (!tokener) return elastic::error("JSON: out of memory");
    json_tokener_set_flags(tokener.get(), flags);
    Json value(json_tokener_parse_ex(tokener.get(), text.data(), static_cast<int>(text.size())));
    std::size_t parsed = json_tokener_get_parse_end(tokener.get());
    // A number at the very end is complete only when something follows it.
    if (json_tokener_get_error(tokener.get()) == json_tokener_continue) {
        value = Json(json_tokener_parse_ex(tokener.get(), "", 1));
    }
    json_tokener_error failure = json_tokener_get_error(tokener.get());
    if (failure == json_tokener_continue) failure = json_tokener_error_parse_eof;
    if (failure != json_tokener_success) {
        return elastic::error("JSON: {} at byte {}", json_tokener_error_desc(failure), parsed);
    }
    if (trim(text.substr(parsed)).find_first_not_of('\n') != std::string_view::npos) {
        return elastic::error("JSON: unexpected text at byte {}", parsed);
    }
    if (!numbers_in_range(value.value_)) return elastic::error("JSON: number out of range");
    return value;
}

Json::Json(const Json& other) : value_(json_object_get(other.value_)) {}

Json::Json(Json&& other) noexcept : value_(std::exchange(other.value_, nullptr)) {}

Json& Json::operator=(Json other) noexcept {
    std::swap(value_, other.value_);
    return *this;
}

Json::~Json() {
    json_object_put(value_);
}

std::string Json::dump() const {
    return dump_with(value_, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
}

std::string Json::dump_pretty() const {
    return dump_with(
        value_, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE);
}

bool Json::is_object() const {
    return json_object_is_type(value_, json_type_object);
}

bool Json::is_array() const {
    return json_object_is_type(value_, json_type_array);
}

Json& Json::set(std::string_view key, const Json& value) {
    assert(is_object() && value.value_ != value_);
    json_object_object_add(value_, std::string(key).c_str(), json_object_get(value.value_));
    return *this;
}

Json& Json::push(const Json& value) {
    assert(is_array() && value.value_ != value_);
    json_object_array_add(value_, json_object_get(value.value_));
    return *this;
}

json_object* Json::find(std::string_view key) const {
    json_object* found = nullptr;
    if (is_object()) json_object_object_get_ex(value_, std::string(key).c_str(), &found);
    return found;
}

bool Json::has(std::string_view key) const {
    return is_object() && json_object_object_get_ex(value_, std::string(key).c_str(), nullptr);
}

std::vector<std::string> Json::keys() const {
    std::vector<std::string> names;
    if (!is_object()) return names;
    json_object_object_foreach(value_, key, member) {
        static_cast<void>(member);
        names.emplace_back(key);
    }
    return names;
}

Json Json::get(std::string_view key) const {
    return Json(json_object_get(find(key)));
}

std::int64_t Json::get_int(std::string_view key, std::int64_t fallback) const {
    return get(key).integer().value_or(fallback);
}

double Json::get_number(std::string_view key, double fallback) const {
    return get(key).number().value_or(fallback);
}

bool Json::get_bool(std::string_view key, bool fallback) const {
    return get(key).boolean().value_or(fallback);
}

std::string Json::get_string(std::string_view key, std::string_view fallback) const {
    const Json value = get(key);
    return std::string(value.text().value_or(fallback));
}

std::optional<Json> Json::member(std::string_view key) const {
    json_object* found = nullptr;
    if (!is_object() || !json_object_object_get_ex(value_, std::string(key).c_str(), &found))
        return std::nullopt;
    return Json(json_object_get(found));
}

std::optional<std::int64_t> Json::integer() const {
    if (!json_object_is_type(value_, json_type_int)) return std::nullopt;
    return json_object_get_int64(value_);
}

std::optional<double> Json::number() const {
    if (!is_number(value_)) return std::nullopt;
    return json_object_get_double(value_);
}

std::optional<bool> Json::boolean() const {
    if (!json_object_is_type(value_, json_type_boolean)) return std::nullopt;
    return json_object_get_boolean(value_);
}

std::optional<std::string_view> Json::text() const {
    if (!json_object_is_type(value_, json_type_string)) return std::nullopt;
    return string_of(value_);
}

std::string Json::describe() const {
    if (is_object()) return "an object";
    if (is_array()) return "an array";
    return printable(dump_with(value_, JSON_C_TO_STRING_PLAIN), 40);
}

std::size_t Json::size() const {
    return is_array() ? json_object_array_length(value_) : 0;
}

Json Json::at(std::size_t index) const {
    return Json(is_array() ? json_object_get(json_object_array_get_idx(value_, index)) : nullptr);
}

}  // namespace elastic

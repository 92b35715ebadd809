// SPDX-License-Identifier: MIT
// One description of a record, from which its JSON is written and read.
//
// A record is a struct with a function beside it (not in an unnamed namespace) that names its
// fields:
//
//     template <class F>
//     void fields(F& f, Offer& offer) {
//         f.required("op", offer.op, Whole{1});
//         f.required("kind", offer.kind);  // an enumeration with names()
//         f.optional("reason", offer.reason, Text{1024});
//         f.holds(offer.least <= offer.nodes, "least={} is more than ...", offer.least);
//     }
//
// write_record() calls it with a FieldWriter and read_record() with a FieldReader, so the two
// directions cannot drift apart, and a new field is a new line.  The last argument of a field is
// its format: how a value is written, and which are let in.  A format is a struct with
//
//     Json write(const T&) const;
//     Result<void> read(const Json&, T&) const;  // an error goes on behind the key: " must be ..."
//
// Always holds: what is read may come from anybody; the first thing wrong ends it, and the error is
// one line of printable ASCII that says where it is ("running[3]: held[0] must be ..."), what the
// limit is and what was found.  Unknown keys are passed over.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "common/json.hpp"
#include "common/names.hpp"
#include "common/result.hpp"

namespace elastic {

template <class Record>
Json write_record(const Record&);
// The error says which field is wrong; the record is half read then.
template <class Record>
Result<void> read_record(const Json&, Record&);

// ---- formats -----------------------------------------------------------------------------------

// An integer in [low, high], and in what the member can hold.
struct Whole {
    std::int64_t low = INT64_MIN;
    std::int64_t high = INT64_MAX;

    template <class Int>
    Json write(Int value) const {
        return Json(value);
    }
    template <class Int>
    Result<void> read(const Json& json, Int& value) const {
        using Range = std::numeric_limits<Int>;
        constexpr auto kLeast = static_cast<std::int64_t>(Range::min());
        constexpr auto kMost =
            static_cast<std::int64_t>(std::min<std::uint64_t>(Range::max(), INT64_MAX));
        const auto found = checked(json, std::max(low, kLeast), std::min(high, kMost));
        if (!found) return found.error();
        value = static_cast<Int>(*found);
        return {};
    }

  private:
    static Result<std::int64_t> checked(const Json&, std::int64_t low, std::int64_t high);
};

// A number in [low, high].
struct Number {
    double low, high;

    Json write(double value) const { return Json(value); }
    Result<void> read(const Json&, double& value) const;
};

// A string of at most so many bytes.
struct Text {
    std::size_t longest;

    Json write(std::string_view value) const { return Json(value); }
    Result<void> read(const Json&, std::string& value) const;
};

// A text for people: cut when it is written, rather than refused by who reads it.
struct Prose {
    std::size_t longest;

    Json write(std::string_view value) const;
    Result<void> read(const Json& json, std::string& value) const {
        return Text{longest}.read(json, value);
    }
};

struct Flag {
    Json write(bool value) const { return Json(value); }
    Result<void> read(const Json&, bool& value) const;
};

// One of the names of a table.
Result<std::size_t> read_name(const Json&, std::span<const std::string_view> table);

// An enumeration, by its names().
struct Word {
    template <Named Enum>
    Json write(Enum value) const {
        return Json(to_string(value));
    }
    template <Named Enum>
    Result<void> read(const Json& json, Enum& value) const {
        static constexpr auto kNames = names(Enum{});
        const Result<std::size_t> place = read_name(json, kNames);
        if (!place) return place.error();
        value = static_cast<Enum>(*place);
        return {};
    }
};

// Which record a variant holds, by the name that it has in a table in the order of the variant.
// The record's own fields are FieldWriter::alternative().
struct Which {
    std::span<const std::string_view> table;

    template <class... Records>
    Json write(const std::variant<Records...>& value) const {
        return Json(table[value.index()]);
    }
    template <class... Records>
    Result<void> read(const Json& json, std::variant<Records...>& value) const {
        using Make = void (*)(std::variant<Records...>&);
        static constexpr Make kMake[] = {[](auto& made) { made.template emplace<Records>(); }...};
        const Result<std::size_t> place = read_name(json, table);
        if (!place) return place.error();
        kMake[*place](value);
        return {};
    }
};

// A record in a record.
struct Nested {
    template <class Record>
    Json write(const Record& record) const {
        return write_record(record);
    }
    template <class Record>
    Result<void> read(const Json& json, Record& record) const {
        const Result<void> done = read_record(json, record);
        return done ? done : error(": {}", done.error().message);
    }
};

// An array.  What it takes in memory is bounded by its text.
template <class Item = Nested>
struct List {
    Item item{};

    template <class Container>
    Json write(const Container& values) const {
        Json array = Json::array();
        for (const auto& value : values) array.push(item.write(value));
        return array;
    }
    template <class Container>
    Result<void> read(const Json& json, Container& values) const {
        if (!json.is_array()) return error(" must be an array, not {}", json.describe());
        values.clear();
        for (std::size_t i = 0; i < json.size(); ++i) {
            const Result<void> done = item.read(json.at(i), values.emplace_back());
            if (!done) return error("[{}]{}", i, done.error().message);
        }
        return {};
    }
};
template <class Item>
List(Item) -> List<Item>;
List()->List<Nested>;

// What a member has if its field names no other.
template <class T>
using FormatOf = std::conditional_t<std::is_same_v<T, bool>, Flag,
                                    std::conditional_t<std::is_enum_v<T>, Word, Nested>>;

// ---- the two directions -----------------------------------------------------------------------

// What fields() is called with to write.
class FieldWriter {
  public:
    // Adds members to `object`.
    explicit FieldWriter(Json& object) : object_(object) {}

    template <class T, class Format = FormatOf<T>>
    void required(std::string_view key, const T& value, const Format& format = {}) {
        object_.set(key, format.write(value));
    }
    // Left out where it is `standard`, and then read as that.
    template <class T, class Format = FormatOf<T>>
    void optional(std::string_view key, const T& value, const Format& format = {},
                  const std::type_identity_t<T>& standard = {}) {
        if (!(value == standard)) required(key, value, format);
    }
    // Written on a condition, and read if it is there.
    template <class T, class Format = FormatOf<T>>
    void when(bool condition, std::string_view key, const T& value, const Format& format = {}) {
        if (condition) required(key, value, format);
    }
    // What no single field can say; for the reader.
    template <class... Args>
    void holds(bool, fmt::format_string<const Args&...>, const Args&...) {}
    // The fields of the record that a variant holds, in the same object.
    template <class... Records>
    void alternative(std::variant<Records...>& value, const Which&) {
        std::visit([this](auto& record) { fields(*this, record); }, value);
    }

  private:
    Json& object_;
};

// What fields() is called with to read.
class FieldReader {
  public:
    explicit FieldReader(const Json& object) : object_(object) {}

    template <class T, class Format = FormatOf<T>>
    void required(std::string_view key, T& value, const Format& format = {}) {
        if (!found(key, value, format)) error_ = error("{} is missing", key);
    }
    template <class T, class Format = FormatOf<T>>
    void optional(std::string_view key, T& value, const Format& format = {},
                  const std::type_identity_t<T>& standard = {}) {
        if (!found(key, value, format)) value = standard;
    }
    template <class T, class Format = FormatOf<T>>
    void when(bool, std::string_view key, T& value, const Format& format = {}) {
        found(key, value, format);
    }
    template <class... Args>
    void holds(bool condition, fmt::format_string<const Args&...> text, const Args&... args) {
        if (!error_ && !condition) error_ = error(text, args...);
    }

    template <class... Records>
    void alternative(std::variant<Records...>& value, const Which& which) {
        if (error_) return;
        std::visit([this](auto& record) { fields(*this, record); }, value);
        if (error_) error_ = error("{}: {}", which.table[value.index()], error_->message);
    }

    Result<void> result() const { return error_ ? Result<void>(*error_) : Result<void>(); }

  private:
    // Reads it if it is there.  After an error nothing is looked at, and nothing is missing.
    template <class T, class Format>
    bool found(std::string_view key, T& value, const Format& format) {
        if (error_) return true;
        const std::optional<Json> member = object_.member(key);
        if (!member) return false;
        const Result<void> done = format.read(*member, value);
        if (!done) error_ = error("{}{}", key, done.error().message);
        return true;
    }

    const Json& object_;
    std::optional<Error> error_;
};

template <class Record>
Json write_record(const Record& record) {
    Json object = Json::object();
    FieldWriter writer(object);
    fields(writer, const_cast<Record&>(record));  // a FieldWriter takes each member as const
    return object;
}

template <class Record>
Result<void> read_record(const Json& json, Record& record) {
    if (!json.is_object()) return error("must be an object, not {}", json.describe());
    FieldReader reader(json);
    fields(reader, record);
    return reader.result();
}

}  // namespace elastic

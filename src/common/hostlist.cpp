// SPDX-License-Identifier: MIT
// Node lists in Slurm's notation, by hand: Slurm's own functions are neither in a public header nor
// available on a machine without Slurm.
//
// Always holds: time and memory are bounded by `most` names of kMaxName characters, whatever the
// ranges say; expand(compress(names)) is the sorted set.
#include "common/hostlist.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <tuple>

#include "common/text.hpp"

namespace elastic {

namespace {

constexpr std::size_t kMaxName = 255;
constexpr std::size_t kMaxDigits = 18;  // fits std::int64_t
constexpr std::string_view kNameCharacters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
constexpr std::string_view kDigits = "0123456789";

std::string numbered(std::string_view prefix, std::int64_t number, std::size_t width) {
    return fmt::format("{}{:0{}}", prefix, number, width);
}

class Expander {
  public:
    Expander(std::string_view text, std::size_t most) : text_(text), most_(most) {}

    Result<std::vector<std::string>> run() {
        if (text_.empty()) return std::move(names_);
        for (;;) {
            if (Result<void> done = element(); !done) return done.error();
            if (text_.empty()) return std::move(names_);
            if (text_[0] != ',') return malformed();
            text_.remove_prefix(1);
        }
    }

  private:
    // NAME or PREFIX[RANGE,...]
    Result<void> element() {
        std::size_t end = std::min(text_.find_first_not_of(kNameCharacters), text_.size());
        std::string_view name = take(end);
        if (text_.empty() || text_[0] != '[') {
            return name.empty() ? malformed() : add(std::string(name));
        }
        do {
            text_.remove_prefix(1);  // '[' or ','
            if (Result<void> done = range(name); !done) return done;
        } while (!text_.empty() && text_[0] == ',');
        if (text_.empty() || text_[0] != ']') return malformed();
        text_.remove_prefix(1);
        return {};
    }

    // FIRST or FIRST-LAST
    Result<void> range(std::string_view prefix) {
        std::string_view first = digits();
        std::string_view last = first;
        if (!text_.empty() && text_[0] == '-') {
            text_.remove_prefix(1);
            last = digits();
        }
        if (first.empty() || last.empty()) return malformed();
        if (first.size() > kMaxDigits || last.size() > kMaxDigits) {
            return error("node list: a number has more than {} digits", kMaxDigits);
        }
        std::int64_t low = *parse_integer(first), high = *parse_integer(last);
        if (low > high) return error("node list: range {}-{} is backwards", first, last);
        for (std::int64_t number = low; number <= high; ++number) {
            if (Result<void> done = add(numbered(prefix, number, first.size())); !done) return done;
        }
        return {};
    }

    Result<void> add(std::string name) {
        if (name.size() > kMaxName) {
            return error("node list: a name has more than {} characters", kMaxName);
        }
        if (names_.size() == most_) return error("node list: more than {} names", most_);
        names_.push_back(std::move(name));
        return {};
    }

    std::string_view take(std::size_t length) {
        std::string_view front = text_.substr(0, length);
        text_.remove_prefix(length);
        return front;
    }

    std::string_view digits() {
        return take(std::min(text_.find_first_not_of(kDigits), text_.size()));
    }

    Error malformed() const {
        return text_.empty() ? error("node list: ends too early")
                             : error("node list: not understood: '{}'", printable(text_, 20));
    }

    std::string_view text_;  // what is left
    std::size_t most_;
    std::vector<std::string> names_;
};

struct NumberedName {
    std::string_view prefix;
    std::int64_t number = -1;  // < 0: the name has none
    std::size_t width = 0;

    auto key() const { return std::tie(prefix, number, width); }
    bool operator==(const NumberedName& other) const { return key() == other.key(); }
    bool operator<(const NumberedName& other) const { return key() < other.key(); }
};

NumberedName split_number(std::string_view name) {
    std::size_t begin = name.find_last_not_of(kDigits) + 1;  // npos + 1 is 0
    std::size_t width = name.size() - begin;
    if (width == 0 || width > kMaxDigits) return {name, -1, 0};
    return {name.substr(0, begin), *parse_integer(name.substr(begin)), width};
}

// `next` is what a range that begins with `first` counts up to behind `last`.
bool continues(const NumberedName& first, const NumberedName& last, const NumberedName& next) {
    return next.number == last.number + 1 &&
           next.width == std::max(first.width, fmt::formatted_size("{}", next.number));
}

using Position = std::vector<NumberedName>::const_iterator;

// The ranges of [begin, end), which share a prefix and have numbers, as they stand in brackets.
std::string ranges(Position begin, Position end) {
    std::string out;
    while (begin != end) {
        Position last = begin;
        while (last + 1 != end && continues(*begin, *last, last[1])) ++last;
        if (!out.empty()) out += ',';
        out += numbered("", begin->number, begin->width);
        if (last != begin) out += '-' + numbered("", last->number, last->width);
        begin = last + 1;
    }
    return out;
}

}  // namespace

Result<std::vector<std::string>> expand_hostlist(std::string_view text, std::size_t most) {
    return Expander(text, most).run();
}

std::string compress_hostlist(std::vector<std::string> names) {
    std::vector<NumberedName> sorted;
    sorted.reserve(names.size());
    std::ranges::transform(names, std::back_inserter(sorted), split_number);
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());

    std::string out;
    for (Position begin = sorted.begin(); begin != sorted.end();) {
        Position end = std::find_if(begin, sorted.cend(), [&](const NumberedName& name) {
            return name.prefix != begin->prefix || (name.number < 0) != (begin->number < 0);
        });
        if (!out.empty()) out += ',';
        out += begin->prefix;
        if (begin->number >= 0) {
            std::string inner = ranges(begin, end);
            bool single = end - begin == 1;
            out += single ? inner : '[' + inner + ']';
        }
        begin = end;
    }
    return out;
}

std::string without_hosts(const std::string& list, const std::string& others) {
    auto names = expand_hostlist(list);
    const auto unwanted = expand_hostlist(others);
    if (!names || !unwanted) return list;
    const std::set<std::string> leaving(unwanted->begin(), unwanted->end());
    std::erase_if(*names, [&](const std::string& name) { return leaving.contains(name); });
    return compress_hostlist(std::move(*names));
}

std::vector<std::string> last_hosts(std::vector<std::string> names, const std::string& kept,
                                    int count) {
    std::erase(names, kept);
    const auto there = std::min<std::ptrdiff_t>(count, std::ssize(names));
    return {names.end() - there, names.end()};
}

}  // namespace elastic

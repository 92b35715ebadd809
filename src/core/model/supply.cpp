// SPDX-License-Identifier: MIT
// A line is words between blanks: a time, which has an '@', the nodes, and settings.  It is read
// word by word, and the first mistake refuses the whole text: half of a price list is none.
#include "core/model/supply.hpp"

#include <algorithm>
#include <ctime>

#include "common/config_file.hpp"
#include "common/limits.hpp"
#include "common/text.hpp"
#include "core/model/annotation/annotation.hpp"

namespace elastic::core {
namespace {

std::vector<std::string_view> words_of(std::string_view line) {
    std::vector<std::string_view> words;
    while (!(line = trim(line)).empty()) {
        const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
        words.push_back(line.substr(0, end));
        line.remove_prefix(end);
    }
    return words;
}

std::optional<Time> parse_utc(std::string_view text) {
    std::tm parts{};
    const std::string copy(text);
    const char* end = ::strptime(copy.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts);
    if (!end || *end != '\0' || copy.size() != text.size()) return std::nullopt;
    return static_cast<Time>(::timegm(&parts));
}

Result<void> read_time(std::string_view text, Time& time) {
    std::optional<Time> found = parse_number(text);
    if (!found) found = parse_utc(text);
    if (!found || *found < 0 || *found >= kNever)
        return error("@{}: must be seconds since 1970 or as @2026-12-31T08:00:00Z",
                     printable(text));
    time = *found;
    return {};
}

Result<void> read_price(std::string_view text, SupplyChange& change) {
    const std::optional<double> price = parse_number(text);
    if (!price || *price < 0 || *price > kMaxPrice)
        return error("price={}: must be a number from 0 to {}", printable(text), kMaxPrice);
    change.price = *price;
    return {};
}

Result<void> read_cap(std::string_view text, SupplyChange& change) {
    if (text == "none") {
        change.most = std::optional<int>();
        return {};
    }
    const std::optional<std::int64_t> nodes = parse_integer(text);
    if (!nodes || *nodes < 0 || *nodes > kMaxNodes)
        return error("cap={}: must be a number of nodes from 0 to {}, or none", printable(text),
                     kMaxNodes);
    change.most = static_cast<int>(*nodes);
    return {};
}

Result<void> read_setting(std::string_view word, SupplyChange& change) {
    const std::size_t equals = word.find('=');
    const std::string_view key = word.substr(0, equals);
    const std::string_view value = equals == word.npos ? "" : word.substr(equals + 1);
    if (key != "price" && key != "cap")
        return error("'{}' is neither price= nor cap=", printable(word));
    if (key == "price" ? change.price.has_value() : change.most.has_value())
        return error("{} is given twice", key);
    return key == "price" ? read_price(value, change) : read_cap(value, change);
}

Result<std::size_t> set_of(Supply& supply, std::string_view name) {
    if (name.find('=') != name.npos || printable(name, kMaxSupplyLine) != name)
        return error("'{}' stands where a partition or a list of nodes has to", printable(name));
    const auto known = std::ranges::find(supply.sets, name);
    if (known != supply.sets.end()) return static_cast<std::size_t>(known - supply.sets.begin());
    if (supply.sets.size() == kMaxSupplySets)
        return error("more than {} different sets of nodes", kMaxSupplySets);
    supply.sets.emplace_back(name);
    return supply.sets.size() - 1;
}

Result<void> read_line(std::string_view line, Supply& supply) {
    if (line.size() > kMaxSupplyLine)
        return error("{} characters, at most {} are allowed", line.size(), kMaxSupplyLine);
    std::vector<std::string_view> words = words_of(line.substr(0, line.find('#')));
    if (words.empty()) return {};
    SupplyChange change;
    auto word = words.begin();
    if (word->starts_with('@')) {
        if (Result<void> done = read_time(word->substr(1), change.from); !done) return done;
        if (++word == words.end()) return error("a time with nothing behind it");
    }
    const Result<std::size_t> set = set_of(supply, *word);
    if (!set) return set.error();
    change.set = *set;
    if (++word == words.end()) return error("neither price= nor cap=");
    for (; word != words.end(); ++word)
        if (Result<void> done = read_setting(*word, change); !done) return done;
    supply.changes.push_back(change);
    return {};
}

}  // namespace

Result<Supply> parse_supply(std::string_view text, std::string_view source) {
    if (text.size() > kMaxSupplyText)
        return error("{}: {} bytes, at most {} are allowed", source, text.size(), kMaxSupplyText);
    Supply supply;
    int number = 0;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        ++number;
        if (Result<void> done = read_line(text.substr(0, end), supply); !done)
            return at_line(source, number, done.error().message);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    std::ranges::stable_sort(supply.changes, {}, &SupplyChange::from);
    return supply;
}

SupplyClock::SupplyClock(Supply supply) : supply_(std::move(supply)) {
    for (const std::string& set : supply_.sets) terms_.push_back({set, 0, std::nullopt});
}

bool SupplyClock::advance(Time now) {
    const std::vector<Terms> before = terms_;
    for (; next_ < supply_.changes.size() && supply_.changes[next_].from <= now; ++next_) {
        const SupplyChange& change = supply_.changes[next_];
        Terms& terms = terms_[change.set];
        if (change.price) terms.price = *change.price;
        if (change.most) terms.most = *change.most;
    }
    return terms_ != before;
}

Time SupplyClock::next() const {
    return next_ < supply_.changes.size() ? supply_.changes[next_].from : kNever;
}

}  // namespace elastic::core

// SPDX-License-Identifier: MIT
// Kept here and not asked for, so that no number of readers costs the controller anything.
//
// Always holds: a reader that goes on with each token it was given gets every event once, or is
// told of a gap.
#include "selastic-serve/journal_ring.hpp"

#include <algorithm>

#include "common/text.hpp"
#include "fmt/format.h"

namespace elastic::tools {

JournalRing::JournalRing(std::string epoch, std::size_t most_events, std::size_t most_bytes)
    : epoch_(std::move(epoch)), most_events_(most_events), most_bytes_(most_bytes) {}

std::string JournalRing::token_of(std::uint64_t serial) const {
    return fmt::format("{}-{}", epoch_, serial);
}

void JournalRing::add(std::string event) {
    const std::scoped_lock lock(mutex_);
    bytes_ += event.size();
    events_.push_back(std::move(event));
    while (events_.size() > most_events_ || (bytes_ > most_bytes_ && events_.size() > 1)) {
        bytes_ -= events_.front().size();
        events_.pop_front();
        ++first_;
    }
}

std::string JournalRing::token() const {
    const std::scoped_lock lock(mutex_);
    return token_of(first_ + events_.size());
}

JournalRing::Part JournalRing::since(std::string_view token, std::size_t most) const {
    const std::scoped_lock lock(mutex_);
    const std::uint64_t end = first_ + events_.size();
    const auto dash = token.rfind('-');
    const bool is_ours = dash != token.npos && token.substr(0, dash) == epoch_;
    const auto said = is_ours ? parse_unsigned(token.substr(dash + 1)) : std::nullopt;
    Part part;
    part.gap = said ? *said < first_ || *said > end : !token.empty() || first_ > 0;
    const std::uint64_t from = said && *said <= end ? std::max(*said, first_) : first_;
    const std::uint64_t to = std::min<std::uint64_t>(end, from + most);
    for (std::uint64_t serial = from; serial < to; ++serial)
        part.events.push_back(events_[serial - first_]);
    part.next = token_of(to);
    part.more = to < end;
    return part;
}

}  // namespace elastic::tools

// SPDX-License-Identifier: MIT
// The last events of the journal, as many as memory is granted for, and tokens that say how far
// somebody has read.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace elastic::tools {

class JournalRing {
  public:
    // `epoch` differs from one process to the next, so that nobody takes another's token for ours.
    JournalRing(std::string epoch, std::size_t most_events, std::size_t most_bytes);

    void add(std::string event);  // as JSON
    std::string token() const;    // behind the last event

    struct Part {
        std::vector<std::string> events;
        std::string next;   // the token behind them
        bool more = false;  // there are events behind them
        bool gap = false;   // some before them are not kept any more, or the token is not ours
    };
    // The next events behind `token`, at most so many; "" is before the first.
    Part since(std::string_view token, std::size_t most) const;

  private:
    std::string token_of(std::uint64_t serial) const;

    const std::string epoch_;
    const std::size_t most_events_, most_bytes_;
    mutable std::mutex mutex_;
    std::deque<std::string> events_;
    std::uint64_t first_ = 0;  // the serial number of events_.front()
    std::size_t bytes_ = 0;
};

}  // namespace elastic::tools

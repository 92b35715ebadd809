// SPDX-License-Identifier: MIT
// What nodes cost and how many of them may be used ([gupta] section VII), as a site says it in a
// file or a command prints it.
//
//     # now                        # or from a time on
//     spot      price=0.43         @2026-12-01T08:00:00Z spot price=1.25
//     n[01-32]  cap=24             @1796112000 n[01-32] cap=none
//
// The nodes are a partition or a list in Slurm's notation; elastic.conf(5) has the grammar.  Plugin
// and simulator read the same text; for the latter, times are seconds from the log's zero.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.hpp"
#include "common/time.hpp"

namespace elastic::core {

inline constexpr std::size_t kMaxSupplyText = 16u << 20;  // bytes
inline constexpr std::size_t kMaxSupplyLine = 4096;       // bytes
inline constexpr std::size_t kMaxSupplySets = 64;         // different sets of nodes

// Of one set of nodes.
struct Terms {
    std::string nodes;        // as in the source
    double price = 0;         // of a node and hour, in the site's unit; 0: nothing beyond the usual
    std::optional<int> most;  // nodes in use; none: as many as there are

    friend bool operator==(const Terms&, const Terms&) = default;
};

// One line: what it says holds from `from` on, until another line of the same nodes says otherwise.
struct SupplyChange {
    Time from = -kNever;
    std::size_t set = 0;  // index into Supply::sets
    std::optional<double> price;
    std::optional<std::optional<int>> most;
};

struct Supply {
    std::vector<std::string> sets;      // in the order of the text
    std::vector<SupplyChange> changes;  // in the order of time
};

// An error names the source, the line, what is wrong with it, and the limit.
Result<Supply> parse_supply(std::string_view text, std::string_view source);

// What is in force, as time goes on.
class SupplyClock {
  public:
    SupplyClock() = default;
    explicit SupplyClock(Supply);

    // Time never goes back.  Whether anything has changed since the last call.
    bool advance(Time now);
    const std::vector<Terms>& terms() const { return terms_; }  // by Supply::sets
    Time next() const;  // when the next line begins to hold; kNever if there is none

  private:
    Supply supply_;
    std::size_t next_ = 0;
    std::vector<Terms> terms_;
};

}  // namespace elastic::core

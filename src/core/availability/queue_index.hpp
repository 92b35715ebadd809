// SPDX-License-Identifier: MIT
// Finds in a long queue the next job that could start, without a look at those
// that cannot: a tournament tree over the places of the queue, whose inner nodes
// hold the least demand of what is below them.
#pragma once

#include <cstdint>
#include <vector>

#include "common/time.hpp"

namespace elastic::core {

class QueueIndex {
  public:
    // What a job needs at least.  `size` is what it starts with on idle nodes,
    // `least` the smallest it can start with at all, `duration` how long it stays.
    struct Demand {
        int size = 0;
        int least = 0;
        Duration duration = 0;
    };
    // What there is: `free` nodes for jobs that stay no longer than `window`,
    // `extra` of them for any.
    struct Supply {
        int free = 0;
        int extra = 0;
        Duration window = 0;
    };

    void clear();
    void push_back(const Demand&);
    void remove(std::uint32_t place);

    // One past the last place.
    std::uint32_t end() const { return end_; }
    // The first occupied place from `from` on, or end().
    std::uint32_t next(std::uint32_t from) const;
    // ... whose `size` (or `least`) the supply suffices for.
    std::uint32_t next_by_size(std::uint32_t from, const Supply&) const;
    std::uint32_t next_by_least(std::uint32_t from, const Supply&) const;
    // The smallest `least` of all, or more than any machine has.
    int smallest_least() const;

  private:
    template <class Matches>
    std::uint32_t find(std::uint32_t from, Matches) const;
    void grow();
    void update(std::uint32_t place);

    std::vector<Demand> tree_;  // node 1 is the root, the leaves begin at leaves_
    std::uint32_t leaves_ = 0;  // a power of two
    std::uint32_t end_ = 0;
};

}  // namespace elastic::core

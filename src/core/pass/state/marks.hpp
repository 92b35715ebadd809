// SPDX-License-Identifier: MIT
// Which jobs of a snapshot something is true of in this pass, without the cost of clearing an entry
// for each job in each pass.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace elastic::core {

// A set of places that is emptied at no cost.
class Marks {
  public:
    void reset(std::size_t places) {
        if (marked_.size() < places) marked_.resize(places, 0);
        if (++round_ == 0) std::fill(marked_.begin(), marked_.end(), round_++);
    }
    void set(std::uint32_t place) { marked_[place] = round_; }
    bool operator[](std::uint32_t place) const { return marked_[place] == round_; }

  private:
    std::uint32_t round_ = 0;
    std::vector<std::uint32_t> marked_;  // the round in which it was
};

}  // namespace elastic::core

// SPDX-License-Identifier: MIT
// What holds for a while, found again at each look: for what is to be said when it begins, and
// again only if it has ended meanwhile.
#pragma once

#include <set>
#include <utility>

namespace elastic::controller {

template <class Item>
class Standing {
  public:
    // The item holds at this look. True if it did not at the last one.
    bool begins(const Item& item) {
        now_.insert(item);
        return !before_.contains(item);
    }

    // What was not found at this look does not hold any more.
    void end_look() { before_ = std::exchange(now_, {}); }

  private:
    std::set<Item> before_, now_;
};

}  // namespace elastic::controller

// SPDX-License-Identifier: MIT
// How many connections there may be: in all, of a user, and of strangers, who have not said who
// they are.
#pragma once

#include <sys/types.h>

#include <list>
#include <map>
#include <optional>

#include "controller/incoming.hpp"

namespace elastic::controller {

inline constexpr std::size_t kMaxStrangers = 64;

class Admission {
  public:
    Admission(int most, int most_of_user) : most_(most), most_of_user_(most_of_user) {}
    // Those that there are stay.
    void set_limits(int most, int most_of_user);

    bool is_full() const { return count() >= most_; }
    int count() const { return static_cast<int>(strangers_.size()) + introduced_; }
    int count_of(uid_t user) const;

    void add_stranger(ConnectionId id) { strangers_.push_back(id); }
    // The oldest one, if there is no room for another.
    std::optional<ConnectionId> one_stranger_too_many() const;
    // It is of this user from here on; false: who has too many.
    bool introduce(ConnectionId stranger, uid_t user);

    void remove_stranger(ConnectionId id) { strangers_.remove(id); }
    void remove_one_of(uid_t user);

  private:
    int most_, most_of_user_;
    std::list<ConnectionId> strangers_;  // oldest first
    std::map<uid_t, int> of_user_;
    int introduced_ = 0;
};

}  // namespace elastic::controller

// SPDX-License-Identifier: MIT
// Anybody can open a connection and say nothing, so strangers are few and the oldest makes room for
// a new one: idle connections cannot keep others out.
#include "controller/admission.hpp"

namespace elastic::controller {

void Admission::set_limits(int most, int most_of_user) {
    most_ = most;
    most_of_user_ = most_of_user;
}

int Admission::count_of(uid_t user) const {
    const auto found = of_user_.find(user);
    return found == of_user_.end() ? 0 : found->second;
}

std::optional<ConnectionId> Admission::one_stranger_too_many() const {
    if (strangers_.size() < kMaxStrangers) return std::nullopt;
    return strangers_.front();
}

bool Admission::introduce(ConnectionId stranger, uid_t user) {
    if (count_of(user) >= most_of_user_) return false;
    strangers_.remove(stranger);
    ++of_user_[user];
    ++introduced_;
    return true;
}

void Admission::remove_one_of(uid_t user) {
    --introduced_;
    if (--of_user_[user] == 0) of_user_.erase(user);
}

}  // namespace elastic::controller

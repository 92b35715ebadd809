// SPDX-License-Identifier: MIT
// A seal that anybody can make and open, for tests that need no munged: the sender's user before
// the payload.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "common/text.hpp"
#include "protocol/seal.hpp"

namespace elastic::testing {

class PlainSeal : public protocol::Seal {
  public:
    explicit PlainSeal(uid_t uid) : uid_(uid) {}
    Result<std::string> seal(std::string_view payload, uid_t) override {
        return fmt::format("{} {}", uid_, payload);
    }
    Result<protocol::Opened> open(std::string_view credential) override {
        const auto blank = credential.find(' ');
        const auto uid = parse_unsigned(credential.substr(0, blank));
        if (blank == std::string_view::npos || !uid || *uid > protocol::kAnyReader)
            return error("not sealed");
        return protocol::Opened{std::string(credential.substr(blank + 1)),
                                static_cast<uid_t>(*uid)};
    }

  private:
    uid_t uid_;
};

}  // namespace elastic::testing

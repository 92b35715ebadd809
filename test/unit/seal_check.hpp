// SPDX-License-Identifier: MIT
// What holds for every seal.
#pragma once

#include <unistd.h>

#include <string>

#include "protocol/seal.hpp"
#include "testing.hpp"

namespace elastic::testing {

// `theirs` opens what `ours` has sealed, and the second time refuses it so.
inline void check_opens_once(protocol::Seal& ours, protocol::Seal& theirs, const char* refusal) {
    const std::string payload("pay\0load\nand more", 17);
    const auto credential = ours.seal(payload, geteuid());
    check_ok(credential);
    const auto opened = theirs.open(*credential);
    check_ok(opened);
    check_eq(opened->payload, payload);
    check_eq(opened->uid, geteuid());
    check_error(theirs.open(*credential), refusal);
}

}  // namespace elastic::testing

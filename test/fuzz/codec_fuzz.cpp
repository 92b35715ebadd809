// SPDX-License-Identifier: MIT
// The input is the JSON of a message.  One that is let in is encoded to what decodes to the same;
// one that is refused is told in one clean line.
#include "protocol/codec.hpp"

#include "fuzz.hpp"

using namespace elastic;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto envelope = protocol::decode(fuzz::text(data, size));
    if (!envelope) {
        fuzz::require_clean(envelope.error().message);
        return 0;
    }
    // What is let in can be sent on, and comes back the same.
    const auto sent = protocol::encode(*envelope);
    const auto again = protocol::decode(sent);
    fuzz::require(static_cast<bool>(again), "what was decoded can be decoded again");
    fuzz::require(protocol::encode(*again) == sent, "the round trip");
    return 0;
}

// SPDX-License-Identifier: MIT
// The input is what a peer sends to the controller: frames, each a credential that says who sealed
// it. However it goes on, only the user who began speaks, in order, and learns the session's name
// with the welcome.
#include "controller/session.hpp"

#include "fuzz.hpp"
#include "plain_seal.hpp"
#include "protocol/codec.hpp"
#include "protocol/frame.hpp"

using namespace elastic;
using namespace elastic::protocol;

namespace {

class Peer {
  public:
    // False when the connection is over.
    bool say(const std::string& credential) {
        const auto opened = testing::PlainSeal(0).open(credential);
        if (!opened) return false;
        const auto envelope = decode(opened->payload);
        if (!envelope) {
            fuzz::require_clean(envelope.error().message);
            return false;
        }
        const bool had_begun = session_.has_begun();
        const auto refusal = session_.check(opened->uid, *envelope);
        if (refusal) {
            fuzz::require_clean(refusal->message);
            fuzz::require(had_begun == session_.has_begun(), "a refusal begins nothing");
            return false;
        }
        fuzz::require(session_.has_begun(), "what is taken begins or goes on");
        fuzz::require(envelope->sequence == ++taken_, "messages are taken in their order");
        fuzz::require(session_.user() == opened->uid, "one user speaks");
        fuzz::require(std::holds_alternative<Hello>(envelope->message) == !had_begun,
                      "hello comes first and once");
        fuzz::require(envelope->session == (had_begun ? kName : ""), "the session is named");
        answer();
        return true;
    }

  private:
    void answer() {
        const Envelope answer =
            session_.outgoing(taken_ == 1 ? Message(Welcome{}) : Message(Accepted{}));
        fuzz::require(answer.sequence == taken_, "answers are counted");
        fuzz::require(answer.session == (taken_ == 1 ? "" : kName),
                      "the welcome names the session");
    }

    static constexpr const char* kName = "s";

    controller::Session session_{kName};
    std::uint32_t taken_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    FrameReader reader(kMaxClientFrame);
    const auto fed = reader.feed(reinterpret_cast<const char*>(data), size);
    if (!fed) fuzz::require_clean(fed.error().message);
    Peer peer;
    while (const auto credential = reader.next())
        if (!peer.say(*credential)) break;
    return 0;
}

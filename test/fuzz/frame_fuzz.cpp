// SPDX-License-Identifier: MIT
// The first byte says how the stream is cut; however that is, the frames are the same.
#include "protocol/frame.hpp"

#include <algorithm>
#include <string>

#include "fuzz.hpp"

using namespace elastic;

namespace {

// The frames taken, framed again.
std::string reframed(std::string_view stream, std::size_t piece) {
    protocol::FrameReader reader(300);
    std::string taken;
    bool fine = true;
    for (std::size_t at = 0; at < stream.size() && fine; at += piece) {
        const auto part = stream.substr(at, piece);
        const auto fed = reader.feed(part.data(), part.size());
        fine = static_cast<bool>(fed);
        if (!fine) fuzz::require_clean(fed.error().message);
        while (const auto one = reader.next()) {
            fuzz::require(!one->empty() && one->size() <= 300, "a frame within its limits");
            taken += protocol::frame(*one);
        }
    }
    return taken;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const auto stream = fuzz::text(data + 1, size - 1);
    const auto whole = reframed(stream, std::max<std::size_t>(1, stream.size()));
    fuzz::require(stream.starts_with(whole), "frames are the stream's beginning");
    fuzz::require(reframed(stream, 1 + data[0]) == whole, "cuts make no difference");
    return 0;
}

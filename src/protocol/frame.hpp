// SPDX-License-Identifier: MIT
// Frames on a byte stream: a length of four bytes, big-endian, and that many bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "common/result.hpp"

namespace elastic::protocol {

// Largest frames in bytes, without the four of the length.  A credential is a third larger than its
// payload, plus about 200 bytes; munged takes no request over 1 MiB.
inline constexpr std::size_t kMaxClientFrame = 64 * 1024;   // towards the controller
inline constexpr std::size_t kMaxReplyFrame = 1024 * 1024;  // towards clients

// What fits into a reply frame once it is sealed.
inline constexpr std::size_t kMaxReplyPayload = 760 * 1024;

// `bytes` behind its length.  At most 4 GiB - 1 bytes; the receiver's maximum is the caller's to
// keep.
std::string frame(std::string_view bytes);

// Takes a stream in pieces of any size and gives its frames back.
//
// Memory: the bytes fed and not yet taken, never more because of what a length claims. A caller
// that empties it with next() after each feed() holds one unfinished frame at most.
class FrameReader {
  public:
    explicit FrameReader(std::size_t max_frame) : max_frame_(max_frame) {}

    // An error when a length is 0 or above the maximum.  The stream cannot be read on after that:
    // further calls give the same error; frames before it can still be taken.
    Result<void> feed(const char* data, std::size_t size);

    // The next complete frame's bytes, in order.
    std::optional<std::string> next();

    // Whether a frame has begun and is not complete: the end of the stream now would cut it.
    bool partial() const { return buffer_.size() > complete_; }

  private:
    Result<void> scan();

    std::size_t max_frame_;
    std::string buffer_;
    std::size_t taken_ = 0;     // bytes of buffer_ that next() has given out
    std::size_t complete_ = 0;  // bytes of buffer_ that are complete frames
    std::optional<Error> broken_;
};

}  // namespace elastic::protocol

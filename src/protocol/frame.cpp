// SPDX-License-Identifier: MIT
// Cutting a byte stream into frames.
//
// Lengths are checked as soon as their four bytes are there, before any byte of the frame, so an
// oversized frame costs its sender four bytes and the reader nothing.
//
// Always holds: taken_ <= complete_ <= buffer_.size(), and complete_ is where a length begins.
#include "protocol/frame.hpp"

#include <cstdint>

namespace elastic::protocol {
namespace {

constexpr std::size_t kPrefix = 4;

std::size_t length_at(const std::string& buffer, std::size_t at) {
    std::size_t length = 0;
    for (std::size_t i = 0; i < kPrefix; ++i)
        length = length << 8 | static_cast<unsigned char>(buffer[at + i]);
    return length;
}

}  // namespace

std::string frame(std::string_view bytes) {
    const auto length = static_cast<std::uint32_t>(bytes.size());
    std::string framed;
    framed.reserve(kPrefix + bytes.size());
    for (int shift = 24; shift >= 0; shift -= 8)
        framed.push_back(static_cast<char>(length >> shift & 0xff));
    framed.append(bytes);
    return framed;
}

Result<void> FrameReader::feed(const char* data, std::size_t size) {
    if (broken_) return *broken_;
    buffer_.erase(0, taken_);
    complete_ -= taken_;
    taken_ = 0;
    buffer_.append(data, size);
    return scan();
}

// Moves complete_ over every frame that is all there.
Result<void> FrameReader::scan() {
    while (buffer_.size() - complete_ >= kPrefix) {
        const std::size_t length = length_at(buffer_, complete_);
        if (length == 0 || length > max_frame_) {
            broken_ = error("a frame of {} bytes; 1 to {} are allowed", length, max_frame_);
            return *broken_;
        }
        if (buffer_.size() - complete_ - kPrefix < length) break;
        complete_ += kPrefix + length;
    }
    return {};
}

std::optional<std::string> FrameReader::next() {
    if (taken_ == complete_) return std::nullopt;
    const std::size_t length = length_at(buffer_, taken_);
    std::string bytes = buffer_.substr(taken_ + kPrefix, length);
    taken_ += kPrefix + length;
    return bytes;
}

}  // namespace elastic::protocol

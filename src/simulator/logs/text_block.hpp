// SPDX-License-Identifier: MIT
// The text of a log as one block of memory.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace elastic::simulator {

// A block of bytes that can grow without being cleared or, when large, copied.
class Text {
  public:
    std::string_view view() const { return {data_.get(), size_}; }

    // For whoever fills it: room for at least `capacity` bytes; what is there stays. False if there
    // is no memory.
    bool reserve(std::size_t capacity);
    // Twice the room, at most `limit`, which is more than there is; false if there is no memory.
    bool grow(std::size_t limit);
    char* free_space() { return data_.get() + size_; }
    std::size_t free_bytes() const { return capacity_ - size_; }
    void add(std::size_t bytes) { size_ += bytes; }

    static constexpr std::size_t kFirstRoom = 64 << 10;

  private:
    struct Free {
        void operator()(char* data) const { std::free(data); }
    };
    std::unique_ptr<char[], Free> data_;
    std::size_t size_ = 0, capacity_ = 0;
};

// What a log may need at most.  A compressed one may unpack to `bytes`, and to more than
// `free_bytes` only if that is at most `ratio` times its size: logs are around 10, a file made to
// exhaust memory up to 1000 and more.
struct TextLimits {
    std::size_t bytes = std::size_t{2} << 30;
    std::size_t free_bytes = std::size_t{64} << 20;
    std::size_t ratio = 200;
};

}  // namespace elastic::simulator

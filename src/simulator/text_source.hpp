// SPDX-License-Identifier: MIT
// The text of a log, from wherever it is.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "common/result.hpp"

namespace elastic::simulator {

// A block of bytes that can grow without being cleared or, when large, copied.
class Text {
  public:
    std::string_view view() const { return {data_.get(), size_}; }

    // For whoever fills it: room for at least `capacity` bytes; what is there stays.
    // False if there is no memory.
    bool reserve(std::size_t capacity);
    char* free_space() { return data_.get() + size_; }
    std::size_t free_bytes() const { return capacity_ - size_; }
    void add(std::size_t bytes) { size_ += bytes; }

  private:
    struct Free {
        void operator()(char* data) const { std::free(data); }
    };
    std::unique_ptr<char[], Free> data_;
    std::size_t size_ = 0, capacity_ = 0;
};

// What a log may need at most.  A compressed one may unpack to `bytes`, and to
// more than `free_bytes` only if that is at most `ratio` times its size: logs
// are around 10, a file made to exhaust memory up to 1000.
struct TextLimits {
    std::size_t bytes = std::size_t{2} << 30;
    std::size_t free_bytes = std::size_t{64} << 20;
    std::size_t ratio = 200;
};

// The whole of the file, or of standard input for "-", unpacked if it is gzip
// (told by its first bytes, not by its name; several members one after the other
// are one text).  An error names the file and why: it cannot be read, is a
// folder, is larger than a limit, is damaged or cut off.
Result<Text> read_text(const std::string& path, const TextLimits& = {});

// The same of bytes at hand; `name` is for errors.
bool is_gzip(std::string_view bytes);
Result<Text> unpack(std::string_view gzip, std::string_view name, const TextLimits& = {});

}  // namespace elastic::simulator

// SPDX-License-Identifier: MIT
// Reads a log into memory at once.
//
// At once, because a log is small beside what is made of it, and because a
// scanner over one block is several times faster than one over a stream.  With
// read(), not mmap(): a file that somebody cuts off meanwhile gives a short text
// and not a SIGBUS.  With libdeflate, which unpacks three times as fast as zlib
// but wants to know the size of its output: so the room is guessed from what
// gzip says, grown when it was too little, and never larger than the limits,
// which is what stops a file made to exhaust memory.
#include "simulator/text_source.hpp"

#include <errno.h>
#include <fcntl.h>
#include <libdeflate.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "common/text.hpp"

namespace elastic::simulator {

namespace {

constexpr std::size_t kFirstRoom = 64 << 10;

// The larger part of the room of a compressed log is never touched, so a
// generous guess costs nothing.
constexpr std::size_t kUsualRatio = 16;

class File {
  public:
    explicit File(const std::string& path)
        : fd_(path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
    ~File() {
        if (fd_ > STDIN_FILENO) close(fd_);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    int fd() const { return fd_; }

  private:
    int fd_;
};

std::string show_name(const std::string& path) {
    return path == "-" ? "standard input" : printable(path, 200);
}

Error system_error(std::string_view name) {
    return error("{}: {}", name, std::strerror(errno));
}

// Twice the room, at most `limit`, which is more than there is; false if there is
// no memory.
bool grow(Text& text, std::size_t limit) {
    const std::size_t room = text.view().size() + text.free_bytes();
    return text.reserve(std::min(limit, std::max(2 * room, kFirstRoom)));
}

Error no_memory(std::string_view name) {
    return error("{}: no memory left for it", name);
}

Result<Text> read_all(int fd, std::size_t size_hint, std::size_t limit, std::string_view name) {
    Text text;
    // One more than there is, so that the end is seen without growing.
    if (!text.reserve(std::min(limit, size_hint) + 1)) return no_memory(name);
    for (;;) {
        const ssize_t got = read(fd, text.free_space(), text.free_bytes());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return system_error(name);
        if (got == 0) return text;
        text.add(static_cast<std::size_t>(got));
        if (text.view().size() > limit) {
            return error("{}: is larger than {} bytes, too large for a log", name, limit);
        }
        if (text.free_bytes() == 0 && !grow(text, limit + 1)) return no_memory(name);
    }
}

// What the end of a gzip file says of the size of its last member, modulo 2^32;
// it may lie, so it is a hint.
std::size_t said_size(std::string_view gzip) {
    std::size_t size = 0;
    for (std::size_t i = 0; i < 4 && i < gzip.size(); ++i) {
        size = size << 8 | static_cast<unsigned char>(gzip[gzip.size() - 1 - i]);
    }
    return size;
}

class Unpacker {
  public:
    Unpacker(std::string_view name, std::size_t limit) : name_(name), limit_(limit) {}
    ~Unpacker() { libdeflate_free_decompressor(decompressor_); }
    Unpacker(const Unpacker&) = delete;
    Unpacker& operator=(const Unpacker&) = delete;

    // Appends the member that `gzip` begins with; how many bytes of it that took.
    Result<std::size_t> member(std::string_view gzip, Text& out) {
        for (;;) {
            std::size_t taken = 0, made = 0;
            switch (libdeflate_gzip_decompress_ex(decompressor_, gzip.data(), gzip.size(),
                                                  out.free_space(), out.free_bytes(), &taken,
                                                  &made)) {
                case LIBDEFLATE_SUCCESS:
                    out.add(made);
                    return taken;
                case LIBDEFLATE_INSUFFICIENT_SPACE:
                    if (auto grown = more(out); !grown) return grown.error();
                    break;
                default:
                    return error("{}: the compressed file is cut off or damaged", name_);
            }
        }
    }

    Result<void> start(Text& out, std::size_t guess) {
        if (!decompressor_ || !out.reserve(std::clamp(guess, kFirstRoom, limit_))) {
            return no_memory(name_);
        }
        return {};
    }

  private:
    Result<void> more(Text& out) {
        if (out.view().size() + out.free_bytes() >= limit_) {
            return error("{}: unpacks to more than {} bytes, which no log of its size does", name_,
                         limit_);
        }
        if (!grow(out, limit_)) return no_memory(name_);
        return {};
    }

    std::string_view name_;
    std::size_t limit_;
    libdeflate_decompressor* decompressor_ = libdeflate_alloc_decompressor();
};

// Behind the last member: nothing, or what pads a tape's block.
bool is_padding(std::string_view rest) {
    return rest.find_first_not_of('\0') == std::string_view::npos;
}

}  // namespace

bool Text::reserve(std::size_t capacity) {
    if (capacity <= capacity_) return true;
    char* larger = static_cast<char*>(std::realloc(data_.get(), capacity));
    if (!larger) return false;
    (void)data_.release();
    data_.reset(larger);
    capacity_ = capacity;
    return true;
}

bool is_gzip(std::string_view bytes) {
    return bytes.starts_with("\x1f\x8b");
}

Result<Text> unpack(std::string_view gzip, std::string_view name, const TextLimits& limits) {
    const std::size_t size = gzip.size();
    const std::size_t by_ratio =
        size > limits.bytes / limits.ratio ? limits.bytes : size * limits.ratio;
    Unpacker unpacker(name, std::min(limits.bytes, std::max(limits.free_bytes, by_ratio)));
    Text text;
    const std::size_t guess = std::max(said_size(gzip), size * kUsualRatio);
    if (auto started = unpacker.start(text, guess); !started) return started.error();
    do {
        const auto taken = unpacker.member(gzip, text);
        if (!taken) return taken.error();
        gzip.remove_prefix(*taken);
    } while (is_gzip(gzip));
    if (!is_padding(gzip)) return error("{}: something follows the compressed data", name);
    return text;
}

Result<Text> read_text(const std::string& path, const TextLimits& limits) {
    const std::string name = show_name(path);
    const File file(path);
    struct stat status {};
    if (file.fd() < 0 || fstat(file.fd(), &status) != 0) return system_error(name);
    if (S_ISDIR(status.st_mode)) return error("{}: is a folder, not a log", name);
    const std::size_t hint =
        S_ISREG(status.st_mode) ? static_cast<std::size_t>(status.st_size) : kFirstRoom;
    auto text = read_all(file.fd(), hint, limits.bytes, name);
    if (!text || !is_gzip(text->view())) return text;
    return unpack(text->view(), name, limits);
}

}  // namespace elastic::simulator

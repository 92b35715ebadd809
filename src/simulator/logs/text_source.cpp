// SPDX-License-Identifier: MIT
// Reads a log into memory at once.
//
// At once, because a log is small beside what is made of it, and because a scanner over one block
// is several times faster than one over a stream.  With read(), not mmap(): a file that somebody
// cuts off meanwhile gives a short text and not a SIGBUS.
#include "simulator/logs/text_source.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "common/text.hpp"
#include "simulator/logs/unpack.hpp"

namespace elastic::simulator {

namespace {

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
        if (text.free_bytes() == 0 && !text.grow(limit + 1)) return no_memory(name);
    }
}

}  // namespace

Result<Text> read_text(const std::string& path, const TextLimits& limits) {
    const std::string name = show_name(path);
    const File file(path);
    struct stat status {};
    if (file.fd() < 0 || fstat(file.fd(), &status) != 0) return system_error(name);
    if (S_ISDIR(status.st_mode)) return error("{}: is a folder, not a log", name);
    const std::size_t hint =
        S_ISREG(status.st_mode) ? static_cast<std::size_t>(status.st_size) : Text::kFirstRoom;
    auto text = read_all(file.fd(), hint, limits.bytes, name);
    if (!text || !is_packed(text->view())) return text;
    return unpack(text->view(), name, limits);
}

}  // namespace elastic::simulator

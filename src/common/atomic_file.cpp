// SPDX-License-Identifier: MIT
// Write beside, then rename: the one way POSIX gives to replace a file so that neither a reader nor
// a crash ever sees half of it.  Devices and pipes cannot be replaced and are written to as they
// are.
//
// Always holds: no descriptor and no temporary file is left behind by a failure; descriptors are
// close-on-exec, because slurmctld forks.
#include "common/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <random>

#include "common/text.hpp"

namespace elastic {

namespace {

// std::generic_category's text is strerror's, but safe with threads.
Error failed(std::string_view verb, const std::string& path, int code = errno) {
    return error("cannot {} {}: {}", verb, printable(path, 200),
                 std::generic_category().message(code));
}

class Descriptor {
  public:
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(const Descriptor&) = delete;
    ~Descriptor() { close(); }

    bool close() {
        int fd = fd_;
        fd_ = -1;
        return fd < 0 || ::close(fd) == 0;
    }
    int get() const { return fd_; }

  private:
    int fd_;
};

bool write_all(int fd, std::string_view content) {
    while (!content.empty()) {
        ssize_t written = ::write(fd, content.data(), content.size());
        if (written < 0 && errno != EINTR) return false;
        if (written > 0) content.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

// Makes the rename itself durable.
bool sync_folder(const std::string& path) {
    std::size_t slash = path.rfind('/');
    std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    Descriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return fd.get() >= 0 && ::fsync(fd.get()) == 0;
}

bool fill(Descriptor& fd, std::string_view content, Durability durability) {
    return write_all(fd.get(), content) &&
           (durability != Durability::survives_power || ::fsync(fd.get()) == 0) && fd.close();
}

// The content of `fd`, whatever its size is by the time it is read.
Result<std::string> read_all(int fd, const std::string& path, std::size_t expected,
                             std::size_t max_size) {
    std::string content(std::min(expected, max_size) + 1, '\0');
    std::size_t length = 0;
    for (;;) {
        ssize_t got = ::read(fd, content.data() + length, content.size() - length);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return failed("read", path);
        if (got == 0) break;
        length += static_cast<std::size_t>(got);
        if (length > max_size) break;
        if (length == content.size()) content.resize(std::min(2 * length, max_size + 1));
    }
    if (length > max_size) {
        return error("cannot read {}: larger than {} bytes", printable(path, 200), max_size);
    }
    content.resize(length);
    return content;
}

bool is_special(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) &&
           !S_ISDIR(status.st_mode);
}

Result<void> write_special(const std::string& path, std::string_view content) {
    Descriptor fd(::open(path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC));
    if (fd.get() < 0 || !write_all(fd.get(), content) || !fd.close()) return failed("write", path);
    return {};
}

// Where symbolic links lead, be a file there or not.
std::string follow_links(const std::string& path) {
    constexpr int kMostLinks = 40;  // as Linux has it
    std::filesystem::path target = path;
    std::error_code failure;
    for (int i = 0; i < kMostLinks && std::filesystem::is_symlink(target, failure); ++i)
        target = target.parent_path() / std::filesystem::read_symlink(target, failure);
    return target;
}

// mkstemp() with a mode, of which the umask takes its part.
int create_beside(const std::string& path, mode_t mode, std::string& name) {
    constexpr int kMostTries = 100;
    std::random_device random;
    for (int i = 0; i < kMostTries; ++i) {
        name = fmt::format("{}.{:08x}", path, random());
        const int fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    return -1;
}

}  // namespace

Result<void> write_file(const std::string& link, std::string_view content, Durability durability,
                        mode_t mode) {
    if (is_special(link)) return write_special(link, content);
    const std::string path = follow_links(link);
    std::string temporary;
    Descriptor fd(create_beside(path, mode, temporary));
    if (fd.get() < 0) return failed("create a file beside", path);
    if (!fill(fd, content, durability) || ::rename(temporary.c_str(), path.c_str()) != 0) {
        Error reason = failed("write", path);
        ::unlink(temporary.c_str());
        return reason;
    }
    if (durability == Durability::survives_power && !sync_folder(path)) {
        return failed("sync the folder of", path);
    }
    return {};
}

Result<std::optional<std::string>> read_file_if_there(const std::string& path,
                                                      std::size_t max_size) {
    // Not blocking: a FIFO must be refused, not waited for.
    Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (fd.get() < 0) {
        if (errno == ENOENT) return std::optional<std::string>();
        return failed("read", path);
    }
    struct stat status {};
    if (::fstat(fd.get(), &status) != 0) return failed("read", path);
    if (!S_ISREG(status.st_mode)) {
        return error("cannot read {}: not a regular file", printable(path, 200));
    }
    Result<std::string> content =
        read_all(fd.get(), path, static_cast<std::size_t>(status.st_size), max_size);
    if (!content) return content.error();
    return std::optional<std::string>(std::move(*content));
}

Result<std::string> read_file(const std::string& path, std::size_t max_size) {
    Result<std::optional<std::string>> content = read_file_if_there(path, max_size);
    if (!content) return content.error();
    if (!*content) return failed("read", path, ENOENT);
    return std::move(**content);
}

}  // namespace elastic

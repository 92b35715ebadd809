// SPDX-License-Identifier: MIT
// The lock is flock() on NODE.owner: it goes with its holder, however that ends, so a task that is
// killed while it initialises leaves the node uninitialised and free for the next.  Neither lock
// nor record is inherited by the program that initialises: a daemon that it leaves behind would
// keep the node locked for good.
//
// Always holds: NODE.done of another owner is gone before the new owner is written, so no crash in
// between makes a node look initialised for somebody for whom it is not; no symbolic link is
// followed within the folder.
#include "node/initialisation.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <vector>

#include "common/atomic_file.hpp"
#include "common/record.hpp"

namespace elastic::node {

// What NODE.owner holds.
struct Entry {
    Owner owner;
    std::string boot;
};

template <class F>
void fields(F& f, Entry& entry) {
    constexpr std::size_t kLongest = 4096;
    f.required("user", entry.owner.user, Whole{0, UINT32_MAX});
    f.required("type", entry.owner.type, Text{kLongest});
    f.required("program", entry.owner.program, Text{kLongest});
    f.required("job", entry.owner.job, Whole{0, UINT32_MAX});
    f.required("boot", entry.boot, Text{kLongest});
}

namespace {

constexpr std::size_t kMaxRecord = 16384;
constexpr char kBootId[] = "/proc/sys/kernel/random/boot_id";

Error failed(std::string_view verb, const std::string& path) {
    return error("cannot {} {}: {}", verb, path, std::generic_category().message(errno));
}

// Closes what it was given unless somebody took it.
class Descriptor {
  public:
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(const Descriptor&) = delete;
    ~Descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    int get() const { return fd_; }
    int take() { return std::exchange(fd_, -1); }

  private:
    int fd_;
};

Result<std::string> boot_id() {
    return read_file(kBootId, 100);
}

Result<void> check_folder(const std::string& folder) {
    struct stat status {};
    if (::lstat(folder.c_str(), &status) != 0) return failed("look at", folder);
    const bool is_ours = S_ISDIR(status.st_mode) && status.st_uid == ::geteuid();
    if (!is_ours || (status.st_mode & (S_IWGRP | S_IWOTH)))
        return error("{} must be a folder that only user {} can write to", folder, ::geteuid());
    return {};
}

Result<void> make_folder(const std::string& folder) {
    if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) return failed("make", folder);
    return check_folder(folder);
}

Result<void> check_node(const std::string& node) {
    if (node.empty() || node.front() == '.' || node.find('/') != node.npos)
        return error("'{}' is no name of a node", node);
    return {};
}

std::string owner_path(const std::string& folder, const std::string& node) {
    return folder + "/" + node + ".owner";
}

std::string done_path(const std::string& folder, const std::string& node) {
    return folder + "/" + node + ".done";
}

// Nobody else may read it: who can open a file can lock it, and keep all jobs of the node waiting.
int open_locked(const std::string& path, int flags) {
    const int fd = ::open(path.c_str(), flags | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) return -1;
    while (::flock(fd, LOCK_EX) != 0)
        if (errno != EINTR) {
            ::close(fd);
            return -1;
        }
    return fd;
}

std::string read_whole(int fd) {
    std::string text(kMaxRecord, '\0');
    const ssize_t length = ::pread(fd, text.data(), text.size(), 0);
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
    return text;
}

bool replace(int fd, std::string_view text) {
    return ::ftruncate(fd, 0) == 0 &&
           ::pwrite(fd, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
}

bool remove_file(const std::string& path) {
    return ::unlink(path.c_str()) == 0 || errno == ENOENT;
}

// Nothing where there is no record, or none that can be understood.
std::optional<Entry> entry_of(int fd) {
    const auto json = Json::parse(read_whole(fd));
    Entry entry;
    if (!json || !read_record(*json, entry)) return std::nullopt;
    return entry;
}

// Opened for the user's process, which cannot open it anew: the folder is root's.
Result<int> open_done(const std::string& path, uid_t user) {
    Descriptor fd(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (fd.get() < 0 || ::fchown(fd.get(), user, static_cast<gid_t>(-1)) != 0)
        return failed("make", path);
    return fd.take();
}

}  // namespace

Result<Record> Record::take(const std::string& folder, const std::string& node,
                            const Owner& owner) {
    if (auto ok = check_node(node); !ok) return ok.error();
    if (auto ok = make_folder(folder); !ok) return ok.error();
    auto boot = boot_id();
    if (!boot) return boot.error();
    const std::string path = owner_path(folder, node), done = done_path(folder, node);
    Descriptor lock(open_locked(path, O_CREAT));
    if (lock.get() < 0) return failed("lock", path);
    const auto before = entry_of(lock.get());
    const bool is_same = before && before->boot == *boot && before->owner.shares_with(owner);
    if (!is_same && !remove_file(done)) return failed("remove", done);
    Entry entry{owner, *boot};
    if (!replace(lock.get(), write_record(entry).dump())) return failed("write", path);
    auto record = open_done(done, owner.user);
    if (!record) return record.error();
    return Record(node, lock.take(), *record);
}

Record::Record(Record&& other) noexcept
    : node_(std::move(other.node_)),
      lock_(std::exchange(other.lock_, -1)),
      done_(std::exchange(other.done_, -1)) {}

Record::~Record() {
    if (done_ >= 0) ::close(done_);
    if (lock_ >= 0) ::close(lock_);
}

bool Record::is_initialised() const {
    struct stat status {};
    return ::fstat(done_, &status) == 0 && status.st_size > 0;
}

Result<void> Record::set_initialised() {
    if (!replace(done_, "done\n")) return failed("write the record of", node_);
    return {};
}

Result<void> forget(const std::string& folder, const std::string& node, std::uint32_t job) {
    if (auto ok = check_node(node); !ok) return ok;
    const std::string path = owner_path(folder, node), done = done_path(folder, node);
    Descriptor lock(open_locked(path, 0));
    if (lock.get() < 0) return errno == ENOENT ? Result<void>() : failed("lock", path);
    const auto before = entry_of(lock.get());
    // A step of the same job may have lost the job's environment.
    if (before && before->owner.job == job) return {};
    if (!remove_file(done)) return failed("remove", done);
    if (!replace(lock.get(), "")) return failed("write", path);
    return {};
}

int run_program(const std::string& program, const std::string& node,
                const char* const* environment) {
    constexpr int kNotRunnable = 126, kNotFound = 127, kSignalled = 128;
    const std::string told = "ELASTIC_NODE=" + node;
    std::vector<char*> variables;
    for (; environment && *environment; ++environment)
        variables.push_back(const_cast<char*>(*environment));
    variables.push_back(const_cast<char*>(told.c_str()));
    variables.push_back(nullptr);
    char* const arguments[] = {const_cast<char*>(program.c_str()), nullptr};
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    pid_t child = 0;
    const int refused =
        ::posix_spawn(&child, program.c_str(), &actions, nullptr, arguments, variables.data());
    ::posix_spawn_file_actions_destroy(&actions);
    if (refused) return refused == ENOENT ? kNotFound : kNotRunnable;
    int status = 0;
    while (::waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return kNotRunnable;
    return WIFSIGNALED(status) ? kSignalled + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace elastic::node

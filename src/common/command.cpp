// SPDX-License-Identifier: MIT
// posix_spawn() and not popen(): no shell, a process group that can be killed as a whole, signals
// as in a fresh process whatever the caller's thread blocks, and safe in a program of many threads.
#include "common/command.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

namespace elastic {
namespace {

using Clock = std::chrono::steady_clock;

// When it is to be killed.
struct End {
    Clock::time_point at;
    const std::atomic<bool>& cancelled;

    bool is_over() const { return cancelled || Clock::now() >= at; }
};

constexpr int kLook = 100;  // milliseconds between two looks at whether that is so

// 0, or the error's number.
int spawn(const std::string& program, int output, pid_t& child) {
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
    ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    sigset_t none, all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    std::string path = "PATH=/usr/sbin:/usr/bin:/sbin:/bin", name = program;
    char* const environment[] = {path.data(), nullptr};
    char* const arguments[] = {name.data(), nullptr};
    const int failed =
        ::posix_spawn(&child, program.c_str(), &files, &attributes, arguments, environment);
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&files);
    return failed;
}

// Until the other end is closed, the time is over or it is too much; false then.
bool read_all(int from, const End& end, std::size_t most, std::string& text) {
    std::array<char, 65536> piece;
    for (;;) {
        pollfd ready{from, POLLIN, 0};
        const int polled = ::poll(&ready, 1, kLook);
        if (end.is_over()) return false;
        if (polled == 0 || (polled < 0 && errno == EINTR)) continue;
        if (polled < 0) return false;
        const ssize_t got = ::read(from, piece.data(), piece.size());
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return true;
        text.append(piece.data(), static_cast<std::size_t>(got));
        if (text.size() > most) return false;
    }
}

// How it has ended; nothing if it goes on at the end of its time.
bool wait_for(pid_t child, const End& end, int& status) {
    for (;;) {
        const pid_t ended = ::waitpid(child, &status, WNOHANG);
        if (ended == child) return true;
        if (ended < 0 && errno != EINTR) return status = 0, true;  // somebody else has waited
        if (end.is_over()) return false;
        ::poll(nullptr, 0, 10);
    }
}

}  // namespace

Result<std::string> output_of(const std::string& program, Duration deadline, std::size_t most,
                              const std::atomic<bool>& cancelled) {
    const End end{Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                     std::chrono::duration<double>(deadline)),
                  cancelled};
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        return error("{}: no pipe: {}", program, std::strerror(errno));
    pid_t child = 0;
    const int failed = spawn(program, ends[1], child);
    ::close(ends[1]);
    if (failed) {
        ::close(ends[0]);
        return error("{}: cannot be run: {}", program, std::strerror(failed));
    }
    std::string text;
    int status = 0;
    const bool is_whole = read_all(ends[0], end, most, text);
    ::close(ends[0]);
    const bool has_ended = is_whole && wait_for(child, end, status);
    ::kill(-child, SIGKILL);  // what it has left behind, too
    if (!has_ended) {
        while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
        if (text.size() > most) return error("{}: prints more than {} bytes", program, most);
        return error("{}: has not ended after {} s and was killed", program, deadline);
    }
    if (WIFSIGNALED(status)) return error("{}: died of signal {}", program, WTERMSIG(status));
    if (WEXITSTATUS(status) != 0)
        return error("{}: ended with status {}", program, WEXITSTATUS(status));
    return text;
}

}  // namespace elastic

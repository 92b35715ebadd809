// SPDX-License-Identifier: MIT
// One poll() on the library's descriptor and on the signals: nothing is done inside a handler, so
// nothing is interrupted by another.
#include "selastic-run/job_loop.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <system_error>

#include "common/text.hpp"
#include "program.hpp"

namespace elastic::tools {
namespace {

// The signals are blocked as long as there is one of these.
class Signals {
  public:
    Signals() {
        sigset_t wanted;
        sigemptyset(&wanted);
        for (const int number : {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT})
            sigaddset(&wanted, number);
        ::sigprocmask(SIG_BLOCK, &wanted, &before_);
        fd_ = ::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
        if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "signalfd");
    }
    ~Signals() {
        ::close(fd_);
        ::sigprocmask(SIG_SETMASK, &before_, nullptr);
    }
    Signals(const Signals&) = delete;
    Signals& operator=(const Signals&) = delete;

    int fd() const { return fd_; }
    // 0: no more.
    int next() {
        signalfd_siginfo info{};
        return ::read(fd_, &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo)
                                                              : 0;
    }

  private:
    sigset_t before_{};
    int fd_ = -1;
};

void take_signal(int number, JobUser& user) {
    if (number == SIGCONT)
        user.on_continue();
    else if (number != SIGCHLD)
        user.on_signal(number);
}

void take_ends(JobUser& user) {
    int status = 0;
    for (pid_t pid; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) user.on_end(pid, status);
}

void take_events(elastic_handle* job, JobUser& user) {
    elastic_event event{};
    while (!user.over() && elastic_poll(job, 0, &event) > 0)
        user.on_event(JobEvent{event.type, event.kind, event.nodes, event.size, event.op,
                               event.deadline, event.node_list, event.reason});
}

}  // namespace

void JobUser::closed(const JobEvent& event) {
    note("no resizes from here on: {}", printable(event.reason, 200));
}

void JobUser::on_event(const JobEvent& event) {
    switch (event.type) {
        case ELASTIC_EVENT_OFFER_SHRINK:
        case ELASTIC_EVENT_OFFER_EXPAND:
            return offered(event);
        case ELASTIC_EVENT_ACCEPTED:
            return accepted(event);
        case ELASTIC_EVENT_QUEUED:
            return queued(event);
        case ELASTIC_EVENT_RESIZED:
            return resized(event);
        case ELASTIC_EVENT_ENDED:
            return ended(event);
        case ELASTIC_EVENT_CLOSED:
            return closed(event);
        default:
            return;
    }
}

void run_loop(elastic_handle* job, JobUser& user) {
    Signals signals;
    constexpr double kMs = 1000, kLongest = 3600;
    while (!user.over()) {
        std::array<pollfd, 3> ready{{{elastic_fd(job), POLLIN, 0},
                                     {signals.fd(), POLLIN, 0},
                                     {user.descriptor(), POLLIN, 0}}};
        const double wait = std::ceil(std::clamp(user.wake_after(), 0.0, kLongest) * kMs);
        ::poll(ready.data(), ready.size(), static_cast<int>(wait));
        while (const int number = signals.next()) take_signal(number, user);
        take_events(job, user);
        take_ends(user);
        if (!user.over()) user.on_time();
    }
}

}  // namespace elastic::tools

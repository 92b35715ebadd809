// SPDX-License-Identifier: MIT
// One poll() on the library's descriptor and on the signals: nothing is done inside a handler, so
// nothing is interrupted by another.
#include "selastic-run/elastic_run.hpp"

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
#include "selastic-run/nodes.hpp"

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

}  // namespace

StepPlace ElasticRun::place_on(const std::string& nodes) const {
    const auto names = host_names(nodes);
    return {nodes, names.empty() ? elastic_nodes(job_) : static_cast<int>(names.size())};
}

void ElasticRun::wake(Time when) {
    wake_at_ = std::min(wake_at_, when);
}

void ElasticRun::finish(int status) {
    status_ = status;
    over_ = true;
}

bool ElasticRun::accept(const JobEvent& offer) {
    begin_negotiation();
    return elastic_accept(job_, offer.op) == ELASTIC_OK;
}

void ElasticRun::decline(const JobEvent& offer, const char* why) {
    elastic_decline(job_, offer.op, why);
}

void ElasticRun::begin_negotiation() {
    negotiation_began_ = steady_now();
}

Duration ElasticRun::negotiated() const {
    return negotiation_began_ < kNever ? steady_now() - negotiation_began_ : 0;
}

void ElasticRun::take_signal(int number) {
    if (number == SIGCHLD) return;
    if (number == SIGCONT) return on_continue();
    if (number != SIGUSR1 && number != SIGUSR2) ending_ = true;
    on_signal(number);
}

void ElasticRun::take_ends() {
    int status = 0;
    for (pid_t pid; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;)
        if (!over_) on_end(pid, shell_status(status));
}

void ElasticRun::take_events() {
    elastic_event event{};
    while (!over_ && elastic_poll(job_, 0, &event) > 0)
        take_event(JobEvent{event.type, event.kind, event.nodes, event.size, event.op,
                            event.deadline, event.node_list, event.reason, event.outcome});
}

void ElasticRun::take_event(const JobEvent& event) {
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
            return note("no resizes from here on: {}", printable(event.reason, 200));
        default:
            return;
    }
}

int ElasticRun::run() {
    start();
    Signals signals;
    constexpr double kMs = 1000, kLongest = 3600;
    while (!over_) {
        std::array<pollfd, 3> ready{
            {{elastic_fd(job_), POLLIN, 0}, {signals.fd(), POLLIN, 0}, {descriptor(), POLLIN, 0}}};
        const double wait = std::ceil(std::clamp(wake_at_ - steady_now(), 0.0, kLongest) * kMs);
        ::poll(ready.data(), ready.size(), static_cast<int>(wait));
        while (const int number = signals.next()) take_signal(number);
        take_events();
        take_ends();
        if (over_) break;
        wake_at_ = kNever;
        look();
    }
    return status_;
}

}  // namespace elastic::tools

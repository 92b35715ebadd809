// SPDX-License-Identifier: MIT
// One thread waits for whatever comes first, a key, an answer, a signal or the next second, so that
// a key is acted on at once while a controller does not answer.
//
// Always: signals that end a program end the loop, so the terminal is put back in one place.
#include "selastic/top_command.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>

#include "common/fd.hpp"
#include "selastic/asker.hpp"
#include "selastic/output.hpp"
#include "selastic/top_screen.hpp"
#include "selastic/top_watch.hpp"
#include "write_output.hpp"

namespace elastic::tools {
namespace {

constexpr int kEveryMs = 1000;
constexpr Duration kPatience = 10;  // of --once, as that of other commands
constexpr const char* kKeys =
    " q quit  s sort  r reverse  / filter  Tab next part  arrows, PgUp, PgDn scroll  p pause";

sigset_t ending_signals() {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&set, signal);
    return set;
}

// What the user sees and has asked for.
class Session {
  public:
    explicit Session(const TopOptions& options) {
        view_.sort = options.sort;
        view_.filter = options.filter;
        view_.reverse = options.reverse;
    }

    bool is_over() const { return over_; }
    bool is_paused() const { return paused_; }

    std::vector<TopLine> frame(const TopData& data, int width, int height) {
        view_.width = width;
        view_.height = height;
        view_.bottom = bottom();
        return top_frame(data, view_);
    }

    void take(const TopInput& input) {
        if (typing_)
            type(input);
        else
            act(input);
    }

  private:
    std::string bottom() const {
        if (typing_) return " filter: " + view_.filter + "_   (Enter: done, Esc: none)";
        const std::string sorted =
            fmt::format(" by {}{} ", view_.sort, view_.reverse ? ", reversed" : "");
        return (paused_ ? " PAUSED" : "") + sorted + kKeys;
    }

    void type(const TopInput& input) {
        if (input.key == TopKey::character)
            view_.filter += input.character;
        else if (input.key == TopKey::backspace && !view_.filter.empty())
            view_.filter.pop_back();
        else if (input.key == TopKey::escape)
            view_.filter.clear();
        if (input.key == TopKey::enter || input.key == TopKey::escape) typing_ = false;
    }

    void act(const TopInput& input) {
        switch (input.key) {
            case TopKey::up:
                return scroll(-1);
            case TopKey::down:
                return scroll(1);
            case TopKey::page_up:
                return scroll(-view_.height / 2);
            case TopKey::page_down:
                return scroll(view_.height / 2);
            case TopKey::home:
                view_.scroll = 0;
                return;
            case TopKey::tab:
                view_.focus = static_cast<TopPart>((static_cast<int>(view_.focus) + 1) % 3);
                view_.scroll = 0;
                return;
            case TopKey::escape:
                view_.filter.clear();
                return;
            case TopKey::character:
                return command(input.character);
            default:
                return;
        }
    }

    void command(char key) {
        if (key == 'q') over_ = true;
        if (key == 's') sort_by_next();
        if (key == 'r') view_.reverse = !view_.reverse;
        if (key == 'p') paused_ = !paused_;
        if (key == '/') typing_ = true;
        if (key == 'j') scroll(1);
        if (key == 'k') scroll(-1);
    }

    void sort_by_next() {
        const auto& keys = top_sort_keys();
        const auto now = std::ranges::find(keys, view_.sort);
        view_.sort = now == keys.end() || now + 1 == keys.end() ? keys.front() : *(now + 1);
    }

    void scroll(int lines) {
        constexpr int kMost = 100'000;
        view_.scroll = std::clamp(view_.scroll + lines, 0, kMost);
    }

    TopView view_;
    bool typing_ = false, paused_ = false, over_ = false;
};

// The signal that has come, 0 if none.
int signal_in(int fd) {
    signalfd_siginfo info{};
    return ::read(fd, &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo) : 0;
}

// Reads all keys that there are.
void take_keys(TopScreen& screen, Session& session) {
    for (TopInput input = screen.read(); input.key != TopKey::none; input = screen.read())
        session.take(input);
}

// Until the user or a signal ends it, which is returned.
Result<int> show_until_end(TopWatch& watch, Session& session, int signals) {
    const auto screen = open_screen();
    if (!screen) return screen.error();
    TopData shown = watch.data();
    while (!session.is_over()) {
        if (!session.is_paused()) shown = watch.data();
        (*screen)->draw(session.frame(shown, (*screen)->width(), (*screen)->height()));
        std::array<pollfd, 3> ready{pollfd{STDIN_FILENO, POLLIN, 0}, pollfd{signals, POLLIN, 0},
                                    pollfd{watch.fd(), POLLIN, 0}};
        (void)::poll(ready.data(), ready.size(), kEveryMs);
        if (ready[1].revents) return signal_in(signals);
        if (ready[0].revents & (POLLHUP | POLLERR | POLLNVAL)) return 0;
        take_keys(**screen, session);
        watch.run(0);
        if (watch.over()) return no_answer(watch.trouble());
    }
    return 0;
}

// As the signal would have ended it.
void end_by(int signal, const sigset_t& blocked) {
    (void)std::signal(signal, SIG_DFL);
    (void)::raise(signal);
    ::sigprocmask(SIG_UNBLOCK, &blocked, nullptr);
}

int show(const TopOptions& options) {
    const sigset_t ending = ending_signals();
    ::sigprocmask(SIG_BLOCK, &ending, nullptr);
    const Fd signals(::signalfd(-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK));
    const auto watch = watch_cluster();
    if (!watch) return fail(watch.error());
    Session session(options);
    const Result<int> signal = show_until_end(**watch, session, signals.get());
    if (!signal) return fail(signal.error());
    if (*signal) end_by(*signal, ending);
    return kExitOk;
}

int print_once(const TopOptions& options) {
    const auto watch = watch_cluster();
    if (!watch) return fail(watch.error());
    const Time end = libelastic::monotonic_now() + kPatience;
    while (!(*watch)->has_all()) {
        const Duration left = end - libelastic::monotonic_now();
        if (left <= 0 || (*watch)->over()) return fail(no_answer((*watch)->trouble()));
        (*watch)->run(std::min(kEveryMs, static_cast<int>(left * 1000) + 1));
    }
    if (options.json) {
        fmt::print("{}\n", (*watch)->to_json().dump());
        return kExitOk;
    }
    TopView view;
    view.width = terminal_width();
    view.sort = options.sort;
    view.filter = options.filter;
    view.reverse = options.reverse;
    fmt::print("{}", plain_text(top_frame((*watch)->data(), view)));
    return kExitOk;
}

}  // namespace

int top(const TopOptions& options) {
    if (options.once || options.json) return print_once(options);
    TopOptions own = options;
    return with_terminal_kept([](void* o) { return show(*static_cast<TopOptions*>(o)); }, &own);
}

}  // namespace elastic::tools

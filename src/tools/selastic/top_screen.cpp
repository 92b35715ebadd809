// SPDX-License-Identifier: MIT
// By ncurses: it is on every system that Slurm runs on, knows every terminal, what a window's
// change of size and Ctrl-Z need, and sends only what has changed, which over a slow line is what
// makes a screen a second bearable.  Newer libraries (FTXUI, notcurses) draw more than this has to
// show, and are not on the enterprise systems that sites run.
//
// A process that is killed outright cannot put its terminal back, so one that waits for it does.
#include "selastic/top_screen.hpp"

#include "elastic_config.h"
#include "program.hpp"

#ifdef HAVE_NCURSES

#include <sys/prctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>

#define NCURSES_NOMACROS 1
#include <curses.h>

namespace elastic::tools {
namespace {

constexpr int kEscapeDelay = 25;  // ms after which an escape is the key

short colour_of(TopStyle style) {
    switch (style) {
        case TopStyle::kept:
            return COLOR_BLUE;
        case TopStyle::held:
            return COLOR_CYAN;
        case TopStyle::coming:
            return COLOR_GREEN;
        case TopStyle::leaving:
            return COLOR_YELLOW;
        case TopStyle::trouble:
            return COLOR_RED;
        default:
            return -1;
    }
}

attr_t attributes_of(TopStyle style) {
    switch (style) {
        case TopStyle::dim:
            return A_DIM;
        case TopStyle::strong:
        case TopStyle::coming:
        case TopStyle::leaving:
            return A_BOLD;
        case TopStyle::heading:
            return A_REVERSE;
        case TopStyle::trouble:
            return A_BOLD | A_REVERSE;
        default:
            return A_NORMAL;
    }
}

class Ncurses : public TopScreen {
  public:
    explicit Ncurses(SCREEN* screen) : screen_(screen) {
        cbreak();
        noecho();
        nonl();
        keypad(stdscr, true);
        nodelay(stdscr, true);
        curs_set(0);
        set_escdelay(kEscapeDelay);
        colours_ = !std::getenv("NO_COLOR") && has_colors() && start_color() == OK;
        if (colours_ && use_default_colors() == OK)
            for (int style = 0; style <= static_cast<int>(TopStyle::trouble); ++style)
                init_pair(pair_of(style), colour_of(static_cast<TopStyle>(style)), -1);
    }
    ~Ncurses() override {
        endwin();
        delscreen(screen_);
    }

    void draw(const std::vector<TopLine>& lines) override {
        werase(stdscr);
        for (int y = 0; const TopLine& line : lines) {
            wmove(stdscr, y++, 0);
            for (const TopSpan& span : line) put(span);
        }
        wrefresh(stdscr);
    }

    TopInput read() override { return input_of(wgetch(stdscr)); }

    int width() const override { return getmaxx(stdscr); }
    int height() const override { return getmaxy(stdscr); }

  private:
    static short pair_of(int style) { return static_cast<short>(style + 1); }

    void put(const TopSpan& span) {
        const short pair = colours_ ? pair_of(static_cast<int>(span.style)) : short{0};
        wattr_set(stdscr, attributes_of(span.style), pair, nullptr);
        waddnstr(stdscr, span.text.c_str(), static_cast<int>(span.text.size()));
        wattr_set(stdscr, A_NORMAL, 0, nullptr);
    }

    static TopInput input_of(int key) {
        switch (key) {
            case ERR:
                return {};
            case KEY_RESIZE:
                return {TopKey::resized};
            case KEY_UP:
                return {TopKey::up};
            case KEY_DOWN:
                return {TopKey::down};
            case KEY_PPAGE:
                return {TopKey::page_up};
            case KEY_NPAGE:
                return {TopKey::page_down};
            case KEY_HOME:
                return {TopKey::home};
            case '\t':
                return {TopKey::tab};
            case '\r':
            case '\n':
            case KEY_ENTER:
                return {TopKey::enter};
            case 27:
                return {TopKey::escape};
            case KEY_BACKSPACE:
            case 127:
            case 8:
                return {TopKey::backspace};
            default:
                if (key < ' ' || key > '~') return {TopKey::resized};  // draws anew, nothing else
                return {TopKey::character, static_cast<char>(key)};
        }
    }

    SCREEN* screen_;
    bool colours_ = false;
};

volatile std::sig_atomic_t child_of_guard = 0;

void hand_on(int signal) {
    if (child_of_guard > 0) (void)::kill(child_of_guard, signal);
}

// A process that is asked to end has put the terminal back.
bool is_wish_to_end(int signal) {
    return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

// As the shell that has started us expects it.
void end_by(int signal) {
    (void)std::signal(signal, SIG_DFL);
    (void)::raise(signal);
}

// The terminal sends its signals to both processes: the one that has the screen acts on them.
int wait_for(pid_t child, const termios& before) {
    child_of_guard = child;
    struct sigaction action {};
    action.sa_handler = hand_on;
    action.sa_flags = SA_RESTART;
    for (const int signal : {SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    child_of_guard = 0;
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    const int signal = WTERMSIG(status);
    if (is_wish_to_end(signal)) end_by(signal);
    // Taking the screen and leaving it sends all that leaving it takes.
    (void)open_screen();
    ::tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
    return fail(error("ended by signal {} ({})", signal, ::strsignal(signal)));
}

}  // namespace

Result<std::unique_ptr<TopScreen>> open_screen() {
    SCREEN* screen = newterm(nullptr, stdout, stdin);
    if (!screen) {
        const char* term = std::getenv("TERM");
        return error("the terminal '{}' is not known; set TERM, or --once prints text",
                     term ? term : "");
    }
    return std::unique_ptr<TopScreen>(std::make_unique<Ncurses>(screen));
}

int with_terminal_kept(int (*body)(void*), void* argument) {
    termios before{};
    if (!::isatty(STDOUT_FILENO) || ::tcgetattr(STDIN_FILENO, &before) != 0)
        return fail(error("standard input and output are no terminal; --once prints text"));
    const pid_t guard = ::getpid(), child = ::fork();
    if (child < 0) return fail(error("cannot start a process: {}", std::strerror(errno)));
    if (child == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (::getppid() != guard) return kExitError;
        return body(argument);
    }
    for (const int signal : {SIGINT, SIGQUIT}) (void)std::signal(signal, SIG_IGN);
    return wait_for(child, before);
}

}  // namespace elastic::tools

#else

namespace elastic::tools {

Result<std::unique_ptr<TopScreen>> open_screen() {
    return error("this selastic was built without ncurses; --once prints text");
}

int with_terminal_kept(int (*body)(void*), void* argument) {
    return body(argument);
}

}  // namespace elastic::tools

#endif

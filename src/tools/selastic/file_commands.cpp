// SPDX-License-Identifier: MIT
// Reading, checking and drawing journals.
//
// A journal that logrotate has cut is given as several files, oldest first, and
// treated as one.
#include "selastic/file_commands.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <iterator>
#include <thread>

#include "journal/gantt.hpp"
#include "journal/journal.hpp"
#include "journal/replay.hpp"
#include "selastic/output.hpp"
#include "write_output.hpp"

namespace elastic::tools {
namespace {

using journal::Journal;

bool concerns(const JournalFilter& filter, const journal::Event& event) {
    return filter.job == 0 || journal::job_of(event) == filter.job;
}

int print_all(const std::string& file, const JournalFilter& filter) {
    const Result<Journal> content = journal::read_journal(file);
    if (!content) return fail(content.error());
    for (const journal::Malformed& m : content->malformed)
        note("{}:{}: {}", file, m.number, m.message);
    for (const journal::Line& line : content->lines)
        if (concerns(filter, line.event)) print_event(line.event, filter.json);
    return kExitOk;
}

int print_tail(const std::string& file, const JournalFilter& filter) {
    const auto last = journal::tail(file, static_cast<std::size_t>(filter.tail), filter.job);
    if (!last) return fail(last.error());
    for (const journal::Event& event : last->events) print_event(event, filter.json);
    return kExitOk;
}

// What is there already, or the tail of it.
void print_present(const JournalFilter& filter, journal::Reader& reader) {
    std::deque<journal::Event> kept;
    for (;;) {
        journal::Reader::Item item = reader.next();
        if (std::holds_alternative<journal::Reader::AtEnd>(item)) break;
        auto* line = std::get_if<journal::Line>(&item);
        if (!line || !concerns(filter, line->event)) continue;
        kept.push_back(std::move(line->event));
        if (filter.tail > 0 && std::ssize(kept) > filter.tail) kept.pop_front();
    }
    for (const journal::Event& event : kept) print_event(event, filter.json);
}

// Returns with an error only: the user interrupts it.
int follow(const std::string& file, const JournalFilter& filter) {
    using namespace std::chrono_literals;
    journal::Reader reader;
    if (const Result<void> opened = reader.open(file); !opened) return fail(opened.error());
    print_present(filter, reader);
    for (;;) {
        const journal::Reader::Item item = reader.next();
        if (const auto* line = std::get_if<journal::Line>(&item)) {
            if (concerns(filter, line->event)) print_event(line->event, filter.json);
        } else if (std::holds_alternative<journal::Reader::AtEnd>(item)) {
            flush();
            std::this_thread::sleep_for(200ms);
            if (!reader.replaced()) continue;
            if (const Result<void> opened = reader.open(file); !opened) return fail(opened.error());
        }
    }
}

std::string where(const std::string& file, std::size_t line) {
    return line ? fmt::format("{}:{}", file, line) : file;
}

void print_violations(const std::string& file, const std::vector<journal::Violation>& all,
                      std::size_t first) {
    for (std::size_t i = first; i < all.size(); ++i) {
        const std::string job = all[i].job ? fmt::format("job {}: ", all[i].job) : "";
        fmt::print("{}: {}: {}{}\n", where(file, all[i].line), to_string(all[i].rule), job,
                   all[i].message);
    }
}

Result<void> feed_file(const std::string& file, journal::Replay& replay) {
    journal::Reader reader;
    if (const Result<void> opened = reader.open(file); !opened) return opened;
    for (;;) {
        const journal::Reader::Item item = reader.next();
        if (const auto* line = std::get_if<journal::Line>(&item))
            replay.feed(line->number, line->event);
        else if (const auto* malformed = std::get_if<journal::Malformed>(&item))
            replay.feed(*malformed);
        else
            return {};
    }
}

int terminal_width() {
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    return 80;
}

bool wants_colour(const std::string& choice) {
    if (choice != "auto") return choice == "always";
    const char* term = std::getenv("TERM");
    return ::isatty(STDOUT_FILENO) && !std::getenv("NO_COLOR") && term &&
           std::string_view(term) != "dumb";
}

Result<journal::Timeline> read_timeline(const GanttOptions& options) {
    std::vector<journal::Line> lines;
    for (const std::string& file : options.files) {
        Result<Journal> part = journal::read_journal(file);
        if (!part) return part.error();
        std::move(part->lines.begin(), part->lines.end(), std::back_inserter(lines));
    }
    journal::Timeline timeline = journal::timeline(lines);
    if (options.nodes.empty()) return timeline;
    return journal::only_nodes(std::move(timeline), options.nodes);
}

}  // namespace

void print_event(const journal::Event& event, bool json) {
    if (json)
        fmt::print("{}\n", journal::to_json(event).dump());
    else
        fmt::print("{}  {}\n", time_text(event.time), journal::describe(event));
}

int show_journal_file(const std::string& file, const JournalFilter& filter) {
    if (filter.follow) return follow(file, filter);
    return filter.tail > 0 ? print_tail(file, filter) : print_all(file, filter);
}

int check_journal(const CheckOptions& options) {
    journal::Replay replay({options.may_still_run, 1});
    for (const std::string& file : options.files) {
        const std::size_t before = replay.violations().size();
        if (const Result<void> fed = feed_file(file, replay); !fed) return fail(fed.error());
        if (&file == &options.files.back()) replay.finish();
        if (!options.json) print_violations(file, replay.violations(), before);
    }
    const journal::Verdict verdict{replay.summary(), replay.violations()};
    if (options.json)
        fmt::print("{}\n", journal::to_json(verdict).dump());
    else
        fmt::print("{} jobs ({} completed, {} running), {} shrinks, {} expands, {} violations\n",
                   verdict.summary.jobs, verdict.summary.completed, verdict.summary.running,
                   verdict.summary.shrinks, verdict.summary.expands, verdict.violations.size());
    return verdict.violations.empty() ? kExitOk : kExitNo;
}

int draw_gantt(const GanttOptions& options) {
    const Result<journal::Timeline> timeline = read_timeline(options);
    if (!timeline) return fail(timeline.error());
    if (!options.svg.empty()) {
        const std::string image = journal::draw_svg(*timeline, options.title);
        const Result<void> written = write_output(options.svg, image);
        return written ? kExitOk : fail(written.error());
    }
    journal::TextOptions text;
    text.width = options.width > 0 ? options.width : terminal_width();
    text.colour = wants_colour(options.colour);
    text.unicode = !options.ascii;
    fmt::print("{}", journal::draw_text(*timeline, text));
    return kExitOk;
}

}  // namespace elastic::tools

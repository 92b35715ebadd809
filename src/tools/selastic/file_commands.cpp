// SPDX-License-Identifier: MIT
// Reading, checking and drawing journals.
//
// A journal that logrotate has cut is given as several files, oldest first, and treated as one.
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
#include "journal/node_hours.hpp"
#include "journal/replay.hpp"
#include "selastic/output.hpp"
#include "write_output.hpp"

namespace elastic::tools {
namespace {

using journal::Journal;

// Prints the events of one job, or of all.
class Printer {
  public:
    Printer(JobId job, bool json) : job_(job), json_(json) {}

    JobId job() const { return job_; }
    bool concerns(const journal::Event& event) const {
        return job_ == 0 || journal::job_of(event) == job_;
    }
    // A start names a job that was submitted before.
    void learn(const journal::Event& event) { names_.learn(event); }
    void print(const journal::Event& event) {
        learn(event);
        if (!concerns(event)) return;
        if (json_)
            fmt::print("{}\n", journal::to_json(event).dump());
        else
            fmt::print("{}  {}\n", time_text(event.time), journal::describe(event, names_));
    }

  private:
    JobId job_;  // 0: all
    bool json_;
    journal::JobNames names_;
};

// The number that a job has in this journal, 0 if none is named: only a start says which element of
// an array a job is.
Result<JobId> job_in(const std::string& file, const JobArgument& job) {
    if (job.task == protocol::kNoTask) return job.number;
    journal::Reader reader;
    if (const Result<void> opened = reader.open(file); !opened) return opened.error();
    const std::string name = job.text();
    for (;;) {
        const journal::Reader::Item item = reader.next();
        if (std::holds_alternative<journal::Reader::AtEnd>(item))
            return error("{}: no job {} starts there", file, name);
        const auto* line = std::get_if<journal::Line>(&item);
        const auto* start = line ? std::get_if<journal::Start>(&line->event.what) : nullptr;
        if (start && start->array == name) return start->job;
    }
}

int print_all(const std::string& file, Printer& printer) {
    const Result<Journal> content = journal::read_journal(file);
    if (!content) return fail(content.error());
    for (const journal::Malformed& m : content->malformed)
        note("{}:{}: {}", file, m.number, m.message);
    for (const journal::Line& line : content->lines) printer.learn(line.event);
    for (const journal::Line& line : content->lines) printer.print(line.event);
    return kExitOk;
}

int print_tail(const std::string& file, int tail, Printer& printer) {
    const auto last = journal::tail(file, static_cast<std::size_t>(tail), printer.job());
    if (!last) return fail(last.error());
    for (const journal::Event& event : last->events) printer.learn(event);
    for (const journal::Event& event : last->events) printer.print(event);
    return kExitOk;
}

// What is there already, or the tail of it.
void print_present(int tail, Printer& printer, journal::Reader& reader) {
    std::deque<journal::Event> kept;
    for (;;) {
        journal::Reader::Item item = reader.next();
        if (std::holds_alternative<journal::Reader::AtEnd>(item)) break;
        auto* line = std::get_if<journal::Line>(&item);
        if (!line) continue;
        printer.learn(line->event);
        if (!printer.concerns(line->event)) continue;
        kept.push_back(std::move(line->event));
        if (tail > 0 && std::ssize(kept) > tail) kept.pop_front();
    }
    for (const journal::Event& event : kept) printer.print(event);
}

// Returns with an error only: the user interrupts it.
int follow(const std::string& file, int tail, Printer& printer) {
    using namespace std::chrono_literals;
    journal::Reader reader;
    if (const Result<void> opened = reader.open(file); !opened) return fail(opened.error());
    print_present(tail, printer, reader);
    for (;;) {
        const journal::Reader::Item item = reader.next();
        if (const auto* line = std::get_if<journal::Line>(&item)) {
            printer.print(line->event);
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

Result<std::vector<journal::Line>> read_lines(const std::vector<std::string>& files) {
    std::vector<journal::Line> lines;
    for (const std::string& file : files) {
        Result<Journal> part = journal::read_journal(file);
        if (!part) return part.error();
        std::move(part->lines.begin(), part->lines.end(), std::back_inserter(lines));
    }
    return lines;
}

Result<journal::Timeline> read_timeline(const GanttOptions& options) {
    const auto lines = read_lines(options.files);
    if (!lines) return lines.error();
    journal::Timeline timeline = journal::timeline(*lines);
    if (options.nodes.empty()) return timeline;
    return journal::only_nodes(std::move(timeline), options.nodes);
}

}  // namespace

int show_journal_file(const std::string& file, const JournalFilter& filter) {
    const Result<JobId> job = job_in(file, filter.job);
    if (!job) return fail(job.error());
    Printer printer(*job, filter.json);
    if (filter.follow) return follow(file, filter.tail, printer);
    return filter.tail > 0 ? print_tail(file, filter.tail, printer) : print_all(file, printer);
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

int show_hours(const HoursOptions& options) {
    const auto lines = read_lines(options.files);
    if (!lines) return fail(lines.error());
    std::vector<std::vector<std::string>> rows{
        {"JOB", "USER", "NAME", "HOURS", "PRICED", "COST", "A PRICED HOUR"}};
    Json list = Json::array();
    for (const journal::NodeHours& job : journal::node_hours(*lines)) {
        const auto fixed = [](double value) { return fmt::format("{:.3f}", value); };
        rows.push_back({job.label, job.user, job.name, fixed(job.hours), fixed(job.priced),
                        fixed(job.cost), job.priced > 0 ? fixed(job.cost / job.priced) : ""});
        list.push(Json::object()
                      .set("job", job.label)
                      .set("user", job.user)
                      .set("name", job.name)
                      .set("hours", job.hours)
                      .set("priced", job.priced)
                      .set("cost", job.cost));
    }
    fmt::print("{}", options.json ? Json::object().set("jobs", list).dump() + '\n' : table(rows));
    return kExitOk;
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

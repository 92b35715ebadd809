// SPDX-License-Identifier: MIT
// Reading, checking and drawing journals.
//
// A journal that logrotate has cut is given as several files and treated as one.  Only their first
// events tell which is older, and a pipe cannot be read twice: so all are open at once, and each
// has its first event at hand.
#include "selastic/file_commands.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <memory>
#include <thread>

#include "journal/gantt.hpp"
#include "journal/journal.hpp"
#include "journal/node_hours.hpp"
#include "journal/observed.hpp"
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

Error no_journal(const std::string& file) {
    return error("{}: no line of it is an event: is it a journal (JournalFile in elastic.conf)?",
                 file);
}

int print_all(const std::string& file, Printer& printer) {
    const Result<Journal> content = journal::read_journal(file);
    if (!content) return fail(content.error());
    if (content->lines.empty() && !content->malformed.empty()) return fail(no_journal(file));
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

struct Part {
    std::string file;
    journal::Reader reader;
    journal::Reader::Item next;

    const journal::Event* event() const {
        const auto* line = std::get_if<journal::Line>(&next);
        return line ? &line->event : nullptr;
    }
};
using Parts = std::vector<std::unique_ptr<Part>>;

// Oldest first.
Result<Parts> open_parts(const std::vector<std::string>& files) {
    Parts parts;
    for (const std::string& file : files) {
        auto& part = parts.emplace_back(std::make_unique<Part>());
        part->file = file;
        if (const Result<void> opened = part->reader.open(file); !opened) return opened.error();
        part->next = part->reader.next();
    }
    std::ranges::stable_sort(
        parts, {}, [](const auto& part) { return part->event() ? part->event()->time : -kNever; });
    return parts;
}

// The oldest that has an event, if the journal does not begin with it.
const Part* begins_in_the_middle(const Parts& parts) {
    const auto first = std::ranges::find_if(parts, [](const auto& part) { return part->event(); });
    if (first == parts.end() || journal::is_beginning(*(*first)->event())) return nullptr;
    return first->get();
}

void note_beginning(const Part& part, std::string_view consequence) {
    note("{}: begins in the middle of a journal: {}; name the files before it, too", part.file,
         consequence);
}

template <class Function>
void for_each_item(Part& part, Function&& function) {
    while (!std::holds_alternative<journal::Reader::AtEnd>(part.next)) {
        function(part.next);
        part.next = part.reader.next();
    }
}

void feed(const journal::Reader::Item& item, journal::Replay& replay) {
    if (const auto* line = std::get_if<journal::Line>(&item))
        replay.feed(line->number, line->event);
    else if (const auto* malformed = std::get_if<journal::Malformed>(&item))
        replay.feed(*malformed);
}

bool wants_colour(const std::string& choice) {
    if (choice != "auto") return choice == "always";
    const char* term = std::getenv("TERM");
    return ::isatty(STDOUT_FILENO) && !std::getenv("NO_COLOR") && term &&
           std::string_view(term) != "dumb";
}

// At its beginning a journal that resumes says who runs, not since when.
void note_who_ran(const std::vector<journal::Line>& lines) {
    if (lines.empty() || !journal::is_resume(lines.front().event)) return;
    const auto jobs = std::ranges::count_if(lines, [&](const journal::Line& line) {
        return line.event.time == lines.front().event.time &&
               std::holds_alternative<journal::Start>(line.event.what);
    });
    if (jobs == 0) return;
    note(
        "ran already at the beginning, {}: {} of the jobs; what they held before is in the files "
        "before it",
        time_text(lines.front().event.time), jobs);
}

Result<std::vector<journal::Line>> read_lines(const std::vector<std::string>& files) {
    const auto parts = open_parts(files);
    if (!parts) return parts.error();
    if (const Part* part = begins_in_the_middle(*parts))
        note_beginning(*part, "jobs that started before are missing");
    std::vector<journal::Line> lines;
    bool malformed = false;
    for (const auto& part : *parts)
        for_each_item(*part, [&](journal::Reader::Item& item) {
            if (auto* line = std::get_if<journal::Line>(&item)) lines.push_back(std::move(*line));
            malformed = malformed || std::holds_alternative<journal::Malformed>(item);
        });
    if (lines.empty() && malformed) return no_journal(files.front());
    note_who_ran(lines);
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
    const auto parts = open_parts(options.files);
    if (!parts) return fail(parts.error());
    const Part* middle = begins_in_the_middle(*parts);
    if (middle)
        note_beginning(*middle, "jobs submitted before are not judged until all are said anew");
    journal::Replay replay(
        {.may_still_run = options.may_still_run, .lacks_beginning = middle != nullptr});
    for (const auto& part : *parts) {
        const std::size_t before = replay.violations().size();
        for_each_item(*part, [&](const auto& item) { feed(item, replay); });
        if (part == parts->back()) replay.finish();
        if (!options.json) print_violations(part->file, replay.violations(), before);
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

int show_observed(const HoursOptions& options) {
    const auto lines = read_lines(options.files);
    if (!lines) return fail(lines.error());
    std::vector<std::vector<std::string>> rows{
        {"JOB", "USER", "NAME", "SECONDS EARLIER", "HOURS TAKEN", "HOURS GIVEN"}};
    Json list = Json::array();
    int starts = 0;
    double earlier = 0, taken = 0, given = 0;
    for (const journal::ObservedJob& job : journal::observed(*lines)) {
        const auto fixed = [](double value) { return fmt::format("{:.3f}", value); };
        rows.push_back({job.label, job.user, job.name,
                        job.would_start ? fmt::format("{:.0f}", job.earlier) : "", fixed(job.taken),
                        fixed(job.given)});
        Json entry = Json::object()
                         .set("job", job.label)
                         .set("user", job.user)
                         .set("name", job.name)
                         .set("taken", job.taken)
                         .set("given", job.given);
        if (job.would_start) entry.set("earlier", job.earlier);
        list.push(std::move(entry));
        starts += job.would_start;
        earlier += job.earlier;
        taken += job.taken;
        given += job.given;
    }
    if (options.json) {
        fmt::print("{}\n", Json::object().set("jobs", list).dump());
        return kExitOk;
    }
    fmt::print(
        "{}{} jobs would have started earlier, by {:.0f} s on average; {:.3f} idle node hours "
        "would "
        "have been used, {:.3f} given up\n",
        table(rows), starts, starts ? earlier / starts : 0.0, taken, given);
    return kExitOk;
}

int draw_gantt(const GanttOptions& options) {
    const Result<journal::Timeline> timeline = read_timeline(options);
    if (!timeline) return fail(timeline.error());
    if (options.json) {
        fmt::print("{}\n", journal::to_json(*timeline).dump());
        return kExitOk;
    }
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

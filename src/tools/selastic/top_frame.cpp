// SPDX-License-Identifier: MIT
// What is on the screen, as a function of what is known and what is wanted, so that it can be
// tested without a terminal and printed without one (--once).
//
// Always: each character is printable ASCII, so a text is as wide as it is long, on any terminal
// and whatever a job's owner has called it; and nothing is told by colour alone.
#include "selastic/top_frame.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "common/text.hpp"
#include "selastic/controller_commands.hpp"

namespace elastic::tools {
namespace {

constexpr std::size_t kMaxText = 2000;

std::size_t length(const TopLine& line) {
    std::size_t sum = 0;
    for (const TopSpan& span : line) sum += span.text.size();
    return sum;
}

TopLine cut(TopLine line, int width) {
    auto room = static_cast<std::size_t>(std::max(width, 0));
    for (TopSpan& span : line) {
        span.text.resize(std::min(span.text.size(), room));
        room -= span.text.size();
    }
    return line;
}

// A cell of a table: a text too long ends in ~.
std::string cell(std::string text, int width) {
    text = printable(text, kMaxText);
    const auto most = static_cast<std::size_t>(width);
    if (text.size() > most) text = text.substr(0, most - 1) + '~';
    return fmt::format("{:<{}} ", text, width);
}

std::string right_cell(const std::string& text, int width) {
    return fmt::format("{:>{}} ", printable(text, kMaxText), width);
}

bool is_elastic(const Json& job) {
    return job.get_string("class", "rigid") != "rigid";
}

bool holds_nodes(const Json& job) {
    return job.get_string("state") == "RUNNING";
}

std::string range(const Json& job) {
    if (!job.has("max")) return "";
    return fmt::format("{}-{}", job.get_int("min"), job.get_int("max"));
}

bool matches(const Json& job, const std::string& filter) {
    const std::string wanted = lower_case(filter);
    const auto has = [&](const std::string& text) {
        return lower_case(text).find(wanted) != std::string::npos;
    };
    return has(job_label(job)) || has(job.get_string("user")) || has(job.get_string("name")) ||
           has(job.get_string("class"));
}

std::vector<Json> jobs_of(const Json& answer, const std::string& filter,
                          const std::function<bool(const Json&)>& take) {
    std::vector<Json> jobs;
    const Json all = answer.get("jobs");
    for (std::size_t i = 0; i < all.size(); ++i)
        if (Json job = all.at(i); take(job) && matches(job, filter)) jobs.push_back(std::move(job));
    return jobs;
}

// Largest first where that is what one looks for.
void sort_running(std::vector<Json>& jobs, const TopView& view) {
    const auto by_text = [&](const char* key) {
        std::ranges::stable_sort(jobs, {}, [key](const Json& job) { return job.get_string(key); });
    };
    const auto by_number = [&](const char* key, int sign) {
        std::ranges::stable_sort(
            jobs, {}, [=](const Json& job) { return sign * job.get_number(key, kNever * sign); });
    };
    if (view.sort == "user" || view.sort == "name" || view.sort == "class")
        by_text(view.sort.c_str());
    else if (view.sort == "size")
        by_number("nodes", -1);
    else if (view.sort == "resizes")
        by_number("resizes", -1);
    else if (view.sort == "left")
        by_number("time_left", 1);
    if (view.reverse) std::ranges::reverse(jobs);
}

// In a word or two; "asked" has it in full.
std::string now_text(const Json& job) {
    const Json agreement = job.get("agreement");
    if (agreement.is_object())
        return fmt::format("{}{} {}", agreement.get_string("kind") == "shrink" ? '-' : '+',
                           agreement.get_int("nodes"), agreement.get_string("state"));
    const Json step = job.get("step");
    if (step.is_object() && step.get_bool("waits")) return "waits for nodes";
    if (is_elastic(job) && !job.get_bool("connected")) return "not connected";
    if (job.has("cannot_leave")) return "cannot leave " + job.get_string("cannot_leave");
    return job.get_string("would");
}

// A part of the screen: a heading and rows, of which as many are shown as there is room.
struct Part {
    TopPart name;
    TopLine heading;
    std::vector<TopLine> rows;
    std::string none;  // in place of rows
    std::size_t room = 0;
};

struct Widths {
    int job = 8, user = 8, name = 10, size = 5, range = 9, bar = 20;

    explicit Widths(int width) {
        const int more = std::max(0, width - 80);
        name += std::min(20, more / 4);
        bar += std::min(60, more / 3);
    }
    int shared() const { return job + user + name + size + range + 5; }
};

TopLine heading(std::string text, int width) {
    text.resize(static_cast<std::size_t>(std::max(width, 1)), ' ');
    return {{TopStyle::heading, std::move(text)}};
}

std::string first_cells(const Json& job, const Widths& w) {
    return cell(job_label(job), w.job) + cell(job.get_string("user"), w.user) +
           cell(job.get_string("name"), w.name) +
           right_cell(job.has("nodes") ? std::to_string(job.get_int("nodes")) : "", w.size) +
           right_cell(range(job), w.range);
}

std::string headings(const Widths& w) {
    return cell("JOB", w.job) + cell("USER", w.user) + cell("NAME", w.name) +
           right_cell("NODES", w.size) + right_cell("MIN-MAX", w.range);
}

// All bars of a frame are to one scale, so that they can be compared.
int scale_of(const std::vector<Json>& jobs, std::int64_t nodes) {
    std::int64_t most = 1;
    for (const Json& job : jobs)
        most = std::max({most, job.get_int("nodes"),
                         std::min(job.get_int("max"), std::max<std::int64_t>(nodes, 1))});
    return static_cast<int>(std::min<std::int64_t>(most, 1'000'000));
}

Part running_part(const TopData& data, const TopView& view) {
    const Widths w(view.width);
    auto jobs = jobs_of(data.jobs, view.filter, holds_nodes);
    sort_running(jobs, view);
    const int scale = scale_of(jobs, data.jobs.get_int("nodes"));
    Part part{
        TopPart::running,
        heading(headings(w) + cell(fmt::format("0 .. {} nodes", scale), w.bar) + "NOW", view.width),
        {},
        "no job runs"};
    for (const Json& job : jobs) {
        TopLine row{{is_elastic(job) ? TopStyle::plain : TopStyle::dim, first_cells(job, w)}};
        for (TopSpan& span : top_bar(job, scale, w.bar)) row.push_back(std::move(span));
        row.push_back({TopStyle::plain, ' ' + printable(now_text(job), kMaxText)});
        part.rows.push_back(std::move(row));
    }
    return part;
}

TopLine agreement_line(const Json& job) {
    const Json agreement = job.get("agreement");
    const bool shrinks = agreement.get_string("kind") == "shrink";
    const std::int64_t nodes = agreement.get_int("nodes");
    std::string text =
        fmt::format("job {}: {} {} node{}, {}", job_label(job), shrinks ? "to give up" : "to take",
                    nodes, nodes == 1 ? "" : "s", agreement.get_string("state"));
    if (agreement.has("deadline"))
        text += fmt::format(", {:.0f} s left", agreement.get_number("deadline"));
    if (const std::string why = agreement.get_string("reason"); !why.empty())
        text += fmt::format(" ({})", why);
    return {{shrinks ? TopStyle::leaving : TopStyle::coming, printable(text, kMaxText)}};
}

// What is in flight, then what was, the latest first.
Part asked_part(const TopData& data, const TopView& view) {
    Part part{TopPart::asked,
              heading("ASKED OF JOBS, AND WHY; BELOW, WHAT HAPPENED LAST", view.width),
              {},
              data.no_events.empty() ? "nothing yet" : data.no_events};
    for (const Json& job : jobs_of(data.jobs, view.filter, [](const Json& job) {
             return job.get("agreement").is_object();
         }))
        part.rows.push_back(agreement_line(job));
    for (auto event = data.events.rbegin(); event != data.events.rend(); ++event)
        part.rows.push_back({{TopStyle::dim, printable(*event, kMaxText)}});
    return part;
}

// As the last plan or else a forecast says.
Duration starts_in(const Json& job) {
    return job.get_number("promised", job.get_number("starts_in", kNever));
}

// In the order of expected starts; who has none comes last.
Part queue_part(const TopData& data, const TopView& view) {
    const Widths w(view.width);
    auto jobs = jobs_of(data.jobs, view.filter, [](const Json& job) { return !holds_nodes(job); });
    std::ranges::stable_sort(jobs, {}, starts_in);
    Part part{TopPart::queue,
              heading(headings(w) + cell("STARTS IN", w.bar) + "STATE", view.width),
              {},
              "no job waits"};
    for (const Json& job : jobs) {
        const Duration left = starts_in(job);
        const std::string start = left < kNever ? format_duration(left) : "not known";
        part.rows.push_back({{TopStyle::plain, first_cells(job, w) + cell(start, w.bar) +
                                                   printable(job.get_string("state"))}});
    }
    if (const auto more = data.jobs.get_int("left_out"); more > 0)
        part.rows.push_back(
            {{TopStyle::dim, fmt::format("and {} more jobs, which the answer left out", more)}});
    return part;
}

std::vector<TopLine> head_lines(const TopData& data, const TopView& view) {
    std::int64_t running = 0, waiting = 0, resizes = 0, in_flight = 0;
    const Json jobs = data.jobs.get("jobs");
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        const Json job = jobs.at(i);
        ++(holds_nodes(job) ? running : waiting);
        resizes += job.get_int("resizes");
        in_flight += job.get("agreement").is_object();
    }
    std::vector<TopLine> lines;
    lines.push_back({{TopStyle::strong,
                      fmt::format("selastic top  {}  {} nodes, {} idle, policy {}", data.clock,
                                  data.jobs.get_int("nodes"), data.jobs.get_int("idle"),
                                  printable(data.jobs.get_string("policy")))}});
    std::string counts = fmt::format("jobs: {} running, {} waiting; resizes: {} done, {} in flight",
                                     running, waiting, resizes, in_flight);
    if (!view.filter.empty()) counts += fmt::format("; filter: {}", printable(view.filter));
    lines.push_back({{TopStyle::plain, std::move(counts)}});
    if (data.silent > 0) {
        const std::string why = data.trouble.empty() ? "timeout" : printable(data.trouble, 300);
        lines.push_back(
            {{TopStyle::trouble,
              fmt::format("no answer from the controller for {:.0f} s ({}){}", data.silent, why,
                          data.answered ? "; below is its last" : "")}});
    }
    return lines;
}

// Each part has what it needs, but not more than its share; what others leave is for the one in
// focus first.
void divide(std::array<Part*, 3> parts, std::size_t room, TopPart focus) {
    std::ranges::stable_sort(parts, {}, [&](const Part* part) { return part->name != focus; });
    constexpr std::array<std::size_t, 3> kShares{2, 1, 1};
    const auto wanted = [](const Part& part) { return std::max<std::size_t>(1, part.rows.size()); };
    std::size_t left = room;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        parts[i]->room = std::min(wanted(*parts[i]), room * kShares[i] / 4);
        left -= parts[i]->room;
    }
    for (Part* part : parts) {
        const std::size_t more = std::min(left, wanted(*part) - part->room);
        part->room += more;
        left -= more;
    }
}

void show(const Part& part, std::size_t skip, std::vector<TopLine>& lines) {
    lines.push_back(part.heading);
    if (part.room == 0) return;
    if (part.rows.empty()) return lines.push_back({{TopStyle::dim, part.none}});
    const std::size_t size = part.rows.size();
    skip = std::min(skip, size - std::min(size, part.room));
    const std::size_t end = std::min(size, skip + part.room);
    for (std::size_t i = skip; i < end; ++i) {
        const bool more = i + 1 == end && end < size;
        lines.push_back(more ? TopLine{{TopStyle::dim, fmt::format("... {} more", size - i)}}
                             : part.rows[i]);
    }
}

}  // namespace

const std::vector<std::string>& top_sort_keys() {
    static const std::vector<std::string> keys{"job",  "user",    "name", "class",
                                               "size", "resizes", "left"};
    return keys;
}

TopLine top_bar(const Json& job, int scale, int width) {
    const Json agreement = job.get("agreement");
    const std::int64_t held = job.get_int("nodes");
    const std::int64_t moving = agreement.is_object() ? agreement.get_int("nodes") : 0;
    const bool shrinks = agreement.get_string("kind") == "shrink";
    const std::int64_t least = std::min(job.get_int("min", held), held);
    const std::int64_t stays = shrinks ? std::max<std::int64_t>(0, held - moving) : held;
    const std::int64_t then = shrinks ? held : held + moving;
    TopLine bar;
    int drawn = 0;
    // A job of one node among thousands is still seen.
    const auto draw_to = [&](std::int64_t nodes, char sign, TopStyle style) {
        const double share = static_cast<double>(nodes) / std::max(scale, 1) * width;
        const int end = std::min(width, static_cast<int>(std::ceil(share - 1e-9)));
        if (end <= drawn) return;
        bar.push_back({style, std::string(static_cast<std::size_t>(end - drawn), sign)});
        drawn = end;
    };
    draw_to(std::min(least, stays), '=', TopStyle::kept);
    draw_to(stays, '#', TopStyle::held);
    draw_to(then, shrinks ? '-' : '+', shrinks ? TopStyle::leaving : TopStyle::coming);
    draw_to(std::max(then, job.get_int("max", held)), '.', TopStyle::dim);
    bar.push_back({TopStyle::plain, std::string(static_cast<std::size_t>(width - drawn), ' ')});
    return bar;
}

std::vector<TopLine> top_frame(const TopData& data, const TopView& view) {
    std::vector<TopLine> lines = head_lines(data, view);
    Part running = running_part(data, view);
    Part asked = asked_part(data, view);
    Part queue = queue_part(data, view);
    const std::size_t around = lines.size() + 3 + (view.bottom.empty() ? 0 : 1);
    const std::size_t all = 3 + running.rows.size() + asked.rows.size() + queue.rows.size();
    const auto height = static_cast<std::size_t>(std::max(view.height, 0));
    const std::size_t room = height == 0 ? 4 * all : height - std::min(height, around);
    divide({&running, &asked, &queue}, room, view.focus);
    for (const Part* part : {&running, &asked, &queue})
        show(*part, part->name == view.focus ? static_cast<std::size_t>(view.scroll) : 0, lines);
    if (height > 0) lines.resize(height - (view.bottom.empty() ? 0 : 1));
    if (!view.bottom.empty()) lines.push_back({{TopStyle::strong, view.bottom}});
    for (TopLine& line : lines) line = cut(std::move(line), view.width);
    return lines;
}

std::string plain_text(const std::vector<TopLine>& lines) {
    std::string text;
    for (const TopLine& line : lines) {
        std::string one;
        one.reserve(length(line));
        for (const TopSpan& span : line) one += span.text;
        one.erase(one.find_last_not_of(' ') + 1);
        text += one + '\n';
    }
    return text;
}

}  // namespace elastic::tools

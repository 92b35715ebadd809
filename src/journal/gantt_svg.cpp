// SPDX-License-Identifier: MIT
// The Gantt chart as an image.
//
// Neighbouring nodes that a job got and lost at the same times become one rectangle, so a job looks
// like one block that grows and shrinks, and the file stays small.  Rigid jobs are grey, elastic
// ones coloured; a green left edge marks nodes that joined a running job, a red right edge nodes it
// gave up.  Where a step of an evolution profile begins there is a dashed line, and while it waits
// for nodes its job is hatched.  A black left edge marks nodes that a job initialises for its type.
//
// Always holds: whatever the journal's texts are, the result is well-formed XML without scripts or
// references.
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>

#include "common/text.hpp"
#include "journal/axis.hpp"
#include "journal/gantt.hpp"

namespace elastic::journal {
namespace {

constexpr double kLeft = 90, kChart = 1080, kRight = 30, kTop = 56;
constexpr double kLoad = 56,
                 kLoadGap = 16;  // height of the curve of nodes in use, and space above it
constexpr double kAxis = 44, kLegendRow = 20;
constexpr std::size_t kMaxLegend = 60, kLegendColumns = 3;
constexpr double kCharWidth = 6.6;  // of the text font at 11 px, roughly
constexpr std::array<std::string_view, 12> kElasticColours{
    "#8ecf9d", "#f7b77e", "#8db9e8", "#cfa4dc", "#f2d675", "#7fd0cf",
    "#f2a0a0", "#b7d87c", "#aaa8ec", "#dbb48f", "#9bd3ef", "#ec9cc4"};
constexpr std::array<std::string_view, 3> kRigidColours{"#c4c8cc", "#adb3b8", "#d5d8db"};

std::string escaped(std::string_view text) {
    return escape_xml(printable(text, 200));
}

// Rows [first, last) have this span alike.
struct Block {
    std::size_t first = 0, last = 0;
    Span span;
};

std::vector<Block> blocks_of(const Timeline& timeline) {
    std::vector<Block> done, open;
    for (std::size_t r = 0; r <= timeline.rows.size(); ++r) {
        std::vector<Block> still_open;
        if (r < timeline.rows.size())
            for (const Span& span : timeline.rows[r].spans) {
                const auto same = std::find_if(open.begin(), open.end(), [&](const Block& b) {
                    return b.span == span && b.last == r;
                });
                still_open.push_back({same == open.end() ? r : same->first, r + 1, span});
                if (same != open.end()) open.erase(same);
            }
        done.insert(done.end(), open.begin(), open.end());
        open = std::move(still_open);
    }
    return done;
}

class Drawing {
  public:
    Drawing(const Timeline& timeline, std::string_view title)
        : timeline_(timeline),
          title_(title),
          span_(std::max(timeline.to - timeline.from, 1e-3)),
          row_(std::clamp(
              720.0 / static_cast<double>(std::max<std::size_t>(timeline.rows.size(), 1)), 2.0,
              22.0)),
          chart_(row_ * static_cast<double>(timeline.rows.size())) {}

    std::string draw() {
        begin();
        draw_grid();
        draw_node_labels();
        for (const Block& block : blocks_of(timeline_)) draw_block(block);
        draw_load();
        draw_legend();
        out_ += "</svg>\n";
        return std::move(out_);
    }

  private:
    template <class... Args>
    void put(fmt::format_string<Args...> format, Args&&... args) {
        fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
        out_ += '\n';
    }

    double x(Time t) const { return kLeft + (t - timeline_.from) / span_ * kChart; }
    double y(std::size_t row) const { return kTop + row_ * static_cast<double>(row); }
    double load_top() const { return kTop + chart_ + kLoadGap; }
    double axis() const { return load_top() + kLoad; }

    bool has_initialisations() const {
        return std::ranges::any_of(timeline_.jobs,
                                   [](const JobHistory& job) { return !job.type.empty(); });
    }

    bool has_steps() const {
        return std::ranges::any_of(timeline_.jobs,
                                   [](const JobHistory& job) { return !job.steps.empty(); });
    }

    std::size_t legend_rows() const {
        const std::size_t jobs = std::min(timeline_.jobs.size(), kMaxLegend);
        return (jobs + kLegendColumns - 1) / kLegendColumns + 2;
    }

    std::string_view colour(int job) const {
        const auto index = static_cast<std::size_t>(job);
        return timeline_.jobs[index].job_class == "rigid"
                   ? kRigidColours[index % kRigidColours.size()]
                   : kElasticColours[index % kElasticColours.size()];
    }

    void begin() {
        const double width = kLeft + kChart + kRight;
        const double height = axis() + kAxis + kLegendRow * static_cast<double>(legend_rows());
        put(R"(<?xml version="1.0" encoding="UTF-8"?>)");
        put(R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0:.0f}" height="{1:.0f}" viewBox="0 0 {0:.0f} {1:.0f}" )"
            R"(font-family="system-ui, 'DejaVu Sans', Helvetica, Arial, sans-serif" font-size="11" fill="#24292f">)",
            width, height);
        if (has_steps())
            put(R"(<defs><pattern id="waits" width="6" height="6" patternUnits="userSpaceOnUse">)"
                R"(<path d="M0 6L6 0" stroke="#24292f" stroke-opacity="0.5"/></pattern></defs>)");
        put(R"(<rect width="100%" height="100%" fill="#ffffff"/>)");
        const std::string title = title_.empty() ? "Nodes over time" : escaped(title_);
        put(R"(<text x="{}" y="26" font-size="17" font-weight="600">{}</text>)", kLeft, title);
        const std::string begin = begin_text(timeline_);
        put(R"(<text x="{}" y="44" fill="#57606a">{} nodes, {} jobs, {}{}</text>)", kLeft,
            timeline_.nodes, timeline_.jobs.size(), tick_label(timeline_.to - timeline_.from),
            begin.empty() ? "" : " from " + begin);
    }

    void draw_grid() {
        put(R"(<rect x="{}" y="{}" width="{}" height="{:.1f}" fill="#f6f8fa"/>)", kLeft, kTop,
            kChart, chart_);
        const Duration step = tick_step(span_, 12);
        for (Duration t = 0; t <= span_; t += step) {
            const double at = x(timeline_.from + t);
            put(R"(<path d="M{0:.1f} {1}V{2:.1f}" stroke="#d8dee4" fill="none"/>)", at, kTop,
                axis() + 4);
            put(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>)", at, axis() + 18,
                tick_label(t));
        }
        put(R"(<text x="{}" y="{:.1f}" text-anchor="middle" fill="#57606a">time</text>)",
            kLeft + kChart / 2, axis() + 34);
    }

    void draw_node_labels() {
        // As many as there is room for.
        const auto every = static_cast<std::size_t>(std::max(1.0, std::ceil(12 / row_)));
        for (std::size_t r = 0; r < timeline_.rows.size(); r += every)
            put(R"(<text x="{}" y="{:.1f}" text-anchor="end">{}</text>)", kLeft - 8,
                y(r) + row_ / 2 + 4,
                escaped(std::string_view(timeline_.rows[r].node).substr(0, 12)));
    }

    std::string tooltip(const Block& block) const {
        const JobHistory& job = timeline_.jobs[static_cast<std::size_t>(block.span.job)];
        std::string text = "job " + escaped(job.label);
        if (!job.name.empty()) text += ' ' + escaped(job.name);
        if (!job.user.empty()) text += " of " + escaped(job.user);
        text += fmt::format("\n{}, nodes: {}", escaped(job.job_class), sizes_text(job, "→"));
        const std::string& first = timeline_.rows[block.first].node;
        const std::string& last = timeline_.rows[block.last - 1].node;
        text += fmt::format("\n{}{}: {} to {}", escaped(first),
                            first == last ? "" : " to " + escaped(last),
                            tick_label(block.span.from - timeline_.from),
                            tick_label(block.span.to - timeline_.from));
        for (const StepBegin& step : job.steps)
            if (is_within(step, block.span)) text += step_text(step);
        if (block.span.initialised)
            text += fmt::format("\ninitialised for jobs of type {}", escaped(job.type));
        if (block.span.joined) text += why(job, block.span.from, "joined");
        if (block.span.left) text += why(job, block.span.to, "given up");
        if (!job.state.empty()) text += '\n' + escaped(job.state);
        return text;
    }

    static bool is_within(const StepBegin& step, const Span& span) {
        return step.at < span.to && span.from <= step.had_at;
    }

    std::string step_text(const StepBegin& step) const {
        std::string text = fmt::format("\nstep {} of its profile, {} nodes, at {}", step.number,
                                       step.nodes, tick_label(step.at - timeline_.from));
        if (step.had_at > step.at)
            text += fmt::format(", waits until {}", tick_label(step.had_at - timeline_.from));
        return text;
    }

    static std::string why(const JobHistory& job, Time at, std::string_view what) {
        for (const SizeChange& change : job.changes)
            if (change.at == at)
                return fmt::format("\n{}: {} → {}{}{}", what, change.from, change.to,
                                   change.reason.empty() ? "" : ", ", escaped(change.reason));
        return "";
    }

    void draw_block(const Block& block) {
        const double left = x(block.span.from), width = std::max(x(block.span.to) - left, 0.5);
        const double top = y(block.first),
                     height = row_ * static_cast<double>(block.last - block.first);
        const double inset = row_ >= 6 ? 0.75 : 0;
        put("<g><title>{}</title>", tooltip(block));
        put(R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" rx="{}" fill="{}"/>)",
            left, top + inset, width, height - 2 * inset, inset * 2, colour(block.span.job));
        draw_steps(block.span, top + inset, height - 2 * inset);
        if (block.span.initialised)
            put(R"(<path d="M{0:.1f} {1:.1f}v{2:.1f}" stroke="#24292f" stroke-width="3"/>)",
                left + 1.5, top + inset, height - 2 * inset);
        if (block.span.joined) draw_edge(left, top + inset, height - 2 * inset, "#1a7f37");
        if (block.span.left)
            draw_edge(left + width - 3, top + inset, height - 2 * inset, "#cf222e");
        const std::string label =
            escaped(timeline_.jobs[static_cast<std::size_t>(block.span.job)].label);
        if (height >= 12 && width > kCharWidth * static_cast<double>(label.size()) + 10)
            put(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>)", left + width / 2,
                top + height / 2 + 4, label);
        put("</g>");
    }

    void draw_steps(const Span& span, double top, double height) {
        for (const StepBegin& step : timeline_.jobs[static_cast<std::size_t>(span.job)].steps) {
            if (!is_within(step, span)) continue;
            const double from = x(std::max(step.at, span.from)),
                         to = x(std::min(step.had_at, span.to));
            if (to > from)
                put(R"svg(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" fill="url(#waits)"/>)svg",
                    from, top, to - from, height);
            if (step.at > span.from)
                put(R"(<path d="M{:.1f} {:.1f}v{:.1f}" stroke="#24292f" stroke-dasharray="2 2"/>)",
                    from, top, height);
        }
    }

    void draw_edge(double left, double top, double height, std::string_view fill) {
        put(R"(<rect x="{:.1f}" y="{:.1f}" width="3" height="{:.1f}" fill="{}"/>)", left, top,
            height, fill);
    }

    // Nodes in use over time, as steps.
    void draw_load() {
        std::map<Time, int> changes;
        for (const Row& row : timeline_.rows)
            for (const Span& span : row.spans) {
                ++changes[span.from];
                --changes[span.to];
            }
        const double scale = kLoad / std::max(timeline_.nodes, 1);
        std::string path = fmt::format("M{} {:.1f}", kLeft, axis());
        int in_use = 0;
        for (const auto& [at, change] : changes) {
            in_use += change;
            // Jobs that share a node count it twice.
            const int shown = std::min(in_use, timeline_.nodes);
            path += fmt::format("H{:.1f}V{:.1f}", x(at), axis() - shown * scale);
        }
        path += fmt::format("H{:.1f}V{:.1f}Z", kLeft + kChart, axis());
        put(R"(<rect x="{}" y="{:.1f}" width="{}" height="{}" fill="#f6f8fa"/>)", kLeft, load_top(),
            kChart, kLoad);
        put(R"(<path d="{}" fill="#8c959f" fill-opacity="0.55"><title>nodes in use</title></path>)",
            path);
        put(R"(<text x="{}" y="{:.1f}" text-anchor="end">{}</text>)", kLeft - 8, load_top() + 8,
            timeline_.nodes);
        put(R"(<text x="{}" y="{:.1f}" text-anchor="end">in use</text>)", kLeft - 8,
            load_top() + kLoad / 2 + 4);
        put(R"(<text x="{}" y="{:.1f}" text-anchor="end">0</text>)", kLeft - 8, axis());
    }

    void draw_legend() {
        double top = axis() + kAxis;
        put(R"(<rect x="{}" y="{:.1f}" width="3" height="12" fill="#1a7f37"/>)", kLeft, top);
        put(R"(<text x="{}" y="{:.1f}">joined a running job</text>)", kLeft + 10, top + 10);
        put(R"(<rect x="{}" y="{:.1f}" width="3" height="12" fill="#cf222e"/>)", kLeft + 160, top);
        put(R"(<text x="{}" y="{:.1f}">given up by a running job</text>)", kLeft + 170, top + 10);
        put(R"(<rect x="{}" y="{:.1f}" width="14" height="12" fill="{}"/>)", kLeft + 340, top,
            kRigidColours[0]);
        put(R"(<text x="{}" y="{:.1f}">grey: rigid jobs</text>)", kLeft + 360, top + 10);
        if (has_steps())
            put(R"(<text x="{}" y="{:.1f}">dashed: a step of a profile begins; hatched: it waits for nodes</text>)",
                kLeft + 470, top + 10);
        if (has_initialisations())
            put(R"(<text x="{}" y="{:.1f}">black edge: initialises the node for its type</text>)",
                kLeft + 470, top + (has_steps() ? kLegendRow : 0) + 10);
        top += kLegendRow;
        const std::size_t shown = std::min(timeline_.jobs.size(), kMaxLegend);
        for (std::size_t i = 0; i < shown; ++i) {
            const JobHistory& job = timeline_.jobs[i];
            const std::size_t row = i / kLegendColumns, column = i % kLegendColumns;
            const double at = kLeft + kChart / kLegendColumns * static_cast<double>(column);
            const double line = top + kLegendRow * static_cast<double>(row);
            put(R"(<rect x="{:.1f}" y="{:.1f}" width="14" height="12" fill="{}"/>)", at, line,
                colour(static_cast<int>(i)));
            const bool normal = job.state.empty() || job.state == "COMPLETED";
            put(R"(<text x="{:.1f}" y="{:.1f}">{} {}: {}{}</text>)", at + 20, line + 10,
                escaped(job.label), escaped(std::string_view(job.name).substr(0, 24)),
                sizes_text(job, "→"), normal ? "" : " (" + escaped(job.state) + ")");
        }
        if (shown < timeline_.jobs.size())
            put(R"(<text x="{}" y="{:.1f}" fill="#57606a">and {} more jobs</text>)", kLeft + 860,
                axis() + kAxis + 10, timeline_.jobs.size() - shown);
    }

    const Timeline& timeline_;
    std::string_view title_;
    Duration span_;
    double row_, chart_;  // height of a row and of all of them
    std::string out_;
};

}  // namespace

std::string draw_svg(const Timeline& timeline, std::string_view title) {
    return Drawing(timeline, title).draw();
}

}  // namespace elastic::journal

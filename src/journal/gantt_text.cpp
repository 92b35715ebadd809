// SPDX-License-Identifier: MIT
// The Gantt chart for a terminal.
//
// A cell stands for some neighbouring nodes during a slice of time.  What it shows is a vote by
// node-seconds, so a chart too small for its journal still tells the truth on the whole.
#include <algorithm>
#include <array>
#include <map>

#include "common/hostlist.hpp"
#include "common/text.hpp"
#include "journal/axis.hpp"
#include "journal/gantt.hpp"

namespace elastic::journal {
namespace {

constexpr std::string_view kLetters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
constexpr int kIdle = -1;
constexpr int kMinWidth = 40;
constexpr std::size_t kMaxLabel = 16;
constexpr int kTickColumns = 10;  // least distance of two labels on the axis

// Of the 256 colours: light enough for black letters.
constexpr std::array<int, 12> kElasticColours{114, 215, 111, 176, 221, 80,
                                              210, 150, 147, 180, 116, 203};
constexpr std::array<int, 3> kRigidColours{250, 246, 253};

struct Symbols {
    std::string_view idle, side, corner, floor, tick, arrow;
};
constexpr Symbols kUnicode{"·", "│", "└", "─", "┬", "→"};
constexpr Symbols kAscii{".", "|", "+", "-", "+", "->"};

char letter(int job) {
    return kLetters[static_cast<std::size_t>(job) % kLetters.size()];
}

struct Band {  // a row of the chart
    std::string label;
    std::vector<int> cells;  // index of a job, or kIdle
};

class Chart {
  public:
    Chart(const Timeline& timeline, const TextOptions& options)
        : timeline_(timeline),
          options_(options),
          symbols_(options.unicode ? kUnicode : kAscii),
          span_(std::max(timeline.to - timeline.from, 1e-3)) {
        make_bands();
    }

    std::string draw() {
        for (const Band& band : bands_) draw_band(band);
        draw_axis();
        draw_notes();
        draw_legend();
        return std::move(out_);
    }

  private:
    void make_bands() {
        const std::size_t rows = timeline_.rows.size();
        const auto most = static_cast<std::size_t>(std::max(options_.max_rows, 1));
        const std::size_t fold = std::max<std::size_t>(1, (rows + most - 1) / most);
        std::size_t widest = 0;
        for (std::size_t first = 0; first < rows; first += fold) {
            const std::size_t last = std::min(rows, first + fold);
            std::vector<std::string> names;
            for (std::size_t r = first; r < last; ++r) names.push_back(timeline_.rows[r].node);
            std::string label = compress_hostlist(std::move(names));
            if (label.size() > kMaxLabel) label = label.substr(0, kMaxLabel - 2) + "..";
            widest = std::max(widest, label.size());
            bands_.push_back({std::move(label), {}});
        }
        margin_ = widest + 1;
        const int width = std::max(options_.width, kMinWidth) - static_cast<int>(margin_) - 1;
        columns_ = static_cast<std::size_t>(std::max(width, 10));
        for (std::size_t b = 0; b < bands_.size(); ++b)
            bands_[b].cells = vote(b * fold, std::min(rows, (b + 1) * fold));
    }

    // Who holds most of each column of the rows [first, last).
    std::vector<int> vote(std::size_t first, std::size_t last) const {
        const Duration slice = span_ / static_cast<double>(columns_);
        std::vector<std::map<int, Duration>> held(columns_);
        for (std::size_t r = first; r < last; ++r)
            for (const Span& span : timeline_.rows[r].spans) {
                const double from = (span.from - timeline_.from) / slice;
                const double to = (span.to - timeline_.from) / slice;
                for (auto c = static_cast<std::size_t>(from);
                     c < columns_ && static_cast<double>(c) < to; ++c) {
                    const auto left = static_cast<double>(c);
                    held[c][span.job] += std::min(to, left + 1) - std::max(from, left);
                }
            }
        std::vector<int> winners;
        for (const auto& column : held)
            winners.push_back(winner(column, static_cast<double>(last - first)));
        return winners;
    }

    static int winner(const std::map<int, Duration>& column, double whole) {
        Duration busy = 0, best = 0;
        int job = kIdle;
        for (const auto& [candidate, time] : column) {
            busy += time;
            if (time > best) {
                best = time;
                job = candidate;
            }
        }
        // Rounding must not make a column that is busy to the half idle or not by chance.
        return busy > whole / 2 + 1e-9 ? job : kIdle;
    }

    void draw_band(const Band& band) {
        out_ += fmt::format("{:>{}}", band.label, margin_ - 1);
        out_ += symbols_.side;
        int before = kIdle;
        for (const int job : band.cells) {
            if (job == kIdle) {
                if (before != kIdle) end_colour();
                out_ += symbols_.idle;
            } else {
                if (before != job) begin_colour(job);
                // On a coloured ground the first letter is enough.
                out_ += options_.colour && before == job ? ' ' : letter(job);
            }
            before = job;
        }
        if (before != kIdle) end_colour();
        out_ += '\n';
    }

    void begin_colour(int job) {
        if (!options_.colour) return;
        const auto index = static_cast<std::size_t>(job);
        const bool rigid = timeline_.jobs[index].job_class == "rigid";
        const int colour = rigid ? kRigidColours[index % kRigidColours.size()]
                                 : kElasticColours[index % kElasticColours.size()];
        out_ += fmt::format("\x1b[38;5;16;48;5;{}m", colour);
    }
    void end_colour() {
        if (options_.colour) out_ += "\x1b[0m";
    }

    void draw_axis() {
        const Duration step =
            tick_step(span_, std::max<int>(1, static_cast<int>(columns_) / kTickColumns));
        std::string labels(margin_ + columns_ + 1, ' ');
        out_ += std::string(margin_ - 1, ' ');
        out_ += symbols_.corner;
        std::vector<bool> ticks(columns_);
        for (Duration t = 0; t <= span_; t += step) {
            const auto column = static_cast<std::size_t>(t / span_ * static_cast<double>(columns_));
            if (column >= columns_) break;
            ticks[column] = true;
            const std::string label = tick_label(t);
            if (margin_ + column + label.size() <= labels.size())
                labels.replace(margin_ + column, label.size(), label);
        }
        for (const bool tick : ticks) out_ += tick ? symbols_.tick : symbols_.floor;
        labels.erase(labels.find_last_not_of(' ') + 1);
        out_ += '\n' + labels + '\n';
    }

    void draw_notes() {
        const std::string begin = begin_text(timeline_);
        if (!begin.empty()) out_ += fmt::format("0 is {}\n", begin);
        const int unused = timeline_.nodes - static_cast<int>(timeline_.rows.size());
        if (unused > 0)
            out_ +=
                fmt::format("{} more node{} never used\n", unused, unused == 1 ? " was" : "s were");
    }

    void draw_legend() {
        const std::size_t shown = std::min(timeline_.jobs.size(), options_.max_legend);
        std::size_t id_width = 0, name_width = 0, class_width = 0;
        for (std::size_t i = 0; i < shown; ++i) {
            const JobHistory& job = timeline_.jobs[i];
            id_width = std::max(id_width, job.label.size());
            name_width = std::max(name_width, short_name(job).size());
            class_width = std::max(class_width, printable(job.job_class).size());
        }
        if (shown > 0) out_ += '\n';
        for (std::size_t i = 0; i < shown; ++i) {
            const JobHistory& job = timeline_.jobs[i];
            begin_colour(static_cast<int>(i));
            out_ += letter(static_cast<int>(i));
            end_colour();
            out_ += fmt::format(" {:>{}}  ", job.label, id_width);
            if (name_width > 0) out_ += fmt::format("{:<{}}  ", short_name(job), name_width);
            out_ += fmt::format("{:<{}}  {}", printable(job.job_class), class_width,
                                sizes_text(job, symbols_.arrow));
            if (const Duration waited = job.step_wait(); waited > 0)
                out_ += fmt::format("  steps waited {}", tick_label(waited));
            if (!job.type.empty()) out_ += fmt::format("  initialised for {}", job.type);
            if (!job.state.empty() && job.state != "COMPLETED")
                out_ += fmt::format("  {}", printable(job.state));
            out_ += '\n';
        }
        if (shown < timeline_.jobs.size())
            out_ += fmt::format("and {} more jobs\n", timeline_.jobs.size() - shown);
    }

    static std::string short_name(const JobHistory& job) { return printable(job.name, 20); }

    const Timeline& timeline_;
    const TextOptions& options_;
    const Symbols& symbols_;
    Duration span_;
    std::vector<Band> bands_;
    std::size_t margin_ = 0, columns_ = 0;  // characters left of the chart, and of the chart
    std::string out_;
};

}  // namespace

std::string draw_text(const Timeline& timeline, const TextOptions& options) {
    if (timeline.rows.empty()) return "no job has started\n";
    return Chart(timeline, options).draw();
}

}  // namespace elastic::journal

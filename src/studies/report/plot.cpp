// SPDX-License-Identifier: MIT
// gnuplot draws the figures; here is what it is told.
//
// Always holds: texts of any kind stay texts, for gnuplot and in the image; the same figure gives
// the same bytes.
#include "studies/report/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>

#include "common/text.hpp"
#include "studies/report/gnuplot.hpp"

namespace elastic::studies {
namespace {

constexpr std::size_t kWidth = 410, kHeight = 320, kBelow = 30;  // pixels: of a panel; the legend
constexpr std::size_t kMostColumns = 3;
// Okabe and Ito's palette, which colour-blind readers can tell apart; references are black.
constexpr std::array<std::string_view, 7> kColours{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                   "#e69f00", "#56b4e9", "#7f7f7f"};
constexpr std::string_view kReference = "#24292f";

// Printable text without an end of line, in which gnuplot finds nothing to interpret.
std::string quoted(std::string_view text) {
    std::string out = "'";
    for (const char c : printable(text, 500)) out.append(c == '\'' ? 2 : 1, c);
    return out + "'";
}

class Script {
  public:
    explicit Script(const Figure& figure) : figure_(figure) {
        columns_ = std::clamp<std::size_t>(figure.panels.size(), 1, kMostColumns);
        rows_ = std::max<std::size_t>((figure.panels.size() + columns_ - 1) / columns_, 1);
    }

    std::string text() {
        begin();
        for (std::size_t i = 0; i < figure_.panels.size(); ++i) put_panel(i);
        put("unset multiplot");
        return std::move(out_);
    }

  private:
    bool bars() const { return figure_.kind == Figure::Kind::bars; }

    template <class... Args>
    void put(fmt::format_string<Args...> format, Args&&... args) {
        fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
        out_ += '\n';
    }

    void begin() {
        // Many bars need room.
        const std::size_t width = figure_.panels.size() == 1 ? 2 * kWidth : kWidth;
        put("set terminal svg size {},{} noenhanced background '#ffffff' font 'DejaVu Sans,11'",
            columns_ * width, rows_ * kHeight + kBelow);
        put("set datafile separator tab\nset datafile commentschars ''\nset datafile missing ''");
        put("set border 3\nset tics nomirror\nset grid ytics lc rgb '#d8dee4'\nset key off");
        put("set xlabel {}\nset ylabel {}", quoted(figure_.x_label), quoted(figure_.y_label));
        if (bars())
            put("set style data histograms\nset style histogram clustered gap 1\n"
                "set style fill solid border rgb '#ffffff'\nset xrange [-0.6:{}]",
                static_cast<double>(figure_.categories.size()) - 0.4);
        else
            put("set style data lines{}", figure_.log_x ? "\nset logscale x" : "");
        if (figure_.log_y) put("set logscale y");
        put_y_range();
        put("set multiplot layout {},{} margins char 11, char 3, char 7, char 4 "
            "spacing char 14, char 7 title {}",
            rows_, columns_, quoted(figure_.title));
    }

    // The same for all panels.
    void put_y_range() {
        double low = std::numeric_limits<double>::infinity(), high = -low;
        for (const Panel& panel : figure_.panels)
            for (const Series& series : panel.series)
                for (const double y : series.y)
                    if (std::isfinite(y)) low = std::min(low, y), high = std::max(high, y);
        if (bars() || figure_.from_zero) low = std::min(low, 0.0), high = std::max(high, 0.0);
        if (!(low <= high)) low = high = figure_.log_y ? 1 : 0;
        if (figure_.log_y) return put("set yrange [{}:{}]", low / 1.1, high * 1.1);
        const double margin = low < high ? 0.05 * (high - low) : std::max(1.0, std::abs(high));
        put("set yrange [{}:{}]", low == 0 ? 0 : low - margin, high == 0 ? 1 : high + margin);
    }

    void put_panel(std::size_t index) {
        const Panel& panel = figure_.panels[index];
        put("set title {}", quoted(panel.title));
        if (index + 1 == figure_.panels.size())
            put("set key at screen 0.5, char 1 center bottom horizontal");
        put_data(panel);
        std::string sep = "plot ";
        std::size_t colour = 0;  // references take none, so that a name has one in all figures
        for (std::size_t s = 0; s < panel.series.size(); ++s) {
            const Series& series = panel.series[s];
            fmt::format_to(std::back_inserter(out_), "{}$data using {} {} lc rgb '{}' title {}",
                           std::exchange(sep, ", "), columns(s), series.reference ? "dt 3" : "",
                           series.reference ? kReference : kColours[colour++ % kColours.size()],
                           quoted(series.name));
        }
        out_ += '\n';
    }

    std::string columns(std::size_t series) const {
        return bars() ? fmt::format("{}:xtic(1)", series + 2)
                      : fmt::format("1:{} lw 2", series + 2);
    }

    void put_data(const Panel& panel) {
        put("$data << EOD");
        const std::size_t rows = bars() ? figure_.categories.size() : figure_.x.size();
        for (std::size_t r = 0; r < rows; ++r) {
            out_ += bars() ? printable(figure_.categories[r], 100) : exact(figure_.x[r]);
            for (const Series& series : panel.series) out_ += '\t' + exact(series.y[r]);
            out_ += '\n';
        }
        put("EOD");
    }

    const Figure& figure_;
    std::size_t columns_, rows_;
    std::string out_;
};

std::string column_name(const Figure& figure, const Panel& panel, const Series& series) {
    if (figure.panels.size() == 1 || series.reference) return series.name;
    return panel.title + ": " + series.name;
}

}  // namespace

Result<std::string> draw_svg(const Figure& figure) {
    Result<std::string> svg = run_gnuplot(Script(figure).text());
    if (svg && svg->find("</svg>") == std::string::npos)
        return error("gnuplot: the image is cut off; is the folder for temporary files full?");
    return svg;
}

Result<void> check_can_draw() {
    const Result<std::string> nothing = run_gnuplot("");
    return nothing ? Result<void>() : nothing.error();
}

Table to_table(const Figure& figure) {
    std::vector<std::string> columns{figure.x_label.empty() ? "x" : figure.x_label};
    std::vector<const Series*> drawn;
    for (const Panel& panel : figure.panels)
        for (const Series& series : panel.series) {
            if (series.reference && &panel != &figure.panels.front()) continue;
            columns.push_back(column_name(figure, panel, series));
            drawn.push_back(&series);
        }
    Table table(std::move(columns));
    const bool bars = figure.kind == Figure::Kind::bars;
    const std::size_t rows = bars ? figure.categories.size() : figure.x.size();
    for (std::size_t r = 0; r < rows; ++r) {
        std::vector<std::string> row{bars ? figure.categories[r] : exact(figure.x[r])};
        for (const Series* series : drawn) row.push_back(exact(series->y[r]));
        table.add(std::move(row));
    }
    return table;
}

}  // namespace elastic::studies

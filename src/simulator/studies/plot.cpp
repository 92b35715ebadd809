// SPDX-License-Identifier: MIT
// A small SVG writer for the two kinds of figures that the papers have.  It is our
// own because the plotting libraries of the distribution start another program
// (gnuplot, Python), which a scheduler's tool should not need.
//
// Always holds: whatever the texts are, the result is well-formed XML without
// scripts or references; the same figure gives the same bytes.
#include "simulator/studies/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <string_view>

#include "common/text.hpp"

namespace elastic::studies {
namespace {

constexpr double kWidth = 320, kHeight = 220;  // of a panel's plot
constexpr double kLeft = 64, kRight = 16, kAbove = 28, kBelow = 44;
constexpr double kTitle = 44, kLegend = 30;
constexpr std::size_t kMostColumns = 3;
constexpr int kTicks = 5;
// Okabe and Ito's palette, which colour-blind readers can tell apart.
constexpr std::array<std::string_view, 7> kColours{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                   "#e69f00", "#56b4e9", "#7f7f7f"};

struct Scale {
    double low = 0, high = 1;
    std::vector<double> ticks;
};

Scale scale_of(double low, double high) {
    if (!(low <= high)) low = 0, high = 1;
    if (low == high) high = low == 0 ? 1 : low + std::abs(low) / 10;
    Scale scale;
    scale.ticks = ticks(low, high, kTicks);
    scale.low = scale.ticks.front();
    scale.high = scale.ticks.back();
    return scale;
}

Scale y_scale(const Figure& figure) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const Panel& panel : figure.panels)
        for (const Series& series : panel.series)
            for (const double y : series.y)
                if (std::isfinite(y)) low = std::min(low, y), high = std::max(high, y);
    if (figure.kind == Figure::Kind::bars || figure.from_zero)
        low = std::min(low, 0.0), high = std::max(high, 0.0);
    return scale_of(low, high);
}

class Drawing {
  public:
    explicit Drawing(const Figure& figure) : figure_(figure), y_(y_scale(figure)) {
        if (!figure.x.empty()) x_ = scale_of(figure.x.front(), figure.x.back());
        columns_ = std::clamp<std::size_t>(figure.panels.size(), 1, kMostColumns);
        // Many bars need room.
        if (figure.panels.size() == 1) width_ = 2 * kWidth;
    }

    std::string draw() {
        begin();
        for (std::size_t i = 0; i < figure_.panels.size(); ++i) draw_panel(i);
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

    double cell_width() const { return kLeft + width_ + kRight; }
    static double cell_height() { return kAbove + kHeight + kBelow; }
    std::size_t rows() const { return (figure_.panels.size() + columns_ - 1) / columns_; }
    double legend_top() const { return kTitle + cell_height() * static_cast<double>(rows()); }

    double x(double value) const { return left_ + (value - x_.low) / (x_.high - x_.low) * width_; }
    double y(double value) const {
        return top_ + kHeight - (value - y_.low) / (y_.high - y_.low) * kHeight;
    }

    void begin() {
        const double width = cell_width() * static_cast<double>(columns_);
        put(R"(<?xml version="1.0" encoding="UTF-8"?>)");
        put(R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0:.0f}" height="{1:.0f}" viewBox="0 0 {0:.0f} {1:.0f}" )"
            R"(font-family="system-ui, 'DejaVu Sans', Helvetica, Arial, sans-serif" font-size="11" fill="#24292f">)",
            width, legend_top() + kLegend);
        put(R"(<rect width="100%" height="100%" fill="#ffffff"/>)");
        text(kLeft, 24, "start", figure_.title, R"( font-size="15" font-weight="600")");
    }

    void text(double at_x, double at_y, std::string_view anchor, std::string_view content,
              std::string_view style = "") {
        put(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="{}"{}>{}</text>)", at_x, at_y, anchor,
            style, escape_xml(content));
    }

    void draw_panel(std::size_t index) {
        const Panel& panel = figure_.panels[index];
        left_ = kLeft + cell_width() * static_cast<double>(index % columns_);
        top_ = kTitle + kAbove + cell_height() * static_cast<double>(index / columns_);
        text(left_ + width_ / 2, top_ - 8, "middle", panel.title, R"( font-weight="600")");
        draw_y_axis();
        if (figure_.kind == Figure::Kind::bars) {
            draw_categories();
            draw_bars(panel);
        } else {
            draw_x_axis();
            for (std::size_t s = 0; s < panel.series.size(); ++s) draw_line(panel.series[s], s);
        }
        text(left_ + width_ / 2, top_ + kHeight + 34, "middle", figure_.x_label);
        put(R"(<path d="M{0:.1f} {1:.1f}V{2:.1f}H{3:.1f}" stroke="#57606a" fill="none"/>)", left_,
            top_, top_ + kHeight, left_ + width_);
    }

    void draw_y_axis() {
        for (const double value : y_.ticks) {
            put(R"(<path d="M{:.1f} {:.1f}H{:.1f}" stroke="#d8dee4" fill="none"/>)", left_,
                y(value), left_ + width_);
            text(left_ - 6, y(value) + 4, "end", fmt::format("{:.10g}", value));
        }
        put(R"svg(<text transform="translate({:.1f} {:.1f}) rotate(-90)" text-anchor="middle">{}</text>)svg",
            left_ - 50, top_ + kHeight / 2, escape_xml(figure_.y_label));
    }

    void draw_x_axis() {
        for (const double value : x_.ticks) {
            put(R"(<path d="M{:.1f} {:.1f}v4" stroke="#57606a" fill="none"/>)", x(value),
                top_ + kHeight);
            text(x(value), top_ + kHeight + 16, "middle", fmt::format("{:.10g}", value));
        }
    }

    std::string style(const Series& series, std::size_t index) const {
        if (series.reference) return R"(stroke="#24292f" stroke-dasharray="2 4")";
        return fmt::format(R"(stroke="{}")", kColours[index % kColours.size()]);
    }

    void draw_line(const Series& series, std::size_t index) {
        std::string path;
        bool is_new = true;
        for (std::size_t i = 0; i < figure_.x.size(); ++i) {
            if (!std::isfinite(series.y[i])) {
                is_new = true;
                continue;
            }
            path +=
                fmt::format("{}{:.1f} {:.1f}", is_new ? 'M' : 'L', x(figure_.x[i]), y(series.y[i]));
            is_new = false;
        }
        if (path.empty()) return;
        put(R"(<path d="{}" {} stroke-width="1.8" fill="none"><title>{}</title></path>)", path,
            style(series, index), escape_xml(series.name));
    }

    double slot() const {
        return width_ / static_cast<double>(std::max<std::size_t>(figure_.categories.size(), 1));
    }

    void draw_categories() {
        for (std::size_t c = 0; c < figure_.categories.size(); ++c)
            text(left_ + slot() * (static_cast<double>(c) + 0.5), top_ + kHeight + 16, "middle",
                 figure_.categories[c]);
    }

    void draw_bars(const Panel& panel) {
        const double bar =
            slot() * 0.8 / static_cast<double>(std::max<std::size_t>(panel.series.size(), 1));
        for (std::size_t s = 0; s < panel.series.size(); ++s)
            for (std::size_t c = 0; c < figure_.categories.size(); ++c) {
                const double value = panel.series[s].y[c];
                if (!std::isfinite(value)) continue;
                const double top = y(std::max(value, 0.0)), bottom = y(std::min(value, 0.0));
                put(R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" fill="{}"><title>{}, {}: {:.6g}</title></rect>)",
                    left_ + slot() * (static_cast<double>(c) + 0.1) + bar * static_cast<double>(s),
                    top, bar * 0.92, bottom - top, colour(panel.series[s], s),
                    escape_xml(panel.series[s].name), escape_xml(figure_.categories[c]), value);
            }
    }

    static std::string_view colour(const Series& series, std::size_t index) {
        return series.reference ? "#24292f" : kColours[index % kColours.size()];
    }

    void draw_legend() {
        if (figure_.panels.empty()) return;
        double at = kLeft;
        const double line = legend_top() + kLegend / 2;
        const auto& list = figure_.panels.front().series;
        for (std::size_t s = 0; s < list.size(); ++s) {
            put(R"(<path d="M{:.1f} {:.1f}h22" {} stroke-width="{}" fill="none"/>)", at, line - 4,
                style(list[s], s), figure_.kind == Figure::Kind::bars ? 9 : 2);
            text(at + 28, line, "start", list[s].name);
            at += 28 + 18 + 6.6 * static_cast<double>(list[s].name.size());
        }
    }

    const Figure& figure_;
    Scale x_, y_;
    std::size_t columns_ = 1;
    double width_ = kWidth;
    double left_ = 0, top_ = 0;  // of the panel being drawn
    std::string out_;
};

std::string column_name(const Figure& figure, const Panel& panel, const Series& series) {
    if (figure.panels.size() == 1 || series.reference) return series.name;
    return panel.title + ": " + series.name;
}

}  // namespace

std::string draw_svg(const Figure& figure) {
    return Drawing(figure).draw();
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

std::vector<double> ticks(double low, double high, int most) {
    const double rough = (high - low) / most;
    double step = std::pow(10, std::floor(std::log10(rough)));
    for (const double factor : {1.0, 2.0, 5.0, 10.0, 20.0}) {
        const double candidate = factor * step;
        const double count = std::ceil(high / candidate) - std::floor(low / candidate);
        if (count > most) continue;
        step = candidate;
        break;
    }
    std::vector<double> list;
    const double first = std::floor(low / step), last = std::ceil(high / step);
    for (double i = first; i <= last; ++i) list.push_back(i * step);
    return list;
}

}  // namespace elastic::studies

// SPDX-License-Identifier: MIT
// SVG without a program to draw it, since its colours are the page's.
//
// Always holds: no coordinate is anything but a number, and what is not known is not drawn.
#include "studies/advice/pictures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "common/text.hpp"
#include "simulator/comparison.hpp"
#include "studies/advice/trials.hpp"

namespace elastic::studies {
namespace {

constexpr std::size_t kDrawn = 6;  // presets, with easy and order alone: as many as colours
// Pixels of a narrow phone.
constexpr double kWidth = 340, kLeft = 40, kRight = 6, kTop = 8, kBottom = 34;

std::string exact_percent(double share) {
    return fmt::format("{} %", share);
}

// ---- axes

// A multiple of 1, 2 or 5 times a power of ten, so that a range has four to eight steps.
double step_for(double range) {
    const double rough = range / 5, power = std::pow(10, std::floor(std::log10(rough)));
    const double part = rough / power;
    return power * (part < 1.5 ? 1 : part < 3.5 ? 2 : part < 7.5 ? 5 : 10);
}

// Of values from `low` to `high`, which begin and end with whole steps.
struct Axis {
    double low = 0, high = 1, step = 1;
};

Axis axis_for(const std::vector<double>& values) {
    double low = 0, high = 0;
    for (const double value : values)
        if (std::isfinite(value)) low = std::min(low, value), high = std::max(high, value);
    if (low == high) high = 1;
    const double step = step_for(high - low);
    return {std::floor(low / step) * step, std::ceil(high / step) * step, step};
}

class Plot {
  public:
    Plot(double height, const Axis& axis, std::string_view title) : height_(height), axis_(axis) {
        put("<svg viewBox=\"0 0 {} {}\" role=\"img\" font-size=\"11\" fill=\"currentColor\">"
            "<title>{}</title>\n",
            kWidth, height, escape_xml(title));
        for (double at = axis.low; at <= axis.high + axis.step / 2; at += axis.step) {
            const double value = std::abs(at) < axis.step / 2 ? 0 : at;
            put("<path d=\"M{:.1f} {:.1f}H{:.1f}\" stroke=\"{}\"/>"
                "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{:.6g}</text>\n",
                kLeft, y(value), kWidth - kRight, value == 0 ? "currentColor" : "var(--line)",
                kLeft - 4, y(value) + 4, value);
        }
    }

    double y(double value) const {
        return kTop + (axis_.high - value) / (axis_.high - axis_.low) * (height_ - kTop - kBottom);
    }
    // Of a share of the width.
    static double x(double share) { return kLeft + share * (kWidth - kLeft - kRight); }

    template <class... Args>
    void put(fmt::format_string<Args...> format, Args&&... args) {
        fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    }
    void tick(double at, std::string_view text) {
        put("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", at,
            height_ - kBottom + 14, escape_xml(text));
    }
    void label(std::string_view text) {
        put("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", x(0.5),
            height_ - 4, escape_xml(text));
    }
    std::string svg() && { return std::move(out_) + "</svg>\n"; }

  private:
    double height_;
    Axis axis_;
    std::string out_;
};

// ---- parts of a figure

std::string legend(const std::vector<std::string>& names, const Drawn& drawn) {
    std::string html = "<span class=\"legend\">";
    for (const std::string& name : names)
        html += fmt::format("<span><i style=\"background:{}\"></i>{}</span> ", drawn.colour(name),
                            escape_xml(name));
    return html + "</span>";
}

std::string figure(const std::string& svg, std::string_view caption, const std::string& legend) {
    return fmt::format("<figure>{}<figcaption>{} {}</figcaption></figure>\n", svg,
                       escape_xml(caption), legend);
}

// ---- by share

// What of a standing is drawn: a value, how far its error goes either way, and another value.
struct Point {
    double value = 0, error = 0, worst = 0;
};

struct Line {
    std::string name;
    std::vector<double> x;
    std::vector<Point> points;
};

std::vector<double> shares_of(const Advice& advice) {
    std::vector<double> shares;
    for (const Standing& s : advice.standings)
        if (s.cost_factor == advice.cost_factor && std::ranges::count(shares, s.share) == 0)
            shares.push_back(s.share);
    std::ranges::sort(shares);
    return shares;
}

// Side by side around the place of their share, so that error bars do not hide each other.
std::vector<Line> lines_of(const Advice& advice, const std::vector<std::string>& names,
                           Point (*point)(const Standing&)) {
    const std::vector<double> shares = shares_of(advice);
    const double width = 1 / static_cast<double>(shares.size());
    std::vector<Line> lines;
    for (std::size_t n = 0; n < names.size(); ++n) {
        lines.push_back({names[n], {}, {}});
        const double aside =
            (static_cast<double>(n) + 0.5) / static_cast<double>(names.size()) - 0.5;
        for (const Standing& s : advice.standings) {
            if (s.policy != names[n] || s.cost_factor != advice.cost_factor) continue;
            const auto place =
                static_cast<double>(std::ranges::find(shares, s.share) - shares.begin());
            lines.back().x.push_back((place + 0.5 + 0.6 * aside) * width);
            lines.back().points.push_back(point(s));
        }
    }
    return lines;
}

Axis axis_for(const std::vector<Line>& lines) {
    std::vector<double> values;
    for (const Line& line : lines)
        for (const Point& p : line.points) {
            values.insert(values.end(), {p.value, p.worst});
            if (std::isfinite(p.error))
                values.insert(values.end(), {p.value - p.error, p.value + p.error});
        }
    return axis_for(values);
}

void draw(Plot& plot, const Line& line, const std::string& colour) {
    plot.put("<g style=\"color:{}\" stroke=\"currentColor\">", colour);
    for (std::size_t i = 0; i < line.points.size(); ++i) {
        const Point& p = line.points[i];
        const double x = Plot::x(line.x[i]);
        if (i > 0)
            plot.put("<path d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\" stroke-opacity=\".4\"/>",
                     Plot::x(line.x[i - 1]), plot.y(line.points[i - 1].value), x, plot.y(p.value));
        if (std::isfinite(p.error) && p.error > 0)
            plot.put("<path d=\"M{0:.1f} {1:.1f}V{2:.1f}m-3 0h6M{3:.1f} {1:.1f}h6\"/>", x,
                     plot.y(p.value + p.error), plot.y(p.value - p.error), x - 3);
        plot.put("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"/>", x, plot.y(p.value));
        if (p.worst != p.value)
            plot.put("<path d=\"M{:.1f} {:.1f}l3.5 -5h-7z\" fill=\"none\"/>", x,
                     plot.y(p.worst) - 1);
    }
    plot.put("</g>\n");
}

std::string by_share(const Advice& advice, const Drawn& drawn,
                     const std::vector<std::string>& names, std::string_view caption,
                     Point (*point)(const Standing&)) {
    const std::vector<Line> lines = lines_of(advice, names, point);
    Plot plot(250, axis_for(lines), caption);
    const std::vector<double> shares = shares_of(advice);
    for (std::size_t i = 0; i < shares.size(); ++i)
        plot.tick(Plot::x((static_cast<double>(i) + 0.5) / static_cast<double>(shares.size())),
                  exact_percent(shares[i]));
    plot.label("of the jobs malleable");
    for (const Line& line : lines) draw(plot, line, drawn.colour(line.name));
    return figure(std::move(plot).svg(), caption, legend(names, drawn));
}

// ---- over time

std::string course(const std::vector<double>& easy, const std::vector<double>& then,
                   const OverTime& time, std::string_view caption, const Advice& advice,
                   const Drawn& drawn, double unit) {
    std::vector<double> all(easy);
    all.insert(all.end(), then.begin(), then.end());
    for (double& value : all) value *= unit;
    Plot plot(150, axis_for(all), caption);
    const double days = time.part * static_cast<double>(easy.size()) / 86400, step = step_for(days);
    for (double day = 0; day <= days; day += step)
        plot.tick(Plot::x(day / days), fmt::format("{:.6g}", day));
    plot.label("days");
    for (const auto& [values, name] :
         {std::pair(&easy, std::string(kBaseline)), std::pair(&then, advice.recommended)}) {
        std::string path;
        for (std::size_t i = 0; i < values->size(); ++i)
            path += fmt::format(
                "{}{:.1f} {:.1f}", i == 0 ? "M" : "L",
                Plot::x((static_cast<double>(i) + 0.5) / static_cast<double>(values->size())),
                plot.y(unit * (*values)[i]));
        plot.put("<path style=\"color:{}\" d=\"{}\" stroke=\"currentColor\" fill=\"none\"/>\n",
                 drawn.colour(name), path);
    }
    std::vector<std::string> names{std::string(kBaseline)};
    if (advice.recommended != kBaseline) names.push_back(advice.recommended);
    return figure(std::move(plot).svg(), caption, legend(names, drawn));
}

}  // namespace

Drawn::Drawn(const Advice& advice) {
    names_ = {std::string(kBaseline), std::string(simulator::kOrderAlone)};
    const auto add = [&](const std::string& name) {
        if (names_.size() < kDrawn && std::ranges::count(names_, name) == 0) names_.push_back(name);
    };
    add(advice.recommended);
    double last = 0;  // presets that do the same are drawn once
    for (const Ranking& r : advice.rankings)
        if (r.policy == advice.recommended || std::exchange(last, r.gain) != r.gain) add(r.policy);
}

std::string Drawn::colour(std::string_view policy) const {
    return fmt::format("var(--c{})", std::ranges::find(names_, policy) - names_.begin());
}

std::string draw_gains(const Advice& advice, const Drawn& drawn) {
    return by_share(
        advice, drawn, {drawn.names().begin() + 1, drawn.names().end()},
        fmt::format("Mean turnaround against easy's, per cent: below 0 is better. Bars: twice the "
                    "standard error over {} draws; triangles: the worst draw.",
                    advice.seeds),
        [](const Standing& s) {
            return Point{100 * s.gain.mean, 100 * s.gain.error, 100 * s.worst};
        });
}

std::string draw_longest_waits(const Advice& advice, const Drawn& drawn) {
    return by_share(advice, drawn, drawn.names(), "The longest wait of a job in any draw, hours.",
                    [](const Standing& s) {
                        return Point{s.longest_wait / 3600, 0, s.longest_wait / 3600};
                    });
}

std::string draw_sizes(const Advice& advice, const Drawn& drawn) {
    if (advice.by_size.empty()) return "";
    const std::string caption = "Mean turnaround by size in nodes, hours.";
    std::vector<double> values;
    for (const Group& g : advice.by_size)
        values.insert(values.end(), {g.easy / 3600, g.recommended / 3600});
    Plot plot(200, axis_for(values), caption);
    const double width = 1 / static_cast<double>(advice.by_size.size());
    for (std::size_t i = 0; i < advice.by_size.size(); ++i) {
        const Group& g = advice.by_size[i];
        double left = static_cast<double>(i) * width + 0.15 * width;
        for (const auto& [value, name] :
             {std::pair(g.easy, std::string(kBaseline)), {g.recommended, advice.recommended}}) {
            plot.put(
                "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
                "style=\"fill:{}\"/>",
                Plot::x(left), plot.y(value / 3600), Plot::x(0.33 * width) - Plot::x(0),
                plot.y(0) - plot.y(value / 3600), drawn.colour(name));
            left += 0.35 * width;
        }
        plot.tick(Plot::x((static_cast<double>(i) + 0.5) * width),
                  g.name.substr(0, g.name.find(' ')));
    }
    plot.label("nodes");
    return figure(std::move(plot).svg(), caption,
                  legend({std::string(kBaseline), advice.recommended}, drawn));
}

std::string draw_over_time(const Advice& advice, const Drawn& drawn) {
    const OverTime& time = advice.over_time;
    if (time.easy.used.empty()) return "";
    return course(time.easy.waiting, time.recommended.waiting, time, "Jobs that wait.", advice,
                  drawn, 1) +
           course(time.easy.used, time.recommended.used, time,
                  "Nodes in use, per cent of the machine.", advice, drawn, 100);
}

}  // namespace elastic::studies

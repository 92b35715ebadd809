// SPDX-License-Identifier: MIT
// Drawn by hand, since gnuplot of the oldest system that is supported has no such charts.
#include "studies/report/spider.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "common/text.hpp"

namespace elastic::studies {
namespace {

constexpr double kWidth = 640, kHeight = 420;  // pixels
constexpr double kMiddleX = 230, kMiddleY = 220, kRadius = 150;
constexpr double kLegendX = 450, kLegendY = 90, kLine = 22;
constexpr std::array kColours{"#0969da", "#1a7f37", "#9a6700", "#8250df", "#cf222e"};

struct Point {
    double x = 0, y = 0;
};

// The first axis points up, the others follow clockwise.
Point point(std::size_t axis, std::size_t axes, double value) {
    const double turn =
        2 * std::numbers::pi * static_cast<double>(axis) / static_cast<double>(axes);
    return {kMiddleX + kRadius * value * std::sin(turn),
            kMiddleY - kRadius * value * std::cos(turn)};
}

std::string polygon(const std::vector<double>& values, const char* colour, const char* style) {
    std::string points;
    for (std::size_t axis = 0; axis < values.size(); ++axis) {
        const Point at = point(axis, values.size(), values[axis]);
        points += fmt::format("{:.1f},{:.1f} ", at.x, at.y);
    }
    return fmt::format("<polygon points=\"{}\" fill=\"none\" stroke=\"{}\" {}/>\n", points, colour,
                       style);
}

std::string text(Point at, const char* anchor, const std::string& words) {
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", at.x, at.y,
                       anchor, escape_xml(words));
}

std::string grid(const std::vector<std::string>& axes) {
    std::string svg;
    for (const double value : {0.25, 0.5, 0.75, 1.0})
        svg += polygon(std::vector<double>(axes.size(), value), "#d8dee4", "stroke-width=\"1\"");
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
        Point at = point(axis, axes.size(), 1.08);
        const double side = at.x - kMiddleX;
        const char* anchor = side > 1 ? "start" : side < -1 ? "end" : "middle";
        if (at.y > kMiddleY + 1) at.y += 12;
        svg += text(at, anchor, axes[axis]);
    }
    return svg;
}

}  // namespace

std::string draw_svg(const SpiderChart& chart) {
    std::string svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
        "viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" font-size=\"13\">\n"
        "<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n",
        kWidth, kHeight);
    svg += text({kWidth / 2, 24}, "middle", chart.title) + grid(chart.axes);
    for (std::size_t i = 0; i < chart.shapes.size(); ++i) {
        const char* colour = kColours[i % kColours.size()];
        const double y = kLegendY + kLine * static_cast<double>(i);
        svg += polygon(chart.shapes[i].values, colour, "stroke-width=\"2\"");
        svg += fmt::format(
            "<line x1=\"{0}\" y1=\"{2}\" x2=\"{1}\" y2=\"{2}\" stroke=\"{3}\" "
            "stroke-width=\"2\"/>\n",
            kLegendX, kLegendX + 24, y - 4, colour);
        svg += text({kLegendX + 32, y}, "start", chart.shapes[i].name);
    }
    return svg + "</svg>\n";
}

}  // namespace elastic::studies

// SPDX-License-Identifier: MIT
// Figures: lines or bars in one or several panels, as SVG and as the table of what is drawn.
#pragma once

#include <string>
#include <vector>

#include "common/result.hpp"
#include "studies/report/table.hpp"

namespace elastic::studies {

struct Series {
    std::string name;
    std::vector<double> y;   // one for each of Figure::x; NaN: nothing there
    bool reference = false;  // what the others are compared with: black and dotted
};

// The panels of a figure have the same axes and the same series.
struct Panel {
    std::string title;
    std::vector<Series> series;
};

struct Figure {
    enum class Kind { lines, bars };

    std::string title, x_label, y_label;
    Kind kind = Kind::lines;
    std::vector<double> x;                // lines: ascending
    std::vector<std::string> categories;  // bars, instead of x
    bool log_x = false;                   // lines: the x axis is logarithmic, so x > 0
    bool log_y = false;                   // lines: likewise, y > 0
    bool from_zero = false;               // lines: the y axis includes 0; that of bars always does
    std::vector<Panel> panels;
};

// A self-contained image without scripts.  An error if gnuplot is not installed.
Result<std::string> draw_svg(const Figure&);
// So that it is known before the numbers are there that need hours.
Result<void> check_can_draw();

// A row for each x or category, a column for each series of each panel; series that are references
// stand once.
Table to_table(const Figure&);

}  // namespace elastic::studies

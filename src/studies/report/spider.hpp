// SPDX-License-Identifier: MIT
// A spider chart: a polygon for each of a few things that are compared by several figures.
#pragma once

#include <string>
#include <vector>

namespace elastic::studies {

struct SpiderChart {
    std::string title;
    std::vector<std::string> axes;
    struct Shape {
        std::string name;
        std::vector<double> values;  // one for each axis, 0 to 1, the larger the further out
    };
    std::vector<Shape> shapes;
};

std::string draw_svg(const SpiderChart&);

}  // namespace elastic::studies

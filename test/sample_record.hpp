// SPDX-License-Identifier: MIT
// A record with a field of every format, for the tests of common/record.hpp.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "common/record.hpp"

namespace elastic::testing {

enum class Colour { red, green, blue };
constexpr auto names(Colour) {
    return std::to_array<std::string_view>({"red", "green", "blue"});
}

struct Circle {
    double radius = 0;
};
struct Box {
    int width = 0, height = 0;
};
inline constexpr std::string_view kShapes[] = {"circle", "box"};

struct Part {
    std::uint32_t id = 0;
    std::vector<int> sizes;
};

struct Sample {
    std::int64_t whole = 0;
    std::uint64_t file = 0;
    int from_zero = 0;
    double number = 0;
    std::string text;
    std::string prose;
    bool flag = false;
    Colour colour = Colour::red;
    Part part;
    std::vector<Part> parts;
    double limit = 1e18;
    bool round = false;
    double radius = 0;  // where `round`
    int least = 0, most = 0;
    std::variant<Circle, Box> shape;
};

template <class F>
void fields(F& f, Circle& circle) {
    f.required("radius", circle.radius, Number{0, 10});
}
template <class F>
void fields(F& f, Box& box) {
    f.required("width", box.width, Whole{0});
    f.optional("height", box.height, Whole{0}, 1);
}
template <class F>
void fields(F& f, Part& part) {
    f.required("id", part.id, Whole{1});
    f.optional("sizes", part.sizes, List{Whole{-3, 3}});
}
template <class F>
void fields(F& f, Sample& s) {
    f.required("shape", s.shape, Which{kShapes});
    f.required("whole", s.whole, Whole{});
    f.required("file", s.file, Whole{});
    f.required("from_zero", s.from_zero, Whole{0});
    f.required("number", s.number, Number{-1, 1});
    f.required("text", s.text, Text{5});
    f.required("prose", s.prose, Prose{8});
    f.required("flag", s.flag);
    f.required("colour", s.colour);
    f.required("part", s.part);
    f.required("parts", s.parts, List{});
    f.optional("limit", s.limit, Number{0, 1e18}, 1e18);
    f.when(s.round, "round_radius", s.radius, Number{0, 10});
    f.optional("least", s.least, Whole{});
    f.optional("most", s.most, Whole{});
    f.holds(s.least <= s.most, "least={} is more than most={}", s.least, s.most);
    f.alternative(s.shape, Which{kShapes});
}

}  // namespace elastic::testing

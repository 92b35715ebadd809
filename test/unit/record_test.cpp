// SPDX-License-Identifier: MIT
// Records: both directions come from one list of fields, and what is wrong is named.
#include "common/record.hpp"

#include "sample_record.hpp"
#include "testing.hpp"

using namespace elastic;
using namespace elastic::testing;

namespace {

constexpr const char* kWhole =
    R"({"shape":"box","whole":-7,"file":7,"from_zero":3,"number":0.5,"text":"abc","prose":"abc",)"
    R"("flag":true,"colour":"blue","part":{"id":1},"parts":[{"id":2,"sizes":[1,-2]},{"id":3}],)"
    R"("limit":4,"round_radius":2.5,"least":1,"most":2,"width":8,"height":9})";

Sample sample() {
    Sample s;
    s.shape = Box{8, 9};
    s.whole = -7;
    s.file = 7;
    s.from_zero = 3;
    s.number = 0.5;
    s.text = s.prose = "abc";
    s.flag = true;
    s.colour = Colour::blue;
    s.part.id = 1;
    s.parts = {{2, {1, -2}}, {3, {}}};
    s.limit = 4;
    s.round = true;
    s.radius = 2.5;
    s.least = 1;
    s.most = 2;
    return s;
}

// What comes of it when `key` has another value, or none.
Result<void> with(const char* key, const char* value, Sample&& read = {}) {
    Json json = *Json::parse(kWhole);
    if (value) return read_record(json.set(key, *Json::parse(value)), read);
    Json rest = Json::object();
    for (const std::string& other : json.keys())
        if (other != key) rest.set(other, json.get(other));
    return read_record(rest, read);
}

}  // namespace

TEST(a_record_is_written_in_the_order_of_its_fields) {
    check_eq(write_record(sample()).dump(), kWhole);
}

TEST(a_record_comes_back_as_it_went) {
    Sample read;
    check_ok(read_record(*Json::parse(kWhole), read));
    read.round = true;  // no field of its own
    check_eq(write_record(read).dump(), kWhole);
}

TEST(what_has_its_standard_value_is_left_out_and_comes_back) {
    Sample lean = sample();
    lean.limit = 1e18;
    lean.least = 0;
    lean.round = false;
    lean.shape = Box{8, 1};
    const Json json = write_record(lean);
    for (const char* key : {"limit", "least", "round_radius", "height"}) check_that(!json.has(key));
    Sample read = sample();  // whatever was there before
    check_ok(read_record(json, read));
    check_eq(read.limit, 1e18);
    check_eq(read.least, 0);
    check_eq(std::get<Box>(read.shape).height, 1);
}

TEST(an_error_says_where_it_is_what_the_limit_is_and_what_was_found) {
    struct Case {
        const char *key, *value, *message;
    };
    const Case cases[] = {
        {"whole", nullptr, "whole is missing"},
        {"whole", "1.5",
         "whole must be an integer from -9223372036854775808 to 9223372036854775807, not 1.5"},
        {"file", "-1", "file must be an integer from 0 to 9223372036854775807, not -1"},
        {"from_zero", "-1", "from_zero must be an integer from 0 to 2147483647, not -1"},
        {"from_zero", "2147483648",
         "from_zero must be an integer from 0 to 2147483647, not 2147483648"},
        {"number", "1.25", "number must be a number from -1 to 1, not 1.25"},
        {"number", "null", "number must be a number from -1 to 1, not null"},
        {"number", "true", "number must be a number from -1 to 1, not true"},
        {"text", "7", "text must be a string, not 7"},
        {"text", R"("abcdef")", "text has 6 bytes, at most 5 are allowed"},
        {"prose", R"("abcdefghi")", "prose has 9 bytes, at most 8 are allowed"},
        {"flag", "1", "flag must be true or false, not 1"},
        {"colour", R"("gr\u001b")", R"(colour must be one of red, green, blue, not "gr\u001b")"},
        {"colour", "1", "colour must be one of red, green, blue, not 1"},
        {"part", "[]", "part: must be an object, not an array"},
        {"part", "{}", "part: id is missing"},
        {"part", R"({"id":0})", "part: id must be an integer from 1 to 4294967295, not 0"},
        {"parts", "{}", "parts must be an array, not an object"},
        {"parts", "[{\"id\":1},7]", "parts[1]: must be an object, not 7"},
        {"parts", R"([{"id":1},{"id":1,"sizes":[0,4]}])",
         "parts[1]: sizes[1] must be an integer from -3 to 3, not 4"},
        {"limit", "-1", "limit must be a number from 0 to 1e+18, not -1"},
        {"round_radius", "11", "round_radius must be a number from 0 to 10, not 11"},
        {"least", "3", "least=3 is more than most=2"},
        {"shape", R"("cone")", R"(shape must be one of circle, box, not "cone")"},
        {"shape", R"("circle")", "circle: radius is missing"},
        {"width", "-1", "box: width must be an integer from 0 to 2147483647, not -1"},
    };
    for (const Case& c : cases) check_error(with(c.key, c.value), c.message);
    Sample read;
    check_error(read_record(*Json::parse("[]"), read), "must be an object, not an array");
}

TEST(the_first_error_is_the_one_that_is_told) {
    Sample read;
    check_error(read_record(*Json::parse(R"({"shape":"box","whole":"x","number":7})"), read),
                "whole must be an integer from -9223372036854775808 to 9223372036854775807, "
                "not \"x\"");
}

TEST(unknown_keys_of_a_record_are_passed_over) {
    check_ok(with("later", "{\"a\":[1]}"));
}

TEST(prose_is_cut_between_characters_so_that_it_can_be_read) {
    Sample s = sample();
    for (const char* prose : {"1234567\xc3\xbc", "123456789", "\xff\xff\xff\xff", "1234567\xff"}) {
        s.prose = prose;
        Sample read;
        check_ok(read_record(write_record(s), read));
        check_that(read.prose.size() <= 8);
    }
    s.prose = "\xc3\xbc\xc3\xbc";
    check_eq(write_record(s).get_string("prose"), s.prose);
}

TEST(names_and_enumerations) {
    check_eq(to_string(Colour::green), "green");
    check_eq(*index_of(names(Colour{}), "blue"), 2u);
    check_that(!index_of(names(Colour{}), "blu"));
}

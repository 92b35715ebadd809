// SPDX-License-Identifier: MIT
// JSON values: the texts that they are written as, what is parsed, and lookups that fall back.
#include "common/json.hpp"

#include <cmath>
#include <string>

#include "testing.hpp"

using elastic::Json;

namespace {

Json parsed(std::string_view text) {
    auto result = Json::parse(text);
    check_ok(result);
    return *result;
}

std::string text_of(const Json& value) {
    return std::string(value.text().value());
}

void check_refused(std::string_view text) {
    auto result = Json::parse(text);
    ck_assert_msg(!result, "%s was accepted", std::string(text).c_str());
    check_that(result.error().message.starts_with("JSON: "));
}

}  // namespace

TEST(json_dumps_one_line_in_order_of_setting) {
    Json value = Json::object();
    value.set("z", 1).set("a", "x/y").set("list", Json::array().push(true).push(Json()).push(2.5));
    check_eq(value.dump(), R"({"z":1,"a":"x/y","list":[true,null,2.5]})");
}

TEST(json_numbers_read_back_as_written) {
    for (double number : {0.0, 3.0, -1.0, 0.1, 1e18, 1.0 / 3, 5e-324, 1.7976931348623157e308}) {
        check_eq(parsed(Json::object().set("x", number).dump()).get_number("x"), number);
    }
    check_eq(Json(3.0).dump(), "3");
    check_eq(Json(std::size_t{7}).dump(), "7");
    check_eq(Json(NAN).dump(), "null");
    check_eq(Json(INFINITY).dump(), "null");
    check_eq(Json(-0.0).dump(), "0");
}

TEST(json_parses_exactly_one_value) {
    check_eq(parsed(" {\"a\" : [1, 2]} \n").get("a").at(1).integer().value(), 2);
    check_eq(parsed("12").integer().value(), 12);
    check_eq(parsed("null").dump(), "null");
    for (const char* text :
         {"", " ", "{", "[1,]", "{} x", "1 2", "nul", "NaN", "[Infinity]", "-Infinity", "1e999",
          "99999999999999999999", "-99999999999999999999", "\"\xff\"", "// c\n1"}) {
        check_refused(text);
    }
    check_refused(std::string_view("{}\0{}", 5));
    check_refused(std::string_view("\0", 1));
}

TEST(json_is_strict_beside_what_is_not_ascii) {
    check_eq(text_of(parsed("[\"\xc3\xa4\"]").at(0)), "\xc3\xa4");
    check_eq(parsed("{\"\xc3\xa4\":1,\"\xc3\xb6\":2}").get_int("\xc3\xa4"), 1);
    for (const char* text :
         {"['\xc3\xa4']", "[\"\xc3\xa4\",]", "[\"\xc3\xa4\"] x", "\xc3\xa4", "[\"\\\xc3\xa4\"]",
          "[\"\xc3\"]", "{\"\xc3\":1}", "[NaN,\"\xc3\xa4\"]"}) {
        check_refused(text);
    }
}

TEST(json_depth_is_bounded) {
    check_ok(Json::parse(std::string(31, '[') + std::string(31, ']')));
    check_refused(std::string(33, '[') + std::string(33, ']'));
    check_refused(std::string(1'000'000, '['));
}

TEST(json_strings_are_made_utf8) {
    check_eq(text_of(Json("a\xff\xc3z")), "a\xef\xbf\xbd\xef\xbf\xbdz");
    check_eq(text_of(Json("\xc3\xa4\xf0\x9f\x98\x80")), "\xc3\xa4\xf0\x9f\x98\x80");
    check_eq(text_of(Json("\xed\xa0\x80")), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    std::string with_nul("a\0b", 3);
    check_eq(text_of(parsed(Json(with_nul).dump())), with_nul);
}

TEST(json_lenient_lookups_fall_back) {
    Json value = parsed(R"({"i":3,"d":1.5,"s":"x","b":true,"n":null})");
    check_eq(value.get_int("i"), 3);
    check_eq(value.get_int("d", -1), -1);
    check_eq(value.get_int("absent", 9), 9);
    check_eq(value.get_number("i"), 3.0);
    check_eq(value.get_string("i", "no"), "no");
    check_that(value.get_bool("b"));
    check_that(value.has("n"));
    check_that(!value.has("absent"));
    check_eq(Json().get_int("x", 4), 4);
    check_that(!Json(1).at(0).integer());
}

TEST(json_shares_its_value) {
    Json first = Json::object();
    Json second = first;
    second.set("a", 1);
    check_eq(first.get_int("a"), 1);
    second = Json();
    check_eq(first.get_int("a"), 1);
}

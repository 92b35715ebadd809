// SPDX-License-Identifier: MIT
// Texts: made printable, cut, split, and read as numbers.
#include "common/text.hpp"

#include "testing.hpp"

using namespace elastic;

TEST(text_printable_hides_everything_odd) {
    check_eq(printable("plain text"), "plain text");
    check_eq(printable("\x1b[31m\n\xc3\xa4"), "\\x1b[31m\\x0a\\xc3\\xa4");
    check_eq(printable("abcdef", 3), "abc...");
    check_eq(printable("abc", 3), "abc");
}

TEST(text_is_cut_between_characters) {
    check_eq(to_utf8("a\xc3\xa4\xff"), "a\xc3\xa4\xef\xbf\xbd");
    check_eq(to_utf8("a\xc3\xa4", 2), "a");
    check_eq(to_utf8("a\xff", 3), "a");
    check_eq(to_utf8("abc", 3), "abc");
    check_eq(to_utf8("abc", 0), "");
    check_that(is_ascii("abc\x7f") && !is_ascii("\x80"));
}

TEST(text_splits_and_trims) {
    check_eq(split("", ','), (std::vector<std::string_view>{""}));
    check_eq(split(",a,,b", ','), (std::vector<std::string_view>{"", "a", "", "b"}));
    check_eq(trim(" \t a b\r"), "a b");
    check_eq(trim(" \t"), "");
    check_that(equal_ignoring_case("ResizeGap", "resizegap"));
    check_that(!equal_ignoring_case("a", "ab"));
}

TEST(text_numbers_are_whole_texts) {
    check_eq(*parse_integer("-12"), -12);
    for (const char* text : {"", "+1", " 1", "1 ", "1.0", "0x1", "9223372036854775808"}) {
        ck_assert_msg(!parse_integer(text), "'%s' was accepted", text);
    }
    check_eq(*parse_number("1e-3"), 0.001);
    check_eq(*parse_bytes("1.5G"), 1.5e9);
    check_eq(*parse_bytes("7"), 7.0);
    for (const char* text : {"", "G", "-1", "-0", "1k", "1GB", "nan", "inf"})
        ck_assert_msg(!parse_bytes(text), "'%s' was accepted", text);
    for (const char* text : {"", "nan", "inf", "-inf", "1e999", "1,5", "1x"}) {
        ck_assert_msg(!parse_number(text), "'%s' was accepted", text);
    }
}

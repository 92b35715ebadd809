// SPDX-License-Identifier: MIT
// Times in seconds and in Slurm's notation.
#include "common/time.hpp"

#include <cmath>

#include "testing.hpp"

using elastic::format_duration;
using elastic::parse_duration;

TEST(time_reads_seconds_and_slurm_times) {
    check_eq(*parse_duration("0"), 0.0);
    check_eq(*parse_duration("90"), 90.0);
    check_eq(*parse_duration("0.25"), 0.25);
    check_eq(*parse_duration("01:30"), 90.0);
    check_eq(*parse_duration("90:00"), 5400.0);
    check_eq(*parse_duration("2:03:04"), 7384.0);
    check_eq(*parse_duration("100:00:00"), 360000.0);
    check_eq(*parse_duration("1-0"), 86400.0);
    check_eq(*parse_duration("1-02:03"), 93780.0);
    check_eq(*parse_duration("1-02:03:04"), 93784.0);
    check_eq(*parse_duration("365-0"), 31536000.0);
}

TEST(time_refuses_what_is_no_time) {
    for (const char* text : {"",     "-1",   "+1",     "1e3",   ".5",        "5.",      "1.2.3",
                             ":",    "1:",   ":1",     "1:60",  "1:60:00",   "1:2:3:4", "1-",
                             "-",    "1-24", "1-0:60", "1--1",  "1-2-3",     " 1",      "1 ",
                             "1:-1", "inf",  "nan",    "1:0.5", "UNLIMITED", "\xff"}) {
        ck_assert_msg(!parse_duration(text), "'%s' was accepted", text);
    }
    check_error(parse_duration("366-0"), "'366-0' is more than a year");
    check_error(parse_duration("1\n"),
                "'1\\x0a' is no time; write seconds, MM:SS, HH:MM:SS or D-HH[:MM[:SS]]");
}

TEST(time_is_shown_in_slurms_notation) {
    check_eq(format_duration(0), "00:00:00");
    check_eq(format_duration(59.6), "00:01:00");
    check_eq(format_duration(93784), "1-02:03:04");
    check_eq(format_duration(-5), "-00:00:05");
    check_eq(format_duration(-0.1), "00:00:00");
    check_eq(format_duration(elastic::kNever), "never");
    check_eq(format_duration(NAN), "never");
}

// SPDX-License-Identifier: MIT
// Log lines: which reach the sink, and that a kind is not repeated within a minute.
#include "common/log.hpp"

#include "log_memory.hpp"
#include "testing.hpp"

using namespace elastic;
using elastic::testing::LogMemory;
using namespace std::chrono_literals;

namespace {

const auto start = QuietLog::Clock::now();

}  // namespace

TEST(log_lines_reach_the_sink_with_their_level) {
    LogMemory log;
    log_info("job {}", 7);
    log_error("{} of {}", 1, 2);
    check_eq(log.lines.size(), 2u);
    check_that(log.levels[0] == LogLevel::info && log.levels[1] == LogLevel::error);
    check_eq(log.lines[0], "job 7");
    check_eq(log.lines[1], "1 of 2");
}

TEST(log_makes_no_debug_line_that_the_sink_does_not_want) {
    LogMemory log;
    log_debug("{}", 1);
    check_that(log.lines.empty());
    log.debug = true;
    log_debug("{}", 2);
    check_eq(log.lines.size(), 1u);
    check_that(log.levels[0] == LogLevel::debug);
}

TEST(log_needs_no_sink) {
    log_info("nobody reads {}", "this");
    check_that(!log_sink());
}

TEST(quiet_log_says_each_kind_once_a_minute_and_counts_the_rest) {
    LogMemory log;
    QuietLog quiet;
    quiet.say("a", "first", start);
    quiet.say("b", "other", start);
    quiet.say("a", "second", start + 1s);
    quiet.say("a", "third", start + 59s);
    check_eq(log.lines.size(), 2u);
    quiet.say("a", "fourth", start + 60s);
    quiet.say("a", "fifth", start + 61s);
    quiet.say("a", "sixth", start + 120s);
    check_eq(log.lines.size(), 4u);
    check_eq(log.lines[2], "fourth (2 more like it in between)");
    check_eq(log.lines[3], "sixth (1 more like it in between)");
}

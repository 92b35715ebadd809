// SPDX-License-Identifier: MIT
// What the log says of tries that fail again and again.
#include "controller/outage.hpp"

#include "log_memory.hpp"
#include "testing.hpp"

using namespace elastic;
using elastic::controller::Outage;
using elastic::testing::LogMemory;

TEST(an_outage_is_said_when_it_begins_and_when_it_ends) {
    LogMemory log;
    Outage outage("nothing is kept", "all is kept again");
    outage.report({});
    check_that(log.take().empty());
    outage.report(error("disk full"));
    outage.report(error("disk broken"));
    check_eq(log.lines, std::vector<std::string>{"disk full; nothing is kept"});
    check_that(log.levels[0] == LogLevel::error);
    (void)log.take();
    outage.report({});
    outage.report({});
    check_eq(log.take(), std::vector<std::string>{"all is kept again"});
    outage.report(error("disk full"));
    check_eq(log.take().size(), 1u);
}

// SPDX-License-Identifier: MIT
// Which jobs of a log are of one type.
#include "simulator/logs/job_type.hpp"

#include "simulator/logs/reader.hpp"
#include "testing.hpp"

using namespace elastic;
using namespace elastic::simulator;

namespace {

constexpr const char* kSwf =
    "1 0 -1 100 4 -1 -1 4 -1 -1 1 7 70 700 1 2 -1 -1\n"
    "2 0 -1 100 4 -1 -1 4 -1 -1 1 7 70 701 1 2 -1 -1\n"
    "3 0 -1 100 4 -1 -1 4 -1 -1 1 8 70 700 1 2 -1 -1\n"
    "4 0 -1 100 4 -1 -1 4 -1 -1 1 7 70 700 1 2 -1 -1\n"
    "5 0 -1 100 4 -1 -1 4 -1 -1 1 7 70 -1 1 2 -1 -1\n";

constexpr const char* kSacct =
    "JobIDRaw|User|JobName|Partition|NNodes|Submit|ElapsedRaw\n"
    "1|ann|a b|x|4|0|100\n"
    "2|ann|a|b, x|4|0|100\n"
    "3|bob|a|x|4|0|100\n"
    "4|ann|a b|x|4|0|100\n"
    "5||a|x|4|0|100\n";

std::vector<int> types_of(const char* text, const TypeRule& rule) {
    const Result<Log> log = parse_log(text, "log", false, rule);
    check_that(static_cast<bool>(log));
    std::vector<int> types;
    for (const LogJob& job : log->jobs) types.push_back(job.type);
    return types;
}

constexpr TypeField kUser = TypeField::user, kExecutable = TypeField::executable;

}  // namespace

TEST(type_rules_are_read_as_they_are_written) {
    const auto rule = parse_type_rule("user, executable");
    check_that(rule && *rule == (TypeRule{kUser, kExecutable}));
    check_eq(to_string(*rule), std::string("user,executable"));
    check_eq(parse_type_rule("user,program").error().message,
             std::string("'program' is none of user, group, executable, queue, partition"));
    check_eq(parse_type_rule("user,user").error().message, std::string("user stands twice"));
    check_that(!parse_type_rule(""));
}

TEST(types_of_swf_are_its_numbers) {
    check_that(types_of(kSwf, {}) == std::vector<int>(5, -1));
    check_that(types_of(kSwf, {kUser, kExecutable}) == (std::vector<int>{0, 1, 2, 0, -1}));
    check_that(types_of(kSwf, {kUser}) == (std::vector<int>{0, 0, 1, 0, 0}));
    check_that(types_of(kSwf, {TypeField::partition}) == std::vector<int>(5, 0));
    const auto log = parse_log(kSwf, "log", false, {kUser, kExecutable});
    check_that(log->types == (std::vector<std::string>{"7, 700", "7, 701", "8, 700"}));
}

TEST(types_of_sacct_are_its_columns) {
    check_that(types_of(kSacct, {kUser, kExecutable}) == (std::vector<int>{0, 1, 2, 0, -1}));
    check_that(types_of(kSacct, {TypeField::partition}) == (std::vector<int>{0, 1, 0, 0, 0}));
}

TEST(a_column_that_a_type_needs_must_be_there) {
    check_eq(
        parse_log(kSacct, "log", true, {TypeField::queue}).error().message,
        std::string("log:1: no column QOS among those the first line names, which the job type "
                    "queue needs; add it to --format of sacct"));
}

// Fields that only look alike when they stand one behind the other.
TEST(types_do_not_run_into_each_other) {
    TypeBook book({kUser, kExecutable});
    std::array<std::optional<std::string_view>, kTypeFields> one, other;
    one[0] = "a", one[2] = "b, c";
    other[0] = "a, b", other[2] = "c";
    check_that(book.type_of(one) != book.type_of(other));
    check_eq(book.type_of(one), 0);
}

// SPDX-License-Identifier: MIT
// Check, made comfortable for C++.  A test program is one or more files of
//
//     TEST(name_of_what_holds) { check_eq(sum(1, 2), 3); }
//
// and links libtesting.la, whose main() runs all of them, each in a process of its own; CK_FORK=no
// runs them in one, for a debugger.
#pragma once

#include <check.h>
// Check's old name for ck_abort_msg, and a member of std::ios.
#undef fail
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <string>
#include <type_traits>

#include "common/result.hpp"

namespace elastic::testing {

struct Registration {
    explicit Registration(const TTest* test);
};

// The seed of a random test: ELASTIC_TEST_SEED, else `standard`.  Printed, so that a failure can be
// had again.
std::uint64_t seed(std::uint64_t standard = 1);

template <class T>
std::string show(const T& value) {
    if constexpr (fmt::is_formattable<T>::value) {
        return fmt::format("{}", value);
    } else if constexpr (std::is_enum_v<T>) {
        return fmt::format("{}", static_cast<std::underlying_type_t<T>>(value));
    } else {
        return "(a value)";
    }
}

}  // namespace elastic::testing

#define TEST(name)                                                           \
    static void name##_body();                                               \
    START_TEST(name) {                                                       \
        name##_body();                                                       \
    }                                                                        \
    END_TEST                                                                 \
    static const ::elastic::testing::Registration name##_registration(name); \
    static void name##_body()

#define check_that(condition) ck_assert_msg(condition, "%s does not hold", #condition)

// Copies both, because `*f()` may refer into a temporary.
#define check_eq(actual, expected)                                       \
    do {                                                                 \
        auto actual_ = (actual);                                         \
        auto expected_ = (expected);                                     \
        ck_assert_msg(actual_ == expected_, "%s is %s, not %s", #actual, \
                      ::elastic::testing::show(actual_).c_str(),         \
                      ::elastic::testing::show(expected_).c_str());      \
    } while (0)

#define check_near(actual, expected, tolerance) ck_assert_double_eq_tol(actual, expected, tolerance)

// Of a Result: it has a value.
#define check_ok(result)                                                    \
    do {                                                                    \
        auto result_ = (result);                                            \
        ck_assert_msg(static_cast<bool>(result_), "%s failed: %s", #result, \
                      result_ ? "" : result_.error().message.c_str());      \
    } while (0)

// Of a Result: it is the error with exactly this message.
#define check_error(result, text)                                \
    do {                                                         \
        auto result_ = (result);                                 \
        ck_assert_msg(!result_, "%s succeeded", #result);        \
        ck_assert_str_eq(result_.error().message.c_str(), text); \
    } while (0)

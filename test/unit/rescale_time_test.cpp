// SPDX-License-Identifier: MIT
// What a job's resizes are expected to cost after some that were measured.
#include "controller/rescale_time.hpp"

#include "testing.hpp"

using namespace elastic;
using namespace elastic::controller;

TEST(before_a_measurement_what_is_declared_counts) {
    const core::ResizeCost declared{.alpha = 1, .b = 2, .sync = 3};
    const RescaleTime time;
    check_that(time.expected(declared) == declared);
    check_eq(time.seconds(), 0.0);
}

TEST(without_a_declaration_resizes_cost_what_they_took) {
    RescaleTime time;
    time.add(8, 0);
    check_near(time.expected({}).seconds(4, 2), 8, 1e-9);
    check_near(time.expected({}).seconds(2, 100), 8, 1e-9);
    time.add(4, 0);
    check_near(time.seconds(), 6, 1e-9);
    for (int i = 0; i < 20; ++i) time.add(2, 0);
    check_near(time.seconds(), 2, 1e-3);
    check_eq(time.count(), 22);
}

TEST(a_declared_cost_keeps_its_shape_and_its_amount_is_corrected) {
    const core::ResizeCost declared{.alpha = 1, .beta = 2, .b = 3, .sync = 4};
    RescaleTime time;
    for (int i = 0; i < 20; ++i) time.add(3 * declared.seconds(4, 2), declared.seconds(4, 2));
    check_near(time.expected(declared).seconds(4, 2), 3 * declared.seconds(4, 2), 1e-3);
    check_near(time.expected(declared).seconds(8, 64), 3 * declared.seconds(8, 64), 1e-2);
}

TEST(data_that_a_resize_moves_are_corrected_and_their_rate_is_not) {
    const core::ResizeCost declared{.data = 1e12, .rate = 1e9};
    RescaleTime time;
    for (int i = 0; i < 20; ++i) time.add(declared.seconds(4, 2) / 2, declared.seconds(4, 2));
    check_near(time.expected(declared).data, 5e11, 1e6);
    check_eq(time.expected(declared).rate, 1e9);
}

TEST(no_measurement_makes_a_cost_that_cannot_be) {
    RescaleTime time;
    time.add(-5, 0);
    check_eq(time.seconds(), 0.0);
    for (int i = 0; i < 50; ++i) time.add(1e300, 1e-300);
    check_that(time.seconds() <= core::kMaxCost);
    const auto most = time.expected({.alpha = 1e6, .beta = 1e6, .b = 1e6, .sync = 1e6});
    check_eq(most.alpha, core::kMaxCost);
    check_eq(most.sync, core::kMaxCost);
}

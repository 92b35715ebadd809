// SPDX-License-Identifier: MIT
// A bucket of tokens allows a burst and then a rate, whatever its clock does.
#include "common/token_bucket.hpp"

#include "testing.hpp"

using elastic::TokenBucket;

TEST(token_bucket_allows_a_burst_and_then_a_rate) {
    TokenBucket bucket(3, 2);
    for (int i = 0; i < 3; ++i) {
        check_eq(bucket.wait(100), 0.0);
        bucket.take(100);
    }
    check_eq(bucket.wait(100), 2.0);
    check_eq(bucket.wait(101.5), 0.5);
    check_eq(bucket.wait(102), 0.0);
    bucket.take(102);
    check_eq(bucket.wait(102), 2.0);
}

TEST(token_bucket_fills_again) {
    TokenBucket bucket(3, 2);
    for (int i = 0; i < 3; ++i) bucket.take(100);
    for (int i = 0; i < 3; ++i) {
        check_eq(bucket.wait(1000), 0.0);
        bucket.take(1000);
    }
    check_eq(bucket.wait(1000), 2.0);
}

TEST(token_bucket_bears_a_clock_that_is_set_back) {
    TokenBucket bucket(3, 2);
    bucket.take(1000);
    check_eq(bucket.wait(100), 2.0);
    check_eq(bucket.wait(106), 0.0);
}

// SPDX-License-Identifier: MIT
// The rules that say which sizes a job may have, each against its definition size by size.
#include <algorithm>
#include <climits>

#include "core/model/types.hpp"
#include "testing.hpp"

using namespace elastic::core;

TEST(sizes_rules_are_read_and_written) {
    for (const char* text : {"any", "pow2", "step:4", "2:4:8", "7"}) {
        check_eq(to_string(*parse_size_rule(text)), text);
    }
}

TEST(sizes_wrong_rules_are_refused) {
    for (const char* text :
         {"", "Any", "step:", "step:0", "step:-1", "step:1000001", "step:2:4", "0:1", "1:", ":1",
          "1:1", "4:2", "1:+2", "1::2", "x", "pow2:2", "1 :2", "99999999999999999999"}) {
        ck_assert_msg(!parse_size_rule(text), "'%s' was accepted", text);
    }
    check_error(parse_size_rule("2:8:4"), "4 stands behind 8, but sizes must ascend");
    check_error(parse_size_rule("0"), "'0' is no number of nodes from 1 to 1000000");
    check_error(parse_size_rule("x\n"), "must be any, pow2, step:K or a list such as 2:4:8");
}

// The definition of a rule, size by size, against the closed forms.
TEST(sizes_largest_and_smallest_agree_with_allows) {
    for (const char* text : {"any", "pow2", "step:1", "step:5", "3", "1:2:9:17"}) {
        SizeRule rule = *parse_size_rule(text);
        for (int low = -1; low <= 20; ++low) {
            for (int high = -1; high <= 20; ++high) {
                int smallest = 0, largest = 0;
                for (int n = std::max(low, 1); n <= high; ++n) {
                    if (!rule.allows(n)) continue;
                    largest = n;
                    if (smallest == 0) smallest = n;
                }
                check_eq(rule.largest(low, high), largest);
                check_eq(rule.smallest(low, high), smallest);
            }
        }
    }
}

TEST(sizes_allow_what_their_names_say) {
    auto allowed = [](const char* text) {
        std::vector<int> sizes;
        for (int n = -1; n <= 9; ++n) {
            if (parse_size_rule(text)->allows(n)) sizes.push_back(n);
        }
        return sizes;
    };
    check_eq(allowed("any"), (std::vector{1, 2, 3, 4, 5, 6, 7, 8, 9}));
    check_eq(allowed("pow2"), (std::vector{1, 2, 4, 8}));
    check_eq(allowed("step:3"), (std::vector{3, 6, 9}));
    check_eq(allowed("2:5"), (std::vector{2, 5}));
}

TEST(sizes_at_the_ends_of_int) {
    for (const char* text : {"any", "pow2", "step:1000000", "5"}) {
        SizeRule rule = *parse_size_rule(text);
        for (int low : {INT_MIN, 1, INT_MAX - 1, INT_MAX}) {
            int size = rule.smallest(low, INT_MAX);
            check_that(size == 0 || (size >= low && rule.allows(size)));
            size = rule.largest(low, INT_MAX);
            check_that(size == 0 || (size >= low && rule.allows(size)));
        }
    }
}

TEST(sizes_total_of_pools) {
    check_eq(total({}), 0);
    check_eq(total({1, 0, 4}), 5);
}

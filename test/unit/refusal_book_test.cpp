// SPDX-License-Identifier: MIT
// What Slurm has refused is remembered for as long as it is true, and no longer.
#include "controller/refusal_book.hpp"

#include "testing.hpp"

using namespace elastic;
using namespace elastic::controller;
using namespace elastic::testing;

namespace {

constexpr RequestId kRequest = 7, kOther = 8;

NodeMask nodes(std::initializer_list<std::size_t> places) {
    NodeMask mask(8);
    for (const std::size_t place : places) mask.set(place);
    return mask;
}

void look(RefusalBook& book, Time now, std::uint64_t configuration = 1) {
    book.begin_look(configuration, now);
    book.end_look();
}

}  // namespace

TEST(a_request_is_refused_what_it_was_refused_and_less) {
    RefusalBook book;
    look(book, 100);
    check_that(!book.is_refused(kRequest, nodes({1, 3})));
    book.refuse(kRequest, nodes({1, 3}), false);
    for (const Time now : {100, 101, 129}) {
        look(book, now);
        check_that(book.is_refused(kRequest, nodes({1, 3})));
        check_that(book.is_refused(kRequest, nodes({3})));
        check_that(book.is_refused(kRequest, nodes({})));
        check_that(!book.is_refused(kRequest, nodes({1, 3, 4})));
        check_that(!book.is_refused(kRequest, nodes({4})));
        check_that(!book.is_refused(kOther, nodes({1, 3})));
    }
}

TEST(a_refusal_is_asked_again_later_and_later) {
    RefusalBook book;
    Time now = 100;
    for (const Duration patience : {30, 60, 120, 240, 300, 300}) {
        look(book, now);
        check_that(!book.is_refused(kRequest, nodes({1, 3})));
        book.refuse(kRequest, nodes({1, 3}), false);
        look(book, now + patience - 1);
        check_that(book.is_refused(kRequest, nodes({1, 3})));
        now += patience;
    }
    look(book, now);
    book.refuse(kRequest, nodes({1, 3, 5}), false);  // more than before
    look(book, now + 30);
    check_that(!book.is_refused(kRequest, nodes({1, 3, 5})));
}

TEST(a_refusal_ends_by_the_time_that_is_said) {
    RefusalBook book;
    look(book, 100);
    book.refuse(kRequest, nodes({1}), false, 105);
    look(book, 104);
    check_that(book.is_refused(kRequest, nodes({1})));
    look(book, 105);
    check_that(!book.is_refused(kRequest, nodes({1})));
}

TEST(a_job_that_shares_nodes_may_have_what_another_leaves) {
    RefusalBook book;
    book.share({3, 1});
    look(book, 100);
    book.refuse(kRequest, nodes({1}), true);
    book.refuse(kOther, nodes({1}), false);
    book.share({1, 3, 4});  // one more, in another order
    look(book, 101);
    check_that(book.is_refused(kRequest, nodes({1})));
    book.share({1, 4, 5});
    look(book, 102);
    check_that(!book.is_refused(kRequest, nodes({1})));
    check_that(book.is_refused(kOther, nodes({1})));
    book.refuse(kRequest, nodes({1}), true);
    book.share({1, 4, 5});
    check_that(book.is_refused(kRequest, nodes({1})));
}

TEST(a_verdict_stands_until_the_configuration_changes) {
    RefusalBook book;
    look(book, 100);
    check_that(book.verdict(kRequest) == Verdict::unknown);
    book.judge(kRequest, Verdict::barred);
    book.judge(kOther, Verdict::runnable);
    book.refuse(kOther, nodes({1}), false);
    look(book, 3000);
    check_that(book.verdict(kRequest) == Verdict::barred);
    check_that(book.verdict(kOther) == Verdict::runnable);
    look(book, 3001, 2);
    check_that(book.verdict(kRequest) == Verdict::unknown);
    check_that(book.verdict(kOther) == Verdict::unknown);
    check_that(!book.is_refused(kOther, nodes({1})));
}

TEST(a_request_that_nobody_makes_any_more_is_forgotten) {
    RefusalBook book;
    look(book, 100);
    book.judge(kRequest, Verdict::barred);
    book.judge(kOther, Verdict::barred);
    look(book, 3000);
    check_that(book.verdict(kRequest) == Verdict::barred);
    look(book, 4000);
    check_that(book.verdict(kRequest) == Verdict::barred);
    check_that(book.verdict(kOther) == Verdict::unknown);
}

TEST(a_job_is_noted_as_long_as_it_waits) {
    RefusalBook book;
    book.begin_look(1, 100);
    check_that(!book.is_noted(5));
    book.end_look();
    book.note(5);
    book.note(6);
    for (const Time now : {101, 102}) {
        book.begin_look(1, now);
        check_that(book.is_noted(5));
        book.end_look();
    }
    book.begin_look(1, 103);
    check_that(!book.is_noted(6));
}

TEST(other_nodes_in_slurms_table_are_other_nodes) {
    RefusalBook book;
    look(book, 100);
    book.refuse(kRequest, nodes({1}), false);
    check_that(!book.is_refused(kRequest, NodeMask(9)));
}

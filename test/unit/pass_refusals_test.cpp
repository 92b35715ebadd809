// SPDX-License-Identifier: MIT
// What is left out of the next plan of the same pass, and what is not.
#include "controller/pass_refusals.hpp"

#include "testing.hpp"

using namespace elastic;
using namespace elastic::controller;
using namespace elastic::testing;

namespace {

constexpr AttemptId kJob{.job = 7, .attempt = 0};
constexpr AttemptId kElsewhere{.job = 7, .attempt = 1};
constexpr AttemptId kOther{.job = 8, .attempt = 0};
constexpr Account kAccount{.user = 1000, .association = 3, .qos = 1, .attempt = 0};

}  // namespace

TEST(nothing_is_hidden_before_it_was_refused) {
    const PassRefusals refusals;
    check_that(!refusals.hides(kJob));
    check_that(!refusals.bars(kAccount, 1));
    check_that(refusals.may_start_larger(kJob));
    check_that(!refusals.has_limits());
}

TEST(one_attempt_of_one_job_is_refused) {
    PassRefusals refusals;
    check_that(refusals.refuse(kJob));
    check_that(!refusals.refuse(kJob));  // no news
    check_that(refusals.hides(kJob));
    check_that(!refusals.hides(kElsewhere));
    check_that(!refusals.hides(kOther));
    check_that(!refusals.bars(kAccount, 1));
    check_that(refusals.may_start_larger(kJob));
}

TEST(who_may_not_start_larger_may_start) {
    PassRefusals refusals;
    check_that(refusals.refuse_more_than_asked(kJob));
    check_that(!refusals.refuse_more_than_asked(kJob));
    check_that(!refusals.may_start_larger(kJob));
    check_that(refusals.may_start_larger(kElsewhere));
    check_that(!refusals.hides(kJob));
}

TEST(a_limit_bars_all_jobs_of_the_account_that_are_as_large) {
    PassRefusals refusals;
    check_that(refusals.limit(kAccount, 4));
    check_that(refusals.has_limits());
    check_that(refusals.bars(kAccount, 4));
    check_that(refusals.bars(kAccount, 5));
    check_that(!refusals.bars(kAccount, 3));
    check_that(!refusals.hides(kJob));
}

TEST(a_limit_is_lowered_and_never_raised) {
    PassRefusals refusals;
    check_that(refusals.limit(kAccount, 4));
    check_that(!refusals.limit(kAccount, 4));
    check_that(!refusals.limit(kAccount, 6));
    check_that(!refusals.bars(kAccount, 3));
    check_that(refusals.limit(kAccount, 2));
    check_that(refusals.bars(kAccount, 3));
}

TEST(a_limit_bars_no_other_user_association_qos_or_partition) {
    PassRefusals refusals;
    refusals.limit(kAccount, 4);
    for (std::uint32_t Account::*part :
         {&Account::user, &Account::association, &Account::qos, &Account::attempt}) {
        Account other = kAccount;
        ++(other.*part);
        check_that(!refusals.bars(other, 4));
    }
}

TEST(each_account_is_asked_about_once) {
    PassRefusals refusals;
    Account other = kAccount;
    ++other.user;
    check_that(refusals.is_first_of_account(kAccount));
    check_that(!refusals.is_first_of_account(kAccount));
    check_that(refusals.is_first_of_account(other));
}

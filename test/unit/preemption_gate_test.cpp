// SPDX-License-Identifier: MIT
// When a job may preempt others: not while malleable ones are asked to shrink for it.
#include "controller/preemption_gate.hpp"

#include "testing.hpp"

using namespace elastic;
using namespace elastic::controller;
using namespace elastic::testing;

namespace {

constexpr JobId kMalleable = 1, kDeaf = 2, kUrgent = 7, kOther = 8;
constexpr Duration kPatience = 60;

struct Asked {
    int asks = 0;
    PreemptionGate gate{[this] { ++asks; }};

    Asked() {
        gate.open(kPatience);
        gate.set_askable({kMalleable});
    }
    bool admits(PreemptionGate::Waiting preemptor, Time now, JobId victim = kMalleable) {
        return gate.admits(preemptor, now, [victim](JobId job) { return job == victim; });
    }
};

}  // namespace

TEST(nobody_preempts_before_it_is_known_who_can_be_asked) {
    PreemptionGate gate([] {});
    check_that(!gate.admits({kUrgent}, 100, [](JobId) { return false; }));
    gate.open(kPatience);
    check_that(gate.admits({kUrgent}, 100, [](JobId) { return false; }));
}

TEST(a_job_asks_once_and_waits) {
    Asked a;
    check_that(!a.admits({kUrgent}, 100));
    check_that(!a.admits({kUrgent}, 110));
    check_eq(a.asks, 1);
    check_that(a.gate.is_asking(kUrgent));
    check_eq(a.gate.next_deadline(), 160.0);
    check_that(a.gate.overdue(159).empty());
    check_that(a.gate.overdue(160) == std::vector<JobId>{kUrgent});
}

TEST(where_there_is_nobody_to_ask_it_may_preempt) {
    Asked a;
    check_that(a.admits({kUrgent}, 100, kDeaf));
    check_eq(a.asks, 0);
    // Who has come meanwhile is seen in the next second.
    check_that(a.admits({kUrgent}, 100));
    check_that(!a.admits({kUrgent}, 101));
}

TEST(who_has_asked_in_vain_may_preempt_for_a_time) {
    Asked a;
    a.admits({kUrgent}, 100);
    check_that(a.gate.let_go(kUrgent, 130));
    check_that(!a.gate.let_go(kUrgent, 130));
    check_that(a.admits({kUrgent}, 130));
    check_that(a.admits({kUrgent}, 429));
    check_that(!a.admits({kUrgent}, 430));
}

TEST(nothing_is_known_of_who_asks_after_a_look_at_the_queue) {
    Asked a;
    a.admits({kUrgent}, 100);
    a.gate.begin_look();
    a.admits({kOther}, 101);
    check_that(a.gate.asking() == std::vector<JobId>{kUrgent});
    check_that(a.gate.is_asking(kOther));
    a.gate.begin_look();
    check_that(a.gate.asking() == std::vector<JobId>({kUrgent, kOther}));
}

TEST(who_asks_anew_is_not_seen_yet) {
    Asked a;
    a.admits({kUrgent}, 100);
    a.gate.begin_look();
    a.gate.let_go(kUrgent, 130);
    check_that(!a.admits({kUrgent}, 430));
    check_that(a.gate.asking().empty());
}

TEST(each_job_asks_for_itself) {
    Asked a;
    a.admits({kUrgent}, 100);
    a.admits({kOther}, 120);
    a.gate.begin_look();
    a.gate.let_go(kUrgent, 130);
    check_that(a.gate.asking() == std::vector<JobId>{kOther});
    check_eq(a.gate.next_deadline(), 180.0);
}

TEST(the_next_element_of_an_array_has_its_time_anew) {
    Asked a;
    a.admits({kUrgent, 3}, 100);
    a.gate.begin_look();
    check_that(!a.admits({kUrgent, 2}, 150));
    check_that(a.gate.asking().empty());
    check_eq(a.gate.next_deadline(), 210.0);
    check_eq(a.asks, 1);
}

TEST(what_one_element_of_an_array_has_asked_in_vain_the_others_do_not_ask_again) {
    Asked a;
    a.admits({kUrgent, 3}, 100);
    a.gate.let_go(kUrgent, 160);
    check_that(a.admits({kUrgent, 2}, 170));
}

TEST(who_does_not_wait_any_more_is_forgotten) {
    Asked a;
    a.admits({kUrgent}, 100);
    a.gate.begin_look();
    a.gate.retain([](JobId) { return false; });
    check_that(a.gate.asking().empty());
    check_that(a.gate.next_deadline() >= kNever);
}

TEST(with_no_patience_nobody_is_asked) {
    Asked a;
    a.gate.open(0);
    check_that(a.admits({kUrgent}, 100));
    check_eq(a.asks, 0);
}

// SPDX-License-Identifier: MIT
// The life of agreements: every transition of the table, nothing beside it, and the book that keeps
// them.
#include <array>

#include "controller/agreement.hpp"
#include "testing.hpp"

using namespace elastic;
using namespace elastic::controller;
using namespace elastic::testing;

namespace {

using State = AgreementState;
using Event = AgreementEvent;

constexpr std::array kOpenStates = {State::queued, State::offered,  State::accepted,
                                    State::joined, State::released, State::applied};
constexpr std::array kFinalStates = {State::done, State::declined, State::expired, State::cancelled,
                                     State::denied};
constexpr std::array kEvents = {Event::grant,   Event::accept, Event::decline, Event::join,
                                Event::release, Event::apply,  Event::ready,   Event::expire,
                                Event::cancel,  Event::deny};

Agreement of(JobId job, ResizeKind kind, State state = State::offered) {
    Agreement agreement;
    agreement.job = job;
    agreement.kind = kind;
    agreement.state = state;
    agreement.nodes = 2;
    return agreement;
}

}  // namespace

TEST(a_shrink_goes_from_offered_to_done) {
    AgreementBook book(100);
    Agreement& shrink = book.open(of(7, ResizeKind::shrink));
    check_eq(shrink.op, 101);
    for (Event event : {Event::accept, Event::release, Event::apply})
        check_ok(book.advance(shrink, event));
    check_that((shrink.state == State::done));
    check_that((book.of_job(7) == nullptr));
}

TEST(an_expansion_goes_from_offered_to_done) {
    AgreementBook book;
    Agreement& expand = book.open(of(7, ResizeKind::expand));
    for (Event event : {Event::accept, Event::apply, Event::ready})
        check_ok(book.advance(expand, event));
    check_that((expand.state == State::done));
}

TEST(a_job_whose_nodes_have_joined_is_told_later) {
    AgreementBook book;
    Agreement& expand = book.open(of(7, ResizeKind::expand));
    for (Event event : {Event::accept, Event::join}) check_ok(book.advance(expand, event));
    check_that((expand.state == State::joined && expand.open()));
    for (Event event : {Event::apply, Event::ready}) check_ok(book.advance(expand, event));
    check_that((!next_state(ResizeKind::shrink, State::accepted, Event::join)));
    check_that((!next_state(ResizeKind::expand, State::joined, Event::decline)));
}

TEST(a_request_is_granted_or_denied) {
    check_that((next_state(ResizeKind::expand, State::queued, Event::grant) == State::accepted));
    check_that((next_state(ResizeKind::expand, State::queued, Event::deny) == State::denied));
    check_that((!next_state(ResizeKind::shrink, State::queued, Event::grant)));
    check_that((!next_state(ResizeKind::expand, State::queued, Event::expire)));
}

TEST(a_kind_does_not_know_the_steps_of_the_other) {
    check_that((!next_state(ResizeKind::expand, State::accepted, Event::release)));
    check_that((!next_state(ResizeKind::expand, State::accepted, Event::ready)));
    check_that((!next_state(ResizeKind::shrink, State::accepted, Event::ready)));
    check_that((!next_state(ResizeKind::shrink, State::offered, Event::apply)));
    check_that((!next_state(ResizeKind::shrink, State::accepted, Event::apply)));
}

TEST(nothing_leads_out_of_a_final_state) {
    for (ResizeKind kind : {ResizeKind::shrink, ResizeKind::expand})
        for (State state : kFinalStates)
            for (Event event : kEvents) check_that((!next_state(kind, state, event)));
}

TEST(every_open_state_can_be_cancelled) {
    for (State state : kOpenStates) {
        ResizeKind kind = state == State::released ? ResizeKind::shrink : ResizeKind::expand;
        check_that((next_state(kind, state, Event::cancel) == State::cancelled));
    }
}

TEST(an_impossible_step_says_what_was_tried_and_changes_nothing) {
    AgreementBook book(41);
    Agreement& shrink = book.open(of(7, ResizeKind::shrink));
    check_error(book.advance(shrink, Event::ready),
                "operation 42 of job 7 (shrink) is offered: it cannot ready");
    check_that((shrink.state == State::offered));
    check_that((book.of_job(7) == &shrink));
}

TEST(the_book_finds_overdue_ones_and_the_next_deadline) {
    AgreementBook book;
    check_that((book.next_deadline() == kNever));
    book.open(of(1, ResizeKind::shrink)).deadline = 10;
    book.open(of(2, ResizeKind::expand)).deadline = 20;
    check_that((book.next_deadline() == 10));
    check_eq(book.overdue(9).size(), 0u);
    check_eq(book.overdue(10).size(), 1u);
    check_eq(book.overdue(20).size(), 2u);
}

TEST(the_book_finds_the_shrinks_for_a_job) {
    AgreementBook book;
    book.open(of(1, ResizeKind::shrink)).beneficiary = 9;
    book.open(of(2, ResizeKind::shrink)).beneficiary = 9;
    book.open(of(3, ResizeKind::shrink)).beneficiary = 8;
    check_eq(book.shrinks_for(9).size(), 2u);
    check_ok(book.advance(*book.of_job(1), Event::decline));
    check_eq(book.shrinks_for(9).size(), 1u);
}

TEST(what_a_plan_decides_of_a_request_changes_what_is_promised) {
    AgreementBook book(100);
    Agreement request;
    request.job = 6;
    request.kind = ResizeKind::expand;
    request.state = AgreementState::queued;
    request.nodes = 3;
    Agreement& open = book.open(request);
    for (const auto& [granted, nodes] : {std::pair(2, "n[7-8]"), std::pair(0, "")}) {
        const auto before = book.revision();
        book.decide(open, granted, nodes);
        check_that(book.revision() > before);
        check_eq(open.granted, granted);
        check_eq(open.coming(), granted ? granted : 3);
        check_eq(open.node_list, nodes);
    }
}

TEST(a_shrink_is_passed_on_to_another_job) {
    AgreementBook book;
    Agreement& shrink = book.open(of(1, ResizeKind::shrink));
    shrink.beneficiary = 9;
    const auto before = book.revision();
    book.pass_on(shrink, 8);
    check_that(book.shrinks_for(9).empty() && book.shrinks_for(8).front() == &shrink);
    check_that(book.revision() > before);
}

TEST(a_book_goes_on_where_another_ended) {
    AgreementBook before(1000);
    before.open(of(1, ResizeKind::shrink)).beneficiary = 9;
    before.claim(9, {3, "n[7-8]"});
    AgreementBook book(500);
    check_ok(book.resume(before));
    check_eq(book.of_job(1)->op, 1001);
    check_eq(book.claim_of(9)->job, 9U);
    check_eq(book.open(of(4, ResizeKind::shrink)).op, 1002);
}

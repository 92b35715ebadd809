// SPDX-License-Identifier: MIT
// The application library and the controller: what either says is understood by the other, in
// each step of an agreement and wherever a connection or a controller ends in between.
#include "libelastic/client.hpp"

#include <poll.h>

#include "theatre.hpp"

namespace elastic::libelastic {
namespace {

using namespace elastic::testing;
using controller::AgreementEvent;
using controller::AgreementState;

}  // namespace

TEST(a_job_learns_what_it_may_be) {
    Theatre s;
    const auto& view = s.open().view();
    check_eq(view.min, 1);
    check_eq(view.max, 8);
    check_eq(view.batch_host, "n1");
    check_that(view.malleable && view.evolving);
    check_eq(view.sizes, "any");
}

TEST(an_application_that_comes_before_its_job_is_known_to_run_is_heard_later) {
    Theatre s;
    s.job().running = false;
    s.controller->looks = false;
    s.client = s.new_client();
    s.until([&] { return s.controller->has_been_urged; });
    s.job().running = true;
    s.controller->looks = true;
    s.until([&] { return s.client->connected(); });
}

TEST(a_job_learns_which_sizes_it_may_have) {
    Theatre s;
    s.job().annotation.sizes = *core::parse_size_rule("2:4:16");
    const auto& view = s.open().view();
    check_eq(view.sizes, "2:4:16");
    check_that(view.allows(2) && view.allows(4));
    check_that(!view.allows(3) && !view.allows(0) && !view.allows(-4));
    check_that(!view.allows(16));  // above its range
}

TEST(what_is_unknown_of_a_job_is_allowed) {
    const libelastic::JobView unknown;
    check_that(unknown.allows(1) && unknown.allows(1000) && !unknown.allows(0));
    libelastic::JobView strange;
    strange.min = 1;
    strange.max = 4;
    strange.sizes = "prime";
    check_that(strange.allows(3) && !strange.allows(5));
}

TEST(a_shrink_from_offer_to_applied) {
    Theatre s;
    auto& client = s.open();
    const OpId op = s.offer_shrink();
    const auto offer = s.expect(ELASTIC_EVENT_OFFER_SHRINK);
    check_eq(offer.op, op);
    check_eq(offer.nodes, 1);
    check_eq(offer.size, 3);
    check_eq(offer.node_list, "n4");
    check_eq(offer.reason, "for job 9");
    check_eq(offer.deadline, 60.0);
    check_eq(client.done(op), ELASTIC_ESTATE);
    check_eq(client.accept(op), ELASTIC_OK);
    check_eq(client.accept(op), ELASTIC_ESTATE);
    check_eq(client.decline(op, ""), ELASTIC_ESTATE);
    check_eq(s.expect(ELASTIC_EVENT_ACCEPTED).deadline, 60.0);
    check_that(s.agreement_is(AgreementState::accepted));
    check_eq(client.done(op), ELASTIC_OK);
    s.until([&] { return s.agreement_is(AgreementState::released); });
    check_eq(client.view().nodes, 4);
    s.apply("n4", "n[1-3]", 3);
    const auto resized = s.expect(ELASTIC_EVENT_RESIZED);
    check_eq(resized.op, op);
    check_eq(resized.kind, static_cast<int>(ELASTIC_SHRINK));
    check_eq(resized.node_list, "n4");
    check_eq(client.view().nodes, 3);
    check_eq(client.view().node_list, "n[1-3]");
    check_eq(client.done(op), ELASTIC_ESTATE);
    check_that(!s.agreement());
}

TEST(an_expansion_is_done_after_it_is_applied) {
    Theatre s;
    auto& client = s.open();
    const OpId op = s.offer_expand(2);
    check_eq(s.expect(ELASTIC_EVENT_OFFER_EXPAND).size, 6);
    client.accept(op);
    check_eq(client.done(op), ELASTIC_ESTATE);
    s.expect(ELASTIC_EVENT_ACCEPTED);
    check_eq(client.done(op), ELASTIC_ESTATE);
    s.apply("n[5-6]", "n[1-6]", 6);
    check_eq(s.expect(ELASTIC_EVENT_RESIZED).op, op);
    check_eq(client.view().nodes, 6);
    check_eq(client.done(op), ELASTIC_OK);
    check_eq(client.done(op), ELASTIC_ESTATE);
    s.until([&] { return !s.agreement(); });
}

TEST(an_application_takes_fewer_nodes_than_offered) {
    Theatre s;
    auto& client = s.open();
    const OpId op = s.offer_expand(4);
    s.expect(ELASTIC_EVENT_OFFER_EXPAND);
    check_eq(client.accept_size(op, 0), ELASTIC_EINVAL);
    check_eq(client.accept_size(op, 5), ELASTIC_EINVAL);
    check_eq(client.accept_size(op + 1, 2), ELASTIC_ESTATE);
    check_eq(client.accept_size(op, 2), ELASTIC_OK);
    check_eq(client.accept_size(op, 2), ELASTIC_ESTATE);
    const auto accepted = s.expect(ELASTIC_EVENT_ACCEPTED);
    check_eq(accepted.nodes, 2);
    check_eq(accepted.size, 6);
    check_eq(s.agreement()->nodes, 2);
    s.apply("n[5-6]", "n[1-6]", 6);
    check_eq(s.expect(ELASTIC_EVENT_RESIZED).op, op);
}

TEST(a_size_that_is_said_while_nobody_listens_is_said_again) {
    Theatre s;
    auto& client = s.open();
    const OpId op = s.offer_expand(4);
    s.expect(ELASTIC_EVENT_OFFER_EXPAND);
    s.controller->step();
    s.stop();
    s.until([&] { return !client.connected(); });
    check_eq(client.accept_size(op, 3), ELASTIC_OK);
    s.start();
    check_eq(s.expect(ELASTIC_EVENT_ACCEPTED).nodes, 3);
    check_eq(s.agreement()->nodes, 3);
}

TEST(an_offer_comes_again_when_its_size_is_refused) {
    Theatre s;
    s.job().annotation.sizes = *core::parse_size_rule("step:2");
    auto& client = s.open();
    const OpId op = s.offer_expand(4);
    s.expect(ELASTIC_EVENT_OFFER_EXPAND);
    check_eq(client.accept_size(op, 3), ELASTIC_OK);
    const auto again = s.expect(ELASTIC_EVENT_OFFER_EXPAND);
    check_eq(again.op, op);
    check_eq(again.nodes, 4);
    check_eq(again.reason, "job 77 would have 7 nodes (min=1, max=8, sizes=step:2)");
    check_that(again.deadline > 0 && again.deadline <= 60);
    check_eq(client.accept(op), ELASTIC_OK);
    check_eq(s.expect(ELASTIC_EVENT_ACCEPTED).nodes, 4);
}

TEST(a_waiting_request_is_content_with_fewer_nodes) {
    Theatre s;
    auto& client = s.open();
    client.request(3, 2, 100);
    const OpId op = s.expect(ELASTIC_EVENT_QUEUED).op;
    check_eq(client.accept_size(op, 4), ELASTIC_EINVAL);
    check_eq(client.accept_size(op, 1), ELASTIC_OK);
    s.until([&] { return s.agreement()->nodes == 1; });
    check_eq(s.agreement()->least, 1);
    s.restart();
    check_eq(client.accept_size(op, 2), ELASTIC_OK);
    const auto refused = s.expect(ELASTIC_EVENT_QUEUED);
    check_eq(refused.reason, fmt::format("operation {} is of 1 nodes: 2 cannot be taken", op));
    s.apply("n5", "n[1-5]", 5);
    check_eq(s.expect(ELASTIC_EVENT_RESIZED).op, op);
}

TEST(a_declined_offer_ends) {
    Theatre s;
    auto& client = s.open();
    const OpId op = s.offer_shrink();
    s.expect(ELASTIC_EVENT_OFFER_SHRINK);
    check_eq(client.accept(0), ELASTIC_EINVAL);
    check_eq(client.accept(op + 1), ELASTIC_ESTATE);
    check_eq(client.decline(op, "busy"), ELASTIC_OK);
    s.expect_ended(ELASTIC_DECLINED, "busy");
    check_eq(client.accept(op), ELASTIC_ESTATE);
    check_eq(s.job().last_reason, "busy");
}

TEST(an_offer_that_nobody_answers_expires) {
    Theatre s;
    auto& client = s.open();
    const OpId op = s.offer_shrink();
    s.expect(ELASTIC_EVENT_OFFER_SHRINK);
    s.now += 60;
    s.controller->negotiation.check_deadlines(s.now);
    s.expect_ended(ELASTIC_EXPIRED, "no answer in time");
    check_eq(client.accept(op), ELASTIC_ESTATE);
}

TEST(an_offer_can_be_withdrawn_while_it_is_answered) {
    Theatre s;
    auto& client = s.open();
    const OpId op = s.offer_shrink();
    s.expect(ELASTIC_EVENT_OFFER_SHRINK);
    s.end(op, AgreementEvent::cancel, "the queue needs nothing");
    check_eq(client.accept(op), ELASTIC_OK);
    s.expect_ended(ELASTIC_CANCELLED, "the queue needs nothing");
    check_that(client.connected());
}

// ---- what applications ask for

TEST(a_request_is_queued_and_granted) {
    Theatre s;
    auto& client = s.open();
    check_eq(client.request(0, 0, 1), ELASTIC_EINVAL);
    check_eq(client.request(2, 3, 1), ELASTIC_EINVAL);
    check_eq(client.request(2, 1, -1), ELASTIC_EINVAL);
    check_eq(client.request(2, 1, 100), ELASTIC_OK);
    check_eq(client.request(1, 1, 1), ELASTIC_ESTATE);
    const OpId op = s.expect(ELASTIC_EVENT_QUEUED).op;
    check_eq(s.agreement()->op, op);
    check_eq(s.agreement()->nodes, 2);
    check_eq(s.agreement()->least, 1);
    check_that(s.agreement()->deadline > s.now + 60 && s.agreement()->deadline <= s.now + 100);
    s.apply("n[5-6]", "n[1-6]", 6);
    check_eq(s.expect(ELASTIC_EVENT_RESIZED).op, op);
    check_eq(client.done(op), ELASTIC_OK);
    s.until([&] { return !s.agreement(); });
    check_eq(client.request(1, 1, 1), ELASTIC_OK);
    s.expect(ELASTIC_EVENT_QUEUED);
}

TEST(a_request_that_may_not_be_made_is_denied) {
    Theatre s;
    s.job().annotation.evolving = false;
    auto& client = s.open();
    check_that(!client.view().evolving);
    check_eq(client.request(2, 1, 100), ELASTIC_OK);
    s.expect_ended(ELASTIC_DENIED,
                   "job 77 is not evolving: submit it with --elastic=evolving to ask for nodes");
    check_eq(client.request(1, 1, 0), ELASTIC_OK);
}

TEST(a_request_whose_time_is_over_is_denied_by_the_next_pass) {
    Theatre s;
    auto& client = s.open();
    check_eq(client.request(2, 1, 5), ELASTIC_OK);
    const OpId op = s.expect(ELASTIC_EVENT_QUEUED).op;
    s.now += 5;
    check_that(s.controller->negotiation.check_deadlines(s.now));
    s.end(op, AgreementEvent::deny, "not enough nodes");
    s.expect_ended(ELASTIC_DENIED, "not enough nodes");
    check_eq(client.request(1, 1, 0), ELASTIC_OK);
    s.expect(ELASTIC_EVENT_QUEUED);
}

TEST(a_request_nobody_heard_of_expires_by_itself) {
    Theatre s;
    auto& client = s.open();
    s.stop();
    s.until([&] { return !client.connected(); });
    check_eq(client.request(2, 1, 0.01), ELASTIC_OK);
    s.expect_ended(ELASTIC_EXPIRED, "the controller was out of reach");
}

TEST(a_request_can_be_cancelled_before_its_number_is_known) {
    Theatre s;
    auto& client = s.open();
    check_eq(client.cancel(0), ELASTIC_ESTATE);
    client.request(2, 1, 100);
    check_eq(client.cancel(0), ELASTIC_OK);
    s.expect(ELASTIC_EVENT_QUEUED);
    s.expect_ended(ELASTIC_CANCELLED, "cancelled by the application");
    check_that(!s.agreement());
}

TEST(a_release_names_the_last_nodes) {
    Theatre s;
    s.job().batch_host = "n4";
    auto& client = s.open();
    check_eq(client.release(4, nullptr), ELASTIC_EINVAL);
    check_eq(client.release(0, "n4"), ELASTIC_EINVAL);
    check_eq(client.release(0, "n9"), ELASTIC_EINVAL);
    check_eq(client.release(0, "n[1-4]"), ELASTIC_EINVAL);
    check_eq(client.release(0, "n["), ELASTIC_EINVAL);
    check_eq(client.release(2, nullptr), ELASTIC_OK);
    const OpId op = s.expect(ELASTIC_EVENT_QUEUED).op;
    check_eq(s.agreement()->node_list, "n[2-3]");
    check_that(s.agreement_is(AgreementState::released));
    s.apply("n[2-3]", "n[1,4]", 2);
    check_eq(s.expect(ELASTIC_EVENT_RESIZED).op, op);
    check_eq(client.release(1, nullptr), ELASTIC_OK);
    s.expect(ELASTIC_EVENT_QUEUED);
    check_eq(s.agreement()->node_list, "n1");
}

// The application has been told of the first of two messages, and both are there.
TEST(a_release_is_of_the_nodes_the_application_was_shown) {
    Theatre s;
    auto& client = s.open();
    const OpId op = s.offer_shrink();
    s.change("n[5-6]", "n[1-6]", 6);
    s.deliver();
    s.expect(ELASTIC_EVENT_OFFER_SHRINK);
    check_eq(client.view().node_list, "n[1-4]");
    check_eq(client.release(4, nullptr), ELASTIC_EINVAL);
    check_eq(client.release(0, "n5"), ELASTIC_EINVAL);
    s.end(op, AgreementEvent::cancel, "");
    check_eq(client.release(1, nullptr), ELASTIC_OK);
    s.until([&] { return s.agreement_is(AgreementState::released); });
    check_eq(s.agreement()->node_list, "n4");
    s.expect(ELASTIC_EVENT_RESIZED);
    check_eq(client.view().node_list, "n[1-6]");
}

TEST(a_release_of_a_node_that_has_just_left_is_denied) {
    Theatre s;
    auto& client = s.open();
    const OpId op = s.offer_shrink();
    s.end(op, AgreementEvent::cancel, "its node has failed");
    s.change("n4", "n[1-3]", 3);
    s.deliver();
    s.expect(ELASTIC_EVENT_OFFER_SHRINK);
    check_eq(client.release(1, nullptr), ELASTIC_OK);
    s.expect(ELASTIC_EVENT_ENDED);
    s.expect(ELASTIC_EVENT_RESIZED);
    s.expect_ended(ELASTIC_DENIED, "job 77 does not hold n4");
    check_eq(client.release(1, nullptr), ELASTIC_OK);
    s.until([&] { return s.agreement_is(AgreementState::released); });
    check_eq(s.agreement()->node_list, "n3");
}

TEST(a_step_is_said_and_told) {
    Theatre s;
    s.job().annotation.malleable = false;
    s.job().evolution.begin(s.now, {{4, 600}, {6, 60}, {4, 60}});
    auto& client = s.open();
    check_eq(client.step(-1, 0), ELASTIC_EINVAL);
    check_eq(client.step(0, -1), ELASTIC_EINVAL);
    check_eq(client.step(5, 900), ELASTIC_OK);
    check_eq(client.step(5, 900), ELASTIC_ESTATE);
    const auto planned = s.expect(ELASTIC_EVENT_PLANNED);
    check_eq(planned.size, 4);
    check_eq(planned.nodes, 5);
    check_that(planned.deadline > 800 && planned.deadline <= 900);
    s.now += 900;
    check_that(s.controller->negotiation.follow_steps(s.now));
    check_eq(s.expect(ELASTIC_EVENT_STEP).size, 5);
    const OpId op = s.expect(ELASTIC_EVENT_QUEUED).op;
    s.apply("n5", "n[1-5]", 5);
    check_eq(s.expect(ELASTIC_EVENT_RESIZED).op, op);
    check_eq(client.step(9, 0), ELASTIC_OK);
    s.expect_ended(ELASTIC_DENIED, "a step of 9 nodes is not possible (min=1, max=8, sizes=any)");
}

TEST(a_step_that_was_heard_is_not_taken_twice) {
    Theatre s;
    s.job().annotation.malleable = false;
    s.job().evolution.begin(s.now, {{4, 600}, {4, 600}, {4, 600}});
    auto& client = s.open();
    s.controller->mute = true;
    check_eq(client.step(0, 0), ELASTIC_OK);
    s.until([&] { return s.job().evolution.number() == 2; });
    s.kill();
    s.start();
    s.job().annotation.malleable = false;
    s.expect(ELASTIC_EVENT_PLANNED);
    check_eq(s.job().evolution.number(), 2);
}

TEST(progress_is_sent_now_and_then) {
    Theatre s;
    auto& client = s.open();
    check_eq(client.progress(-1), ELASTIC_EINVAL);
    for (int i = 0; i < 100; ++i) check_eq(client.progress(1000 - i), ELASTIC_OK);
    client.request(1, 1, 100);
    s.expect(ELASTIC_EVENT_QUEUED);  // behind all that was sent before
    check_eq(s.job().time.estimated_end(s.now), s.now + 1000);
}

// ---- connections and controllers that end

TEST(what_is_said_while_away_is_sent_later) {
    Theatre s;
    auto& client = s.open();
    const OpId op = s.offer_shrink();
    s.expect(ELASTIC_EVENT_OFFER_SHRINK);
    s.stop();
    s.until([&] { return !client.connected(); });
    check_eq(client.accept(op), ELASTIC_OK);
    check_eq(client.done(op), ELASTIC_OK);
    s.start();
    s.until([&] { return s.agreement_is(AgreementState::released); });
    check_eq(s.noted("accept"), 1);
    check_eq(s.noted("release"), 1);
    s.apply("n4", "n[1-3]", 3);
    s.expect(ELASTIC_EVENT_ACCEPTED);
    check_eq(s.expect(ELASTIC_EVENT_RESIZED).op, op);
}

TEST(an_agreement_goes_on_with_the_next_controller) {
    Theatre s;
    auto& client = s.open();
    const OpId op = s.offer_shrink();
    s.expect(ELASTIC_EVENT_OFFER_SHRINK);
    s.controller->mute = true;  // it takes the answer, and dies before it says so
    client.accept(op);
    s.until([&] { return s.agreement_is(AgreementState::accepted); });
    s.now += 50;
    s.restart();
    // No second offer before it, and the whole time anew.
    check_eq(s.expect(ELASTIC_EVENT_ACCEPTED).deadline, 60.0);
    check_eq(s.noted("accept"), 0);
    check_eq(client.done(op), ELASTIC_OK);
    s.until([&] { return s.agreement_is(AgreementState::released); });
}

TEST(an_offer_goes_on_with_the_next_controller) {
    Theatre s;
    auto& client = s.open();
    const OpId op = s.offer_shrink();
    s.expect(ELASTIC_EVENT_OFFER_SHRINK);
    s.restart();
    client.accept(op);
    check_eq(s.expect(ELASTIC_EVENT_ACCEPTED).op, op);
    check_eq(s.noted("accept"), 1);
}

TEST(an_agreement_that_the_controller_lost_is_over) {
    Theatre s;
    s.open();
    const OpId op = s.offer_shrink();
    s.expect(ELASTIC_EVENT_OFFER_SHRINK);
    s.stop();
    s.lose_state();
    s.start();
    const auto ended = s.expect(ELASTIC_EVENT_ENDED);
    check_eq(ended.op, op);
    check_eq(ended.outcome, static_cast<int>(ELASTIC_CANCELLED));
}

TEST(a_shrink_applied_while_away_shows_in_the_nodes) {
    Theatre s;
    auto& client = s.open();
    const OpId op = s.offer_shrink();
    s.expect(ELASTIC_EVENT_OFFER_SHRINK);
    client.accept(op);
    s.expect(ELASTIC_EVENT_ACCEPTED);
    client.done(op);
    s.until([&] { return s.agreement_is(AgreementState::released); });
    s.controller->mute = true;
    s.apply("n4", "n[1-3]", 3);
    s.restart();
    const auto resized = s.expect(ELASTIC_EVENT_RESIZED);
    check_eq(resized.op, op);
    check_eq(resized.node_list, "n4");
    check_eq(client.view().nodes, 3);
    check_that(s.events.empty());
}

TEST(an_expansion_applied_while_away_is_told_once_and_can_be_done) {
    Theatre s;
    auto& client = s.open();
    client.request(1, 1, 100);
    const OpId op = s.expect(ELASTIC_EVENT_QUEUED).op;
    s.controller->mute = true;
    s.apply("n5", "n[1-5]", 5);
    s.restart();
    check_eq(s.expect(ELASTIC_EVENT_RESIZED).op, op);
    check_eq(client.view().nodes, 5);
    check_eq(client.done(op), ELASTIC_OK);
    s.until([&] { return !s.agreement(); });
    const OpId next = s.offer_expand(1);
    check_eq(s.expect(ELASTIC_EVENT_OFFER_EXPAND).op, next);
}

TEST(a_request_is_repeated_if_it_was_lost_and_not_if_it_waits) {
    Theatre s;
    auto& client = s.open();
    client.request(2, 2, 100);  // a controller that dies before it takes it
    s.kill();
    s.start();
    s.until([&] { return s.agreement_is(AgreementState::queued); });
    check_eq(s.noted("request"), 1);
    s.controller->mute = true;
    s.step();
    s.restart();
    s.expect(ELASTIC_EVENT_QUEUED);
    check_eq(s.noted("request"), 0);
    s.stop();
    s.lose_state();
    s.start();
    s.expect(ELASTIC_EVENT_ENDED);
}

TEST(a_node_lost_while_away_is_told) {
    Theatre s;
    auto& client = s.open();
    s.stop();
    s.records.node_list = "n[1,3-5]";  // and another came
    s.start();
    const auto lost = s.expect(ELASTIC_EVENT_RESIZED);
    check_eq(lost.node_list, "n2");
    check_eq(lost.size, 3);
    check_eq(lost.op, 0);
    check_eq(client.view().node_list, "n[1,3-4]");
    check_eq(s.expect(ELASTIC_EVENT_RESIZED).node_list, "n5");
    check_eq(client.view().node_list, "n[1,3-5]");
}

TEST(a_later_process_learns_what_an_earlier_one_accepted) {
    Theatre s;
    const OpId op = [&] {
        s.open();
        const OpId offered = s.offer_shrink();
        s.expect(ELASTIC_EVENT_OFFER_SHRINK);
        s.client->accept(offered);
        s.expect(ELASTIC_EVENT_ACCEPTED);
        return offered;
    }();
    s.now += 40;
    auto& client = s.open();
    const auto accepted = s.expect(ELASTIC_EVENT_ACCEPTED);
    check_eq(accepted.node_list, "n4");
    check_eq(accepted.deadline, 20.0);
    check_eq(client.accept(op), ELASTIC_ESTATE);
    check_eq(client.done(op), ELASTIC_OK);
    s.until([&] { return s.agreement_is(AgreementState::released); });
}

TEST(the_last_process_of_a_job_to_connect_speaks_for_it) {
    Theatre s;
    s.open();
    s.open_another();
    s.until([&] { return s.client->connected(); });
    const OpId op = s.offer_shrink();
    check_eq(s.expect(ELASTIC_EVENT_OFFER_SHRINK).op, op);
    std::swap(s.client, s.left_behind.front());
    check_eq(s.expect(ELASTIC_EVENT_CLOSED).reason, "another process of this job has connected");
}

TEST(a_refusal_for_good_closes_the_handle) {
    Theatre s;
    s.job().elastic = false;
    s.client = s.new_client();
    check_eq(s.expect(ELASTIC_EVENT_CLOSED).reason, "job 77 was not submitted with --elastic");
    check_that(!s.client->elastic());
    check_eq(s.client->accept(5), ELASTIC_ENOTELASTIC);
    Event event;
    check_eq(s.client->poll(-1, event), ELASTIC_ENOTELASTIC);
    check_eq(s.client->poll(0, event), 0);
}

TEST(a_job_of_somebody_else_is_not_spoken_for) {
    Theatre s;
    s.job().owner = kOwner + 1;
    s.client = s.new_client();
    check_eq(s.expect(ELASTIC_EVENT_CLOSED).reason, "job 77 is not yours");
}

TEST(who_finds_too_many_of_the_user_comes_back_later) {
    Theatre s;
    s.controller->options.max_connections_per_user = 1;
    check_ok(s.controller->server.reconfigure(s.controller->options));
    s.open();
    auto first = std::exchange(s.client, s.new_client(kOtherJob));
    s.until([&] { return s.client->detail() == "too many connections of this user"; });
    check_that(s.client->elastic() && !s.client->connected());
    first.reset();
    s.until([&] { return s.client->connected(); });
}

TEST(the_next_controller_is_tried) {
    Theatre s;
    const ReservedPort closed;
    s.client = Theatre::new_client(Theatre::endpoint({closed.number(), s.port->number()}));
    s.until([&] { return s.client->connected(); });
}

TEST(look_ups_in_vain_become_rare) {
    Theatre s;
    s.stop();
    const auto nobody = Theatre::endpoint({s.port->number()});
    int look_ups = 0;
    const LinkTimes times{0.001, 0.001, 2};
    Client client({kJob, {}}, nobody, std::make_unique<PlainSeal>(kOwner), times, [&] {
        ++look_ups;
        return nobody;
    });
    const Time begin = monotonic_now();
    Event event;
    while (look_ups < 8) check_eq(client.poll(1, event), 0);
    check_that(monotonic_now() - begin >= 0.001 * 255);  // 1 + 2 + ... + 128
}

TEST(a_controller_that_moved_is_found) {
    Theatre s;
    s.stop();
    const auto old = std::exchange(s.port, std::make_unique<ReservedPort>());
    s.start();
    s.client = Theatre::new_client(Theatre::endpoint({old->number()}), kJob,
                                   [&] { return Theatre::endpoint({s.port->number()}); });
    s.until([&] { return s.client->connected(); });
}

TEST(the_descriptor_stays_and_is_ready_when_something_is_due) {
    Theatre s;
    auto& client = s.open();
    const int fd = client.fd();
    const auto ready = [&](int timeout) {
        pollfd one{fd, POLLIN, 0};
        return ::poll(&one, 1, timeout) == 1;
    };
    check_that(!ready(0));
    s.end(s.offer_shrink(), AgreementEvent::cancel, "");
    s.deliver();
    check_that(ready(5000));
    Event event;
    while (client.poll(0, event) == 0) check_that(ready(5000));
    // The second message may be in the library already: the descriptor must tell.
    check_that(ready(5000));
    check_eq(client.poll(100, event), 1);
    s.restart();
    check_eq(client.fd(), fd);
    check_that(!ready(0));
}

TEST(outside_a_job_everything_is_harmless) {
    Client client(JobView{}, "not inside a Slurm job");
    Event event;
    check_eq(client.poll(0, event), 0);
    check_eq(client.poll(-1, event), ELASTIC_ENOTELASTIC);
    check_eq(client.accept(1), ELASTIC_ENOTELASTIC);
    check_eq(client.request(1, 1, 0), ELASTIC_ENOTELASTIC);
    check_eq(client.release(1, nullptr), ELASTIC_ENOTELASTIC);
    check_eq(client.progress(1), ELASTIC_ENOTELASTIC);
    check_eq(client.view().nodes, 1);
    check_that(client.fd() >= 0);
}

}  // namespace elastic::libelastic

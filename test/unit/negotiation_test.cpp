// SPDX-License-Identifier: MIT
// What applications are told and answered: each step of an agreement, who may take it, and what
// becomes of it when somebody is late, gone or says what makes no sense.
#include "controller/negotiation/negotiation.hpp"

#include "controller_test.hpp"

using namespace elastic;
using namespace elastic::testing;
using namespace elastic::protocol;

namespace {

constexpr JobId kJob = 7;

// A room with a connected job.
struct Talk : Room {
    Talk() : job(add_connected(kJob)) {}

    // The agreement as it is after an offer and an accept.
    Agreement& accepted_shrink(JobId beneficiary = 0) {
        Agreement& shrink = offer_shrink(job, beneficiary);
        say(kJob, Accept{shrink.op});
        outbox = {};
        return shrink;
    }
    Agreement& accepted_expansion() {
        Agreement& expand = negotiation.offer_expand(job, "n[5-6]", 2, "why", now);
        say(kJob, Accept{expand.op});
        outbox = {};
        return expand;
    }
    Agreement& queued_request() {
        say(kJob, Request{1, 2, 1, 100});
        outbox = {};
        return *state.book.of_job(kJob);
    }
    Agreement& released_shrink() {
        Agreement& shrink = accepted_shrink();
        say(kJob, Done{shrink.op});
        outbox = {};
        return shrink;
    }
    Agreement& applied_expansion() {
        Agreement& expand = accepted_expansion();
        job.nodes = 6;
        job.node_list = "n[1-6]";
        check_ok(state.book.advance(expand, AgreementEvent::apply));
        negotiation.applied(expand, job, "n[5-6]", now);
        outbox = {};
        return expand;
    }

    Job& job;
};

}  // namespace

// ---- coming and going

TEST(a_job_is_welcomed_with_what_is_known_of_it) {
    Room room;
    room.add(kJob);
    room.state.jobs.find(kJob)->annotation.sizes = *parse_size_rule("step:2");
    room.hello(3, kJob);
    const auto welcome = room.only<Welcome>(3);
    check_eq(welcome.sizes, "step:2");
    check_eq(welcome.job, kJob);
    check_that(welcome.malleable && welcome.evolving);
    check_eq(welcome.min, 1);
    check_eq(welcome.max, 8);
    check_eq(welcome.node_list, "n[1-4]");
    check_eq(welcome.nodes, 4);
    check_eq(welcome.batch_host, "n1");
    check_eq(welcome.nonce, "nonce");
    check_eq(welcome.agreement, 0);
    check_eq(welcome.request, 0);
    check_eq(room.state.jobs.find(kJob)->participation.connection, 3U);
}

TEST(who_cannot_take_part_is_told_why_and_dropped) {
    const auto refused = [](Room& room, JobId job, uid_t uid, const char* why) {
        room.hello(3, job, uid);
        const auto failure = room.only<Failure>(3);
        check_eq(fmt::format("{}: {}", failure.code.text(), failure.message), why);
        check_that(failure.fatal);
        check_that(room.closed(3));
    };
    Room room;
    room.add(kJob);
    refused(room, 8, kOwner, "unknown_job: job 8 is not running");
    refused(room, kJob, kStranger, "denied: job 7 is not yours");
    room.state.jobs.find(kJob)->elastic = false;
    refused(room, kJob, kOwner, "not_elastic: job 7 was not submitted with --elastic");
    room.state.jobs.find(kJob)->running = false;
    refused(room, kJob, kOwner, "unknown_job: job 7 is not running");
}

TEST(root_speaks_for_every_job) {
    Room room;
    room.add(kJob);
    room.hello(3, kJob, 0);
    room.only<Welcome>(3);
}

TEST(the_last_process_of_a_job_to_connect_speaks_for_it) {
    Talk talk;
    talk.hello(30, kJob);
    check_eq(talk.failure(kJob), "replaced: another process of this job has connected");
    check_that(talk.closed(kJob));
    talk.only<Welcome>(30);
    talk.offer_shrink(talk.job);
    talk.only<Offer>(30);
    const OpId op = talk.state.book.of_job(kJob)->op;
    talk.say(kJob, Decline{op, ""});  // on the way when it was replaced
    check_that(talk.state.book.of_job(kJob)->state == AgreementState::offered);
    talk.negotiation.on_closed(kJob, talk.now);
    check_eq(talk.job.participation.connection, 30U);
}

TEST(who_is_gone_was_there_until_now) {
    Talk talk;
    talk.now += 50;
    talk.negotiation.on_closed(kJob, talk.now);
    check_eq(talk.job.participation.connection, 0U);
    check_that(talk.job.takes_part(talk.now + 59, 60));
    check_that(!talk.job.takes_part(talk.now + 60, 60));
}

TEST(a_message_for_a_job_that_is_gone_is_passed_over) {
    Talk talk;
    const OpId op = talk.offer_shrink(talk.job).op;
    talk.outbox = {};
    talk.state.jobs.erase(kJob);
    check_that(!talk.say(kJob, Accept{op}));
    check_that(talk.outbox.messages.empty());
}

// What each state looks like to a process that has just connected.
TEST(who_reconnects_is_told_what_is_in_flight) {
    {
        Talk talk;
        const OpId op = talk.queued_request().op;
        talk.hello(kJob + 1, kJob);
        const auto told = talk.told(kJob + 1);
        check_eq(told.size(), 2U);
        check_eq(std::get<Welcome>(told[0]).request, op);
        check_eq(std::get<Welcome>(told[0]).agreement, 0);
        check_eq(std::get<Queued>(told[1]).op, op);
        check_eq(std::get<Queued>(told[1]).token, 0);
    }
    const auto reconnect = [](Talk& talk, const Agreement& agreement, Stage stage) {
        talk.now += 20;
        talk.hello(kJob + 1, kJob);
        auto told = talk.told(kJob + 1);
        check_eq(std::get<Welcome>(told[0]).agreement, agreement.op);
        check_that(std::get<Welcome>(told[0]).stage == stage);
        check_eq(std::get<Offer>(told[1]).op, agreement.op);
        return told;
    };
    {
        Talk talk;
        const auto told = reconnect(talk, talk.offer_shrink(talk.job), Stage::offered);
        check_eq(told.size(), 2U);
        check_eq(std::get<Offer>(told[1]).deadline, 40.0);
        check_eq(std::get<Offer>(told[1]).size_after, 3);
    }
    {
        Talk talk;
        const auto told = reconnect(talk, talk.accepted_shrink(), Stage::accepted);
        check_eq(std::get<Accepted>(told[2]).deadline, 40.0);
    }
    {
        Talk talk;
        check_eq(reconnect(talk, talk.released_shrink(), Stage::released).size(), 2U);
    }
    {
        Talk talk;
        const auto told = reconnect(talk, talk.applied_expansion(), Stage::applied);
        check_eq(std::get<Offer>(told[1]).size_after, 6);
        check_eq(std::get<Applied>(told[2]).changed, "n[5-6]");
        check_eq(std::get<Applied>(told[2]).node_list, "n[1-6]");
    }
    {
        Talk talk;  // the nodes are its own, and their prolog still runs
        Agreement& expand = talk.accepted_expansion();
        talk.job.nodes = 6;
        talk.job.node_list = "n[1-6]";
        check_ok(talk.state.book.advance(expand, AgreementEvent::join));
        const auto told = reconnect(talk, expand, Stage::accepted);
        check_eq(std::get<Welcome>(told[0]).node_list, "n[1-4]");
        check_eq(std::get<Welcome>(told[0]).nodes, 4);
    }
}

// ---- a resize

TEST(a_shrink_step_by_step) {
    Talk talk;
    Agreement& shrink = talk.offer_shrink(talk.job, 9);
    const auto offer = talk.only<Offer>(kJob);
    check_eq(offer.op, shrink.op);
    check_eq(offer.nodes, 1);
    check_eq(offer.size_after, 3);
    check_eq(offer.node_list, "n4");
    check_eq(offer.deadline, 60.0);
    check_eq(offer.reason, "why");
    check_eq(talk.noted(), "offer");

    talk.now += 10;
    check_that(!talk.say(kJob, Accept{shrink.op}));
    check_eq(talk.only<Accepted>(kJob).deadline, 60.0);
    check_eq(shrink.deadline, 1070.0);
    check_eq(talk.noted(), "accept");

    check_that(!talk.say(kJob, Done{shrink.op}));
    check_that(shrink.state == AgreementState::released);
    check_eq(shrink.deadline, kNever);  // it is others whom it waits for now
    check_eq(talk.noted(), "release");
    talk.say(kJob, Done{shrink.op});  // said twice
    check_eq(talk.noted(), "");

    check_ok(talk.state.book.advance(shrink, AgreementEvent::apply));
    talk.job.nodes = 3;
    talk.job.node_list = "n[1-3]";
    talk.negotiation.applied(shrink, talk.job, "n4", talk.now);
    const auto applied = talk.only<Applied>(kJob);
    check_eq(applied.changed, "n4");
    check_eq(applied.node_list, "n[1-3]");
    check_eq(applied.nodes, 3);
}

TEST(an_expansion_step_by_step) {
    Talk talk;
    Agreement& expand = talk.negotiation.offer_expand(talk.job, "n[5-6]", 2, "why", talk.now);
    const auto offer = talk.only<Offer>(kJob);
    check_eq(offer.size_after, 6);
    check_eq(offer.node_list, "");  // others may take their place
    talk.say(kJob, Accept{expand.op});
    talk.only<Accepted>(kJob);
    talk.say(kJob, Done{expand.op});
    check_eq(talk.failure(kJob), fmt::format("state: operation {} of job 7 (expand) is accepted: "
                                             "it cannot ready",
                                             expand.op));
    check_ok(talk.state.book.advance(expand, AgreementEvent::apply));
    talk.negotiation.applied(expand, talk.job, "n[8-9]", talk.now);
    check_eq(expand.node_list, "n[8-9]");
    check_eq(expand.deadline, talk.now + 60);
    talk.only<Applied>(kJob);
    check_eq(talk.noted(), "offer accept");
    check_that(talk.say(kJob, Done{expand.op}));  // it may be resized again
    check_that(talk.state.book.of_job(kJob) == nullptr);
    check_eq(talk.noted(), "ready");
}

TEST(a_job_has_the_grace_that_it_asked_for_within_the_sites_limit) {
    Talk talk;
    talk.config.max_grace_time = 200;
    talk.job.annotation.grace = 90;
    talk.offer_shrink(talk.job);
    check_eq(talk.only<Offer>(kJob).deadline, 90.0);
    talk.job.annotation.grace = 900;
    talk.say(kJob, Accept{talk.state.book.of_job(kJob)->op});
    check_eq(talk.only<Accepted>(kJob).deadline, 200.0);
}

TEST(nodes_that_are_not_taken_are_promised_to_nobody) {
    Talk talk;
    Agreement& expand = talk.negotiation.offer_expand(talk.job, "n[5-8]", 4, "why", talk.now);
    talk.outbox = {};
    check_that(talk.say(kJob, Accept{expand.op, 3}));  // others may have what is left
    check_eq(talk.only<Accepted>(kJob).op, expand.op);
    check_that(expand.state == AgreementState::accepted);
    check_eq(expand.nodes, 3);
    check_eq(expand.coming(), 3);
    check_eq(expand.node_list, "n[5-7]");
    check_eq(std::get<journal::Accept>(talk.outbox.events.front().what).count, 3);
    check_eq(talk.job.participation.not_before, talk.now + 300);
}

TEST(who_takes_all_nodes_declines_none) {
    Talk talk;
    Agreement& expand = talk.negotiation.offer_expand(talk.job, "", 2, "why", talk.now);
    talk.outbox = {};
    check_that(!talk.say(kJob, Accept{expand.op, 2}));
    talk.only<Accepted>(kJob);
    check_eq(std::get<journal::Accept>(talk.outbox.events.front().what).count, 0);
    check_eq(talk.job.participation.not_before, 0.0);
}

TEST(a_size_that_cannot_be_is_refused_and_the_offer_stands) {
    Talk talk;
    talk.job.annotation.sizes = *core::parse_size_rule("step:2");
    Agreement& expand = talk.negotiation.offer_expand(talk.job, "n[5-8]", 4, "why", talk.now);
    talk.outbox = {};
    const auto refused = [&](OpId op, int count) {
        check_that(!talk.say(kJob, Accept{op, count}));
        const auto failure = talk.only<Failure>(kJob);
        check_eq(failure.op, op);
        check_that(!failure.fatal);
        return failure.message;
    };
    check_eq(refused(expand.op, 5),
             fmt::format("operation {} is of 4 nodes: 5 cannot be taken", expand.op));
    check_eq(refused(expand.op, 3), "job 7 would have 7 nodes (min=1, max=8, sizes=step:2)");
    check_that(expand.state == AgreementState::offered);
    check_eq(expand.node_list, "n[5-8]");
    check_eq(talk.noted(), "");
    talk.say(kJob, Accept{expand.op, 2});
    check_eq(talk.only<Accepted>(kJob).op, expand.op);
}

TEST(a_shrink_is_accepted_as_a_whole) {
    Talk talk;
    Agreement& shrink = talk.negotiation.offer_shrink(talk.job, "n[3-4]", 2, 0, "why", talk.now);
    talk.outbox = {};
    talk.say(kJob, Accept{shrink.op, 1});
    check_eq(talk.failure(kJob), fmt::format("denied: operation {} is a shrink, which is accepted "
                                             "as a whole or declined",
                                             shrink.op));
    talk.say(kJob, Accept{shrink.op, 2});
    check_that(shrink.state == AgreementState::accepted);
}

TEST(a_request_may_be_content_with_fewer_nodes_while_it_waits) {
    Talk talk;
    Job& victim = talk.add_connected(9, "n[9-12]");
    Agreement& request = talk.queued_request();
    request.granted = 2;
    request.node_list = "n5";
    Agreement& shrink = talk.offer_shrink(victim, kJob);
    talk.outbox = {};
    talk.say(kJob, Accept{request.op, 3});
    check_eq(talk.only<Failure>(kJob).op, request.op);
    check_that(talk.say(kJob, Accept{request.op, 1}));  // to be decided anew
    check_eq(request.nodes, 1);
    check_eq(request.granted, 0);
    check_eq(request.node_list, "");
    check_that(request.state == AgreementState::queued);
    check_that(shrink.state == AgreementState::cancelled);
    check_eq(talk.noted(), "accept cancel");
    check_that(!talk.say(kJob, Accept{request.op, 1}));  // said again
    check_eq(talk.noted(), "");
}

TEST(an_accept_said_twice_is_answered_twice_and_counts_once) {
    Talk talk;
    Agreement& shrink = talk.accepted_shrink();
    talk.now += 30;
    talk.say(kJob, Accept{shrink.op});
    const auto told = talk.told(kJob);
    check_eq(std::get<Accepted>(told.back()).deadline, 30.0);
    check_eq(shrink.deadline, 1060.0);
    check_eq(talk.noted(), "");
}

TEST(nobody_acts_on_an_agreement_of_another_job) {
    Talk talk;
    talk.add_connected(8, "n[5-8]");
    const OpId op = talk.offer_shrink(talk.job).op;
    const Message attempts[] = {Accept{op}, Decline{op, ""}, Done{op}, Cancel{op}};
    for (const Message& attempt : attempts) {
        talk.say(8, attempt);
        check_eq(talk.failure(8),
                 fmt::format("state: operation {} is not in flight for job 8", op));
    }
    talk.say(kJob, Accept{op + 1});
    check_that(talk.state.book.of_job(kJob)->state == AgreementState::offered);
}

TEST(what_resizes_take_is_measured) {
    Talk talk;
    Agreement& shrink = talk.accepted_shrink();
    talk.now += 8;
    talk.say(kJob, Done{shrink.op});
    check_eq(talk.job.rescale.seconds(), 8.0);
    talk.now += 100;  // until others have left their nodes
    talk.say(kJob, Done{shrink.op});
    check_eq(talk.job.rescale.count(), 1);
    check_ok(talk.state.book.advance(shrink, AgreementEvent::apply));
    Agreement& expand = talk.negotiation.offer_expand(talk.job, "n[5-6]", 2, "why", talk.now);
    talk.now += 30;  // to its next place to answer
    talk.say(kJob, Accept{expand.op});
    talk.now += 30;  // the prolog
    talk.job.nodes = 6;
    check_ok(talk.state.book.advance(expand, AgreementEvent::apply));
    talk.negotiation.applied(expand, talk.job, "n[5-6]", talk.now);
    talk.now += 2;
    talk.say(kJob, Done{expand.op});
    check_eq(talk.job.rescale.count(), 2);
    check_eq(talk.job.rescale.seconds(), 5.0);
    check_eq(talk.job.cost().seconds(4, 5), 5.0);
}

TEST(a_resize_during_a_restart_is_not_measured) {
    Talk talk;
    Agreement& shrink = talk.accepted_shrink();
    talk.negotiation.after_restart(talk.now += 500);
    talk.say(kJob, Done{shrink.op});
    check_eq(talk.job.rescale.count(), 0);
}

TEST(a_resize_corrects_what_was_declared_of_that_size) {
    Talk talk;
    talk.job.annotation.cost.alpha = 4;  // for a node
    Agreement& shrink = talk.accepted_shrink();
    talk.now += 8;
    talk.say(kJob, Done{shrink.op});
    check_eq(talk.job.cost().alpha, 6.0);
}

TEST(a_declined_offer_is_over_and_no_other_comes_soon) {
    Talk talk;
    const OpId op = talk.offer_shrink(talk.job).op;
    talk.outbox = {};
    check_that(talk.say(kJob, Decline{op, "busy"}));
    const auto ended = talk.only<Ended>(kJob);
    check_that(ended.outcome == Outcome::declined);
    check_eq(ended.reason, "busy");
    check_eq(talk.job.participation.not_before, talk.now + 300);
    check_eq(talk.job.last_reason, "busy");
    check_eq(talk.noted(), "decline");
    check_that(talk.state.book.of_job(kJob) == nullptr);
}

// Another job may start by it, which only a plan finds out.
TEST(a_plan_follows_what_a_victim_says_where_claims_are_traded) {
    for (const auto starts_on : {core::StartsOn::idle, core::StartsOn::steal}) {
        Talk talk;
        talk.config.policy.starts_on = starts_on;
        const bool is_traded = starts_on == core::StartsOn::steal;
        Agreement& shrink = talk.offer_shrink(talk.job, 9);
        check_eq(talk.say(kJob, Accept{shrink.op}), is_traded);
        check_eq(talk.say(kJob, Done{shrink.op}), is_traded);
    }
    Talk talk;
    talk.config.policy.starts_on = core::StartsOn::pool;
    Agreement& for_anybody = talk.accepted_shrink();
    check_that(!talk.say(kJob, Done{for_anybody.op}));
}

TEST(what_is_released_is_neither_declined_nor_cancelled) {
    Talk talk;
    const OpId op = talk.released_shrink().op;
    talk.say(kJob, Decline{op, ""});
    check_eq(talk.failure(kJob),
             fmt::format("state: operation {} is released and can no longer be declined", op));
    talk.say(kJob, Cancel{op});
    check_eq(talk.failure(kJob),
             fmt::format("state: operation {} is released and can no longer be cancelled", op));
}

TEST(who_cancels_is_not_asked_again_soon_and_who_withdraws_a_request_is) {
    {
        Talk talk;
        const OpId op = talk.accepted_expansion().op;
        check_that(talk.say(kJob, Cancel{op}));
        check_that(talk.only<Ended>(kJob).outcome == Outcome::cancelled);
        check_eq(talk.job.participation.not_before, talk.now + 300);
        check_eq(talk.noted(), "cancel");
    }
    Talk talk;
    const OpId op = talk.queued_request().op;
    check_that(talk.say(kJob, Cancel{op}));
    check_that(talk.only<Ended>(kJob).outcome == Outcome::cancelled);
    check_eq(talk.job.participation.not_before, 0.0);
}

TEST(what_only_others_say_is_malformed) {
    Talk talk;
    const Message attempts[] = {Welcome{}, Offer{},      Accepted{}, Applied{}, Ended{},
                                Queued{},  Reply{0, {}}, Query{},    Failure{}, Planned{}};
    for (const Message& attempt : attempts) {
        check_that(!talk.say(kJob, attempt));
        check_eq(talk.failure(kJob), "malformed: an application does not send such a message");
    }
}

TEST(progress_moves_the_estimated_end) {
    Talk talk;
    talk.job.time.begin(0, {9000, 150}, 4, talk.job.annotation);
    talk.say(kJob, Progress{500});
    check_eq(talk.job.time.estimated_end(talk.now), 1500.0);
}

TEST(progress_on_both_sides_of_a_resize_tells_how_the_job_scales) {
    Talk talk;
    talk.say(kJob, Progress{800});
    talk.applied_expansion();
    talk.job.scaling.resize(talk.now, 4, 8, 0);
    talk.job.nodes = 8;
    talk.say(kJob, Progress{800});  // it does not use them yet
    check_eq(talk.job.scaling.measured(), 0);
    talk.say(kJob, Done{talk.state.book.of_job(kJob)->op});
    talk.say(kJob, Progress{600});  // of 800 s on 4 nodes: T(n) = 1/5 + 4/5n
    check_eq(talk.job.scaling.measured(), 1);
    check_near(talk.job.scaling.model({}).a, 0.2, 1e-9);
}

// ---- evolution profiles

namespace {

// With a profile, begun at time 1000; the job has 4 nodes.
struct Evolving : Talk {
    explicit Evolving(core::EvolutionProfile profile) {
        job.annotation.malleable = false;
        job.annotation.profile = profile;
        job.evolution.begin(now, profile);
    }
    void hold(int nodes) {
        job.nodes = nodes;
        job.node_list = fmt::format("n[1-{}]", nodes);
    }
    Agreement* agreement() { return state.book.of_job(kJob); }
};

}  // namespace

TEST(a_step_that_is_due_is_a_request_without_an_end) {
    Evolving talk({{4, 50}, {6, 50}, {2, 50}});
    check_that(!talk.negotiation.follow_steps(talk.now));
    check_eq(talk.negotiation.next_step(), talk.now + 50);
    talk.now += 50;
    check_that(talk.negotiation.follow_steps(talk.now));
    const Agreement& request = *talk.agreement();
    check_that(request.state == AgreementState::queued && request.requested && request.for_step);
    check_eq(request.nodes, 2);
    check_eq(request.least, 2);
    check_eq(request.deadline, kNever);
    const auto told = talk.told(kJob);
    check_eq(told.size(), 2U);
    check_that(std::get<Planned>(told[0]).waits);
    check_eq(std::get<Queued>(told[1]).op, request.op);
    check_that(!talk.negotiation.follow_steps(talk.now));  // it is asked for already
    check_eq(talk.negotiation.next_step(), kNever);
}

TEST(a_step_with_fewer_nodes_is_an_offer_to_who_is_there) {
    Evolving talk({{4, 50}, {3, 50}});
    talk.now += 50;
    talk.negotiation.follow_steps(talk.now);
    check_that(talk.agreement()->kind == ResizeKind::shrink);
    check_eq(talk.agreement()->node_list, "n4");
    const OpId op = talk.agreement()->op;
    talk.say(kJob, Decline{op, ""});
    talk.state.book.forget_finished();
    talk.negotiation.follow_steps(talk.now);
    check_that(!talk.agreement());  // not before its back-off is over
    talk.now += talk.config.back_off;
    talk.negotiation.follow_steps(talk.now);
    check_that(talk.agreement()->op > op);
}

TEST(nobody_is_asked_to_give_back_who_cannot_answer) {
    Evolving talk({{4, 50}, {3, 50}});
    talk.negotiation.on_closed(kJob, talk.now);
    talk.now += 5000;
    talk.negotiation.follow_steps(talk.now);
    check_that(!talk.agreement() && talk.job.evolution.has_excess(4));
    talk.hello(kJob, kJob);
    talk.negotiation.follow_steps(talk.now);
    check_that(talk.agreement() != nullptr);
}

TEST(a_step_said_by_the_application_begins_at_once) {
    Evolving talk({{4, 5000}, {6, 50}});
    check_that(talk.say(kJob, protocol::Step{99, 5, 0}));
    check_eq(talk.agreement()->nodes, 1);
    const auto told = talk.told(kJob);
    const auto& planned = std::get<Planned>(told[0]);
    check_eq(planned.token, 99);
    check_eq(planned.number, 2);
    check_eq(planned.nodes, 5);
    talk.say(kJob, protocol::Step{100, 7, 0});  // and it needs two more
    check_eq(talk.agreement()->nodes, 3);
    talk.say(kJob, protocol::Step{101, 4, 0});  // or none
    check_that(!talk.agreement() && !talk.job.evolution.waits());
}

TEST(a_step_that_cannot_be_is_refused) {
    Evolving talk({{4, 5000}});
    check_that(!talk.say(kJob, protocol::Step{99, 9, 0}));
    check_eq(talk.failure(kJob),
             "denied: a step of 9 nodes is not possible (min=1, max=8, sizes=any)");
    talk.job.annotation.malleable = true;
    talk.say(kJob, protocol::Step{99, 5, 0});
    check_eq(talk.failure(kJob),
             "denied: job 7 is not of the class evolving alone, so it has no steps");
}

TEST(who_cancels_the_request_of_a_step_goes_on_without_its_nodes) {
    Evolving talk({{4, 50}, {6, 50}, {2, 50}});
    talk.now += 50;
    talk.negotiation.follow_steps(talk.now);
    talk.say(kJob, Cancel{talk.agreement()->op});
    talk.state.book.forget_finished();
    check_that(!talk.negotiation.follow_steps(talk.now));
    check_that(!talk.agreement() && !talk.job.evolution.waits());
    check_eq(talk.negotiation.next_step(), talk.now + 50);
}

// ---- what applications ask for

TEST(a_request_waits_for_the_next_pass) {
    Talk talk;
    check_that(talk.say(kJob, Request{5, 3, 2, 100}));
    const auto queued = talk.only<Queued>(kJob);
    check_eq(queued.token, 5);
    const Agreement& request = *talk.state.book.of_job(kJob);
    check_eq(queued.op, request.op);
    check_that(request.state == AgreementState::queued && request.requested);
    check_eq(request.nodes, 3);
    check_eq(request.least, 2);
    check_eq(request.deadline, talk.now + 100);
    check_eq(talk.noted(), "request");
    talk.say(kJob, Request{6, 1, 1, 100});
    check_eq(talk.failure(kJob),
             fmt::format("state: operation {} of job 7 is in flight (expand, queued)", queued.op));
}

TEST(only_evolving_jobs_that_run_ask_for_nodes) {
    Talk talk;
    talk.job.running = false;
    talk.say(kJob, Request{5, 1, 1, 0});
    check_eq(talk.failure(kJob), "state: job 7 is suspended");
    talk.job.annotation.evolving = false;
    talk.say(kJob, Request{5, 1, 1, 0});
    check_eq(talk.failure(kJob),
             "denied: job 7 is not evolving: submit it with --elastic=evolving to ask for nodes");
}

TEST(who_asks_in_vain_too_often_has_to_wait) {
    Talk talk;
    for (int i = 0; i < 20; ++i) {
        talk.say(kJob, Request{5, 1, 1, 100});
        talk.say(kJob, Cancel{talk.only<Queued>(kJob).op});
        talk.only<Ended>(kJob);
    }
    talk.say(kJob, Request{5, 1, 1, 100});
    check_eq(talk.failure(kJob),
             "limit: too much was asked for job 7 and denied, declined or cancelled; ask again in "
             "1 s");
    talk.now += 1;
    talk.say(kJob, Request{5, 1, 1, 100});
    talk.only<Queued>(kJob);
}

TEST(a_request_whose_time_is_over_is_for_the_next_pass_to_decide) {
    Talk talk;
    talk.queued_request();
    talk.now += 99;
    check_that(!talk.negotiation.check_deadlines(talk.now));
    talk.now += 1;
    check_that(talk.negotiation.check_deadlines(talk.now));
    check_that(talk.state.book.of_job(kJob) != nullptr);
}

TEST(a_request_whose_victims_took_too_long_is_denied) {
    Talk talk;
    talk.queued_request().granted = 1;
    Job& victim = talk.add_connected(8, "n[5-8]");
    const OpId shrink = talk.offer_shrink(victim, kJob).op;
    talk.outbox = {};
    talk.config.grace_time = 1000;
    talk.state.book.find(shrink)->deadline = kNever;
    talk.now += 100;
    check_that(!talk.negotiation.check_deadlines(talk.now));
    const auto ended = talk.only<Ended>(kJob);
    check_that(ended.outcome == Outcome::denied);
    check_eq(ended.reason, "no nodes within the time the application gave");
    check_that(talk.only<Ended>(8).outcome == Outcome::cancelled);
    check_eq(talk.noted(), "deny cancel");
}

TEST(nodes_that_a_job_gives_back_are_released_at_once) {
    Talk talk;
    check_that(talk.say(kJob, Release{5, 2, ""}));
    const Agreement& shrink = *talk.state.book.of_job(kJob);
    check_that(shrink.state == AgreementState::released && shrink.requested);
    check_eq(shrink.node_list, "n[3-4]");
    check_eq(shrink.nodes, 2);
    check_eq(shrink.deadline, kNever);
    check_eq(talk.only<Queued>(kJob).token, 5);
    check_eq(talk.noted(), "release");
}

TEST(a_release_names_nodes_that_can_go) {
    const auto denied = [](const Release& release, const char* why) {
        Talk talk;
        talk.job.annotation.min = 2;
        check_that(!talk.say(kJob, release));
        check_eq(talk.failure(kJob), why);
        check_that(talk.state.book.of_job(kJob) == nullptr);
    };
    denied({5, 0, "n9"}, "denied: job 7 does not hold n9");
    denied({5, 0, "n[1-2]"}, "denied: job 7 cannot give up n1: its batch script runs there");
    denied({5, 4, ""}, "denied: job 7 has 4 nodes and cannot give up 4");
    denied({5, 3, ""}, "denied: job 7 would have 1 nodes left (min=2, max=8, sizes=any)");
    denied({5, 0, "n[1-99]"}, "denied: node list: more than 4 names");
    Talk talk;
    talk.say(kJob, Release{5, 0, "n[2,2,4]"});  // a name said twice is one node
    check_eq(talk.state.book.of_job(kJob)->nodes, 2);
}

// ---- deadlines

TEST(who_does_not_answer_in_time_is_left_alone_for_a_while) {
    Talk talk;
    talk.offer_shrink(talk.job);
    talk.outbox = {};
    talk.now += 59;
    check_that(!talk.negotiation.check_deadlines(talk.now));
    check_eq(talk.noted(), "");
    talk.now += 1;
    check_that(!talk.negotiation.check_deadlines(talk.now));
    const auto ended = talk.only<Ended>(kJob);
    check_that(ended.outcome == Outcome::expired);
    check_eq(ended.reason, "no answer in time");
    check_eq(talk.job.participation.not_before, talk.now + 300);
    check_eq(talk.noted(), "expire");
}

TEST(who_has_not_left_in_time_may_stay_or_not_as_the_site_says) {
    {
        Talk talk;
        talk.accepted_shrink();
        talk.now += 60;
        talk.negotiation.check_deadlines(talk.now);
        check_eq(talk.only<Ended>(kJob).reason, "not done in time");
        check_that(talk.state.book.of_job(kJob) == nullptr);
    }
    Talk talk;
    talk.config.shrink_timeout = core::ShrinkTimeout::kill;
    Agreement& shrink = talk.accepted_shrink();
    talk.now += 60;
    talk.negotiation.check_deadlines(talk.now);
    check_that(shrink.state == AgreementState::released);
    check_eq(shrink.deadline, kNever);
    check_eq(shrink.reason, "why, taken at the deadline");
    check_that(talk.outbox.unsaved);
    check_eq(talk.noted(), "");  // the job has not released anything
}

TEST(nodes_that_came_stay_whether_they_are_used_or_not) {
    Talk talk;
    Agreement& expand = talk.applied_expansion();
    talk.now += 60;
    talk.negotiation.check_deadlines(talk.now);
    check_that(expand.state == AgreementState::done);
    check_that(talk.told(kJob).empty());
    check_that(talk.outbox.unsaved);
}

TEST(after_a_restart_applications_have_their_time_anew) {
    Talk talk;
    Agreement& offered = talk.offer_shrink(talk.job);
    talk.add_connected(8, "n[5-8]");
    talk.say(8, Request{1, 1, 1, 100});
    talk.add_connected(9, "n[9-12]");
    talk.say(9, Release{1, 1, ""});
    talk.now += 1000;
    talk.negotiation.after_restart(talk.now);
    check_eq(offered.deadline, talk.now + 60);
    check_eq(talk.state.book.of_job(8)->deadline, 1100.0);  // its own, which goes on
    check_eq(talk.state.book.of_job(9)->deadline, kNever);
}

// ---- beneficiaries

TEST(a_victim_that_declines_frees_the_others) {
    Talk talk;
    Job& second = talk.add_connected(8, "n[5-8]");
    Job& third = talk.add_connected(9, "n[9-12]");
    const OpId declined = talk.offer_shrink(talk.job, 20).op;
    const OpId offered = talk.offer_shrink(second, 20).op;
    Agreement& accepted = talk.offer_shrink(third, 20);
    talk.say(9, Accept{accepted.op});
    talk.state.book.claim(20, {3, "n16"});
    talk.outbox = {};
    talk.say(kJob, Decline{declined, ""});
    check_that(talk.state.book.find(offered)->state == AgreementState::cancelled);
    check_eq(talk.only<Ended>(8).reason, "the nodes are not wanted any more");
    check_that(accepted.state == AgreementState::accepted);  // it is moving its data
    check_eq(accepted.beneficiary, 0U);
    check_that(talk.state.book.claim_of(20) == nullptr);
    check_eq(talk.noted(), "decline cancel");
}

TEST(a_request_whose_victim_declines_waits_for_all_again) {
    Talk talk;
    Agreement& request = talk.queued_request();
    request.granted = 1;
    request.node_list = "n16";
    Job& victim = talk.add_connected(8, "n[5-8]");
    talk.say(8, Decline{talk.offer_shrink(victim, kJob).op, ""});
    check_that(request.state == AgreementState::queued);
    check_eq(request.granted, 0);
    check_eq(request.node_list, "");
}

// ---- ends of jobs

TEST(with_a_job_ends_what_was_in_flight_and_its_connection) {
    Talk talk;
    Agreement& shrink = talk.accepted_shrink();
    talk.negotiation.job_ended(talk.job, talk.now);
    check_that(shrink.state == AgreementState::cancelled);
    check_eq(talk.only<Ended>(kJob).reason, "the job has ended");
    check_that(talk.closed(kJob));
    check_eq(talk.job.participation.connection, 0U);
    check_that(!talk.job.takes_part(talk.now, 60));
}

TEST(with_a_suspension_ends_what_was_in_flight_but_nodes_that_came_stay) {
    {
        Talk talk;
        Agreement& shrink = talk.offer_shrink(talk.job);
        talk.outbox = {};
        talk.negotiation.job_suspended(talk.job, talk.now);
        check_that(shrink.state == AgreementState::cancelled);
        check_eq(talk.only<Ended>(kJob).reason, "the job is suspended");
        talk.negotiation.job_suspended(talk.job, talk.now);  // nothing is left to end
    }
    {
        Talk talk;
        Agreement& expand = talk.applied_expansion();
        talk.negotiation.job_suspended(talk.job, talk.now);
        check_that(expand.state == AgreementState::done);
    }
    Talk talk;
    Agreement& expand = talk.accepted_expansion();
    check_ok(talk.state.book.advance(expand, AgreementEvent::join));
    talk.negotiation.job_suspended(talk.job, talk.now);
    check_that(expand.state == AgreementState::done);
    check_eq(talk.only<Applied>(kJob).changed, "n[5-6]");
}

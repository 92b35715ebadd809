// SPDX-License-Identifier: MIT
// What tools are answered: who sees what, what an answer leaves out, and which resizes an operator
// or a user may ask for.
#include "controller/queries.hpp"

#include "controller_test.hpp"
#include "folder.hpp"
#include "journal/journal.hpp"

using namespace elastic;
using namespace elastic::testing;
using namespace elastic::protocol;

namespace {

constexpr ConnectionId kTool = 99;

Query query(const char* what, JobId job = 0) {
    Query query;
    query.token = 5;
    query.what = OpenWord<Question>(what);
    query.job = job;
    return query;
}

Query sized(const char* what, JobId job, int nodes) {
    Query asked = query(what, job);
    asked.nodes = nodes;
    return asked;
}

// A room with a desk for tools.
struct Desk : Room {
    Json reply(const Query& asked, uid_t uid = kOperator) {
        ask(kTool, asked, uid);
        const auto reply = only<Reply>(kTool);
        check_eq(reply.token, asked.token);
        return reply.body;
    }
    std::string denied(const Query& asked, uid_t uid = kOperator) {
        ask(kTool, asked, uid);
        const auto failure = only<Failure>(kTool);
        check_eq(failure.token, asked.token);
        check_eq(failure.code.text(), "denied");
        check_that(!failure.fatal);
        return failure.message;
    }
    // The jobs of an answer, by number.
    std::string listed(uid_t uid) {
        std::string ids;
        const Json jobs = reply(query("jobs"), uid).get("jobs");
        for (std::size_t i = 0; i < jobs.size(); ++i)
            ids += fmt::format("{}{}", i ? " " : "", jobs.at(i).get_int("job"));
        return ids;
    }
    Json evacuated(const char* nodes = "n[1-4]") {
        Query asked = query("evacuate");
        asked.node = nodes;
        return reply(asked).get("jobs");
    }
    // What is said of the only job that is on nodes to be emptied.
    std::string prospect(const Occupant& occupant) {
        emptying.occupants = {occupant};
        const Json job = evacuated().at(0);
        return fmt::format("{}: {}", job.get_bool("leaves"), job.get_string("text"));
    }
};

// What `selastic jobs` says of the supply that is not in force.
std::string supply_errors(const Json& reply) {
    std::string text;
    const Json errors = reply.get("supply_errors");
    for (std::size_t i = 0; i < errors.size(); ++i)
        text += errors.at(i).get_string("message") + "; ";
    return text;
}

struct WithJournal : Desk {
    WithJournal() {
        site.journal_path = folder / "journal";
        journal::Writer writer;
        check_ok(writer.open(site.journal_path));
        for (JobId job : {7, 8, 7}) check_ok(writer.write({1, journal::End{job, "COMPLETED", 1}}));
    }
    Folder folder;
};

}  // namespace

TEST(a_tool_is_welcomed_and_sends_queries_only) {
    Desk desk;
    Hello hello;
    hello.role = Role::tool;
    hello.nonce = "n";
    desk.queries.on_message({kTool, kStranger, false, hello}, desk.now);
    check_eq(desk.only<Welcome>(kTool).nonce, "n");
    desk.queries.on_message({kTool, kStranger, false, Accept{3}}, desk.now);
    check_eq(desk.failure(kTool), "malformed: a tool sends queries only");
    check_eq(desk.denied(query("dance")), "\"dance\" is not known to this controller");
}

TEST(a_number_beyond_all_that_are_known_may_be_a_new_jobs) {
    Desk desk;
    check_that(desk.queries.is_of_new_job(query("show", 1)));
    desk.add(7);
    check_that(desk.queries.is_of_new_job(query("show", 8)));
    for (const JobId job : {7, 6, 0}) check_that(!desk.queries.is_of_new_job(query("show", job)));
    Query element = query("show", 8);
    element.task = 3;
    check_that(!desk.queries.is_of_new_job(element));
}

TEST(jobs_are_listed_to_whom_they_concern) {
    Desk desk;
    desk.add(7);
    desk.add(8).owner = kStranger;
    check_eq(desk.listed(kOwner), "7 8");
    desk.site.private_jobs = true;
    check_eq(desk.listed(kOwner), "7");
    check_eq(desk.listed(kStranger), "8");
    check_eq(desk.listed(kOperator), "7 8");
    check_eq(desk.listed(77), "");
}

TEST(a_listed_job_says_what_is_in_flight) {
    Desk desk;
    Job& job = desk.add_connected(7);
    job.name = std::string(100, 'x');
    job.array = "6_1";
    job.time.begin(0, {1600, 26}, 4, job.annotation);
    desk.offer_shrink(job);
    const Json answer = desk.reply(query("jobs"), kStranger);
    check_eq(answer.get_int("nodes"), 16);
    check_eq(answer.get_int("idle"), 8);
    const Json listed = answer.get("jobs").at(0);
    check_eq(listed.get_string("user"), "user1000");
    check_eq(listed.get_string("name"), std::string(64, 'x'));
    check_eq(listed.get_string("array"), "6_1");
    check_eq(listed.get_string("class"), "malleable+evolving");
    check_eq(listed.get_string("state"), "RUNNING");
    check_eq(listed.get_number("time_left"), 600.0);
    check_that(listed.get_bool("connected"));
    const Json agreement = listed.get("agreement");
    check_eq(agreement.get_string("state"), "offered");
    check_eq(agreement.get_string("node_list"), "n4");
    check_eq(agreement.get_number("deadline"), 60.0);
}

TEST(of_many_jobs_those_that_do_not_run_are_left_out_first) {
    Desk desk;
    for (JobId id = 1; id <= 1600; ++id) {
        Job& job = desk.add(id);
        job.elastic = id != 3;
        job.running = id % 2 == 0;
    }
    const Json answer = desk.reply(query("jobs"));
    check_eq(answer.get("jobs").size(), 1500U);
    check_eq(answer.get_int("left_out"), 100);
    check_eq(answer.get("jobs").at(0).get_int("job"), 1);
    check_eq(answer.get("jobs").at(1).get_int("job"), 2);
    check_eq(answer.get("jobs").at(2).get_int("job"), 4);  // 3 is rigid
    check_eq(answer.get("jobs").at(1499).get_int("job"), 1600);
}

TEST(an_answer_fits_into_a_reply_whatever_jobs_are_called) {
    Desk desk;
    for (JobId id = 1; id <= 1500; ++id) desk.add(id).last_reason = std::string(1000, '\x1b');
    desk.ask(kTool, query("jobs"), kOperator);
    const auto reply = desk.only<Reply>(kTool);
    check_that(reply.body.dump().size() <= 700u << 10);
    check_that(reply.body.get("jobs").size() > 50);
    check_eq(
        reply.body.get("jobs").size() + static_cast<std::size_t>(reply.body.get_int("left_out")),
        1500U);
}

TEST(a_job_is_shown_with_its_history) {
    WithJournal desk;
    desk.add(7);
    const Json job = desk.reply(query("show", 7)).get("job");
    check_eq(job.get("history").size(), 2U);
    check_eq(job.get("annotation").get_int("max"), 8);
    const Json ended = desk.reply(query("show", 8)).get("job");
    check_eq(ended.get_string("state"), "ENDED");
    check_eq(ended.get("history").size(), 1U);
    check_eq(
        desk.denied(query("show", 9)),
        "job 9 is not known; squeue lists jobs that wait and run, sacct those that have ended");
    desk.site.private_jobs = true;
    check_eq(desk.denied(query("show", 7), kStranger), "job 7 is not yours");
    check_eq(desk.denied(query("show", 8), kStranger),
             "job 8 is not known or not yours; squeue --me lists yours");
    check_eq(desk.reply(query("show", 7), kOwner).get("job").get_int("job"), 7);
}

TEST(an_element_of_an_array_has_its_name) {
    WithJournal desk;
    desk.add(7).array = "6_1";
    Query asked = query("show", 6);
    asked.task = 1;
    check_eq(desk.reply(asked).get("job").get_int("job"), 7);
    asked.task = 2;
    check_eq(desk.denied(asked),
             "job 6_2 neither runs nor waits by itself; if it has ended, give the number that "
             "`sacct -j 6_2 -o JobIDRaw` shows");
}

TEST(the_journal_is_read_from_its_end_and_on_from_a_place) {
    WithJournal desk;
    desk.add(7).array = "6_1";
    Query asked = query("journal");
    asked.tail = 2;
    const Json answer = desk.reply(asked, kStranger);
    check_eq(answer.get("events").size(), 2U);
    check_eq(answer.get("events").at(0).get_int("job"), 8);
    check_eq(answer.get("names").get_string("7"), "6_1");
    asked.after = answer.get_string("next");
    check_eq(desk.reply(asked).get("events").size(), 0U);
    asked.after = "nowhere";
    check_eq(desk.denied(asked), "after: 'nowhere' is no place in a journal");
    desk.site.private_jobs = true;
    check_eq(desk.denied(query("journal"), kOwner),
             "PrivateData has jobs: the journal is for operators, show JOB for owners");
    desk.site.journal_path = "/dev/null/journal";
    check_eq(desk.denied(query("journal")), "cannot open /dev/null/journal: Not a directory");
}

TEST(a_snapshot_is_given_in_pieces_of_one_pass) {
    Desk desk;
    check_eq(desk.denied(query("snapshot"), kOwner),
             "only an operator may take a snapshot; root, SlurmUser and those with "
             "AdminLevel=Operator (sacctmgr) are");
    check_eq(desk.denied(query("snapshot")),
             "no planning pass has been made yet; ask again in some seconds");
    desk.recording = std::string(600u << 10, 'r');
    Query asked = query("snapshot");
    std::string text;
    do {
        const Json piece = desk.reply(asked);
        text += piece.get_string("text");
        asked.after = piece.get_string("next");
        desk.recording = "of a later pass";
    } while (!asked.after.empty());
    check_eq(text.size(), std::size_t{600} << 10);
    asked.after = "262144";
    check_eq(desk.denied(asked), "after: no snapshot goes on at '262144'");
}

TEST(a_snapshot_does_not_outlive_who_asked_for_it) {
    Desk desk;
    desk.recording = std::string(300u << 10, 'r');
    Query asked = query("snapshot");
    asked.after = desk.reply(asked).get_string("next");
    desk.queries.on_closed(kTool);
    check_eq(desk.denied(asked), "after: no snapshot goes on at '262144'");
}

// ---- resizes

TEST(a_user_resizes_the_users_own_jobs_and_an_operator_all) {
    Desk desk;
    Job& job = desk.add_connected(7);
    check_eq(desk.denied(sized("shrink", 7, 2), kStranger), "job 7 is not yours");
    const Json answer = desk.reply(sized("shrink", 7, 2), kOwner);
    const Agreement& shrink = *desk.state.book.of_job(7);
    check_eq(answer.get_int("op"), shrink.op);
    check_eq(answer.get_string("message"), "offered to job 7: give up n[3-4] within 60 s");
    check_eq(desk.only<Offer>(7).reason, "asked for by user1000");
    check_eq(desk.denied(sized("expand", 7, 8)),
             fmt::format("operation {} of job 7 is in flight (shrink, offered)", shrink.op));
    desk.say(7, Decline{shrink.op, ""});
    desk.outbox = {};
    desk.reply(sized("expand", 7, 8));
    check_eq(desk.only<Offer>(7).nodes, 4);
    check_eq(desk.state.book.of_job(job.id)->reason, "asked for by user500");
}

TEST(a_job_that_cannot_be_resized_says_why) {
    Desk desk;
    check_eq(desk.denied(sized("shrink", 7, 2)),
             "job 7 is not running; squeue lists those that do");
    Job& job = desk.add(7);
    job.array = "6_1";
    check_eq(desk.denied(sized("shrink", 7, 2)),
             "job 6_1 has not connected: its application does not take part");
    job.annotation.malleable = false;
    check_eq(desk.denied(sized("shrink", 7, 2)),
             "job 6_1 is not malleable; it would have to be submitted as such (--elastic)");
    job.annotation.malleable = true;
    desk.hello(7, 7);
    desk.outbox = {};
    check_eq(desk.denied(sized("shrink", 7, 4)), "job 6_1 has 4 nodes: 4 is not fewer");
    check_eq(desk.denied(sized("shrink", 7, 0)), "job 6_1 must keep n1");
    check_eq(desk.denied(sized("expand", 7, 4)), "job 6_1 has 4 nodes: 4 is not more");
    check_eq(desk.denied(sized("expand", 7, 9)),
             "job 6_1 cannot have 9 nodes (min=1, max=8, sizes=any)");
    job.annotation.min = 3;
    check_eq(desk.denied(sized("shrink", 7, 2)),
             "job 6_1 cannot have 2 nodes (min=3, max=8, sizes=any)");
    for (int i = 0; i < 20; ++i) job.participation.rate_limit.take(desk.now);
    check_that(desk.denied(sized("expand", 7, 8)).starts_with("too much was asked for job 7"));
    check_that(desk.state.book.of_job(7) == nullptr);
}

// ---- evacuation

TEST(operators_evacuate_nodes) {
    Desk desk;
    check_eq(desk.denied(query("evacuate"), kOwner),
             "only an operator may evacuate nodes; root, SlurmUser and those with "
             "AdminLevel=Operator (sacctmgr) are");
    desk.emptying.drained = "n3";
    Query asked = query("evacuate");
    asked.node = "n[3-4]";
    const Json answer = desk.reply(asked);
    check_eq(desk.drained, "n[3-4]");
    check_eq(answer.get_string("drained"), "n3");
    check_eq(answer.get("jobs").size(), 0U);
    desk.site.drain = [](const std::string&, uid_t) -> Result<Emptying> {
        return error("there is no node n99");
    };
    check_eq(desk.denied(asked), "there is no node n99");
}

TEST(a_job_gives_up_the_nodes_that_are_to_be_empty) {
    Desk desk;
    desk.add_connected(7);
    const Occupant occupant{7, "7", "n[3-4]", Occupant::State::running};
    const auto first = desk.prospect(occupant);
    const OpId op = desk.state.book.of_job(7)->op;
    check_eq(first, fmt::format("true: is asked to give up n[3-4] (operation {})", op));
    check_eq(desk.only<Offer>(7).node_list, "n[3-4]");
    check_eq(desk.prospect(occupant),
             fmt::format("true: operation {} is in flight (shrink, offered)", op));
    desk.say(7, Decline{op, ""});
    check_eq(desk.prospect(occupant), "true: has declined or not answered; it is asked again");
}

TEST(a_job_that_would_be_too_small_grows_elsewhere_first) {
    Desk desk;
    desk.add_connected(7).annotation.min = 4;
    const Occupant occupant{7, "7", "n[3-4]", Occupant::State::running};
    desk.site.idle = 1;
    check_eq(desk.prospect(occupant),
             "true: waits for 2 more nodes elsewhere, without which it would be too small "
             "(min=4, max=8, sizes=any)");
    desk.site.idle = 2;
    check_that(desk.prospect(occupant).starts_with("true: is offered 2 nodes elsewhere"));
    check_eq(desk.only<Offer>(7).size_after, 6);
}

TEST(two_jobs_are_not_offered_the_same_idle_nodes) {
    Desk desk;
    desk.add_connected(7).annotation.min = 4;
    desk.add_connected(8, "n[5-8]").annotation.min = 4;
    desk.site.idle = 2;
    desk.emptying.occupants = {{7, "7", "n[3-4]", Occupant::State::running},
                               {8, "8", "n[7-8]", Occupant::State::running}};
    const Json jobs = desk.evacuated();
    check_that(jobs.at(0).get_string("text").starts_with("is offered 2 nodes"));
    check_that(jobs.at(1).get_string("text").starts_with("waits for 2 more nodes"));
}

TEST(who_stays_says_what_would_be_needed) {
    using State = Occupant::State;
    Desk desk;
    Job& job = desk.add(7);
    check_eq(desk.prospect({7, "7", "n4", State::running}),
             "false: stays: its application has not connected: it can be asked for nothing");
    check_eq(desk.prospect({7, "7", "n1", State::running}),
             "false: stays: its batch script runs there, which cannot move: wait for its end, or "
             "`scontrol requeue 7`");
    check_eq(desk.prospect({7, "7", "n4", State::suspended}),
             "false: stays: it is suspended: `scontrol resume 7` or `scancel 7`");
    check_eq(desk.prospect({7, "7", "n4", State::completing}),
             "true: ends: its last processes and the epilog");
    check_eq(desk.prospect({9, "9", "n4", State::running}), "true: has just started");
    check_eq(desk.prospect({9, "9", "n4", State::suspended}),
             "false: stays: it is suspended: `scontrol resume 9` or `scancel 9`");
    desk.hello(7, 7);
    desk.outbox = {};
    job.annotation.min = job.annotation.max = 4;
    check_eq(desk.prospect({7, "7", "n4", State::running}),
             "false: stays: it can change to no other size (min=4, max=4, sizes=any)");
    job.elastic = false;
    check_eq(desk.prospect({7, "6_1", "n4", State::running}),
             "false: stays: it is not malleable: wait for its end, or `scontrol requeue 6_1`");
}

TEST(what_is_not_in_force_is_said) {
    Desk desk;
    check_eq(supply_errors(desk.reply(query("jobs"))), "");
    desk.site.supply_errors = {"no spot"};
    desk.site.supply_complaint = "/supply: no such file";
    check_eq(supply_errors(desk.reply(query("jobs"))), "/supply: no such file; no spot; ");
}

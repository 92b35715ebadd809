// SPDX-License-Identifier: MIT
// What is remembered of jobs, and what of it is told to the outside or anew.
#include "controller/job_table.hpp"

#include "controller/outbox.hpp"
#include "controller/telling.hpp"
#include "testing.hpp"

using namespace elastic;
using namespace elastic::controller;

TEST(a_job_is_found_from_its_first_mention_to_its_end) {
    JobTable table;
    check_that(table.find(7) == nullptr);
    Job& job = table.get(7);
    check_eq(job.id, 7U);
    check_that(&table.get(7) == &job && std::as_const(table).find(7) == &job);
    table.erase(7);
    check_that(table.find(7) == nullptr);
}

TEST(an_element_of_an_array_is_called_as_users_know_it) {
    Job job;
    job.id = 13;
    check_eq(job.label(), "13");
    job.array = "12_1";
    check_eq(job.label(), "12_1");
}

TEST(a_job_takes_part_while_it_is_there_or_has_just_been) {
    Job job;
    job.elastic = job.running = true;
    check_that(!job.takes_part(5, 60));  // never seen
    job.participation.connection = 1;
    check_that(job.takes_part(5, 0));
    job.participation.connection = 0;
    job.participation.last_seen = 10;
    check_that(job.takes_part(69, 60) && !job.takes_part(70, 60));
    job.running = false;
    check_that(!job.takes_part(69, 60));
}

TEST(a_growth_that_slurm_refuses_is_tried_later_and_later) {
    Participation participation;
    check_that(participation.refuse_growth(100, "a limit"));
    check_eq(participation.grow_after, 110.0);
    check_that(!participation.refuse_growth(110, "a limit"));  // nothing new to be said
    check_eq(participation.grow_after, 130.0);
    check_that(participation.refuse_growth(130, "another"));
    for (int i = 0; i < 100; ++i) (void)participation.refuse_growth(0, "another");
    check_eq(participation.grow_after, 2560.0);
    participation.has_grown();
    check_eq(participation.grow_after, 0.0);
    check_that(participation.refuse_growth(5000, "another"));
    check_eq(participation.grow_after, 5010.0);
}

TEST(a_history_adds_up) {
    ResizeHistory history;
    history.add(10, 4, 8);
    history.add(20, 8, 3);
    history.add(30, 3, 5);
    check_eq(history.gain, 1);
    check_eq(history.expansions, 2);
    check_eq(history.resizes, 3);
    check_eq(history.last_resize, 30.0);
}

TEST(nodes_are_known_as_left_until_their_time_is_over) {
    using Lists = std::vector<std::string>;
    LeftNodes left;
    check_that(left.empty() && left.since(0).empty());
    left.add("n1", 100);
    left.add("n[2-3]", 101);
    check_that(left.since(100) == Lists({"n1", "n[2-3]"}));
    check_that(left.since(101) == Lists{"n[2-3]"});
    check_that(left.since(102).empty());
}

TEST(a_node_that_is_left_again_counts_anew_and_once) {
    LeftNodes left;
    for (int i = 0; i < 100; ++i) left.add("n1", 100);
    left.add("n1", 101);
    check_that(left.since(0) == std::vector<std::string>{"n1"});
    check_that(left.since(101) == std::vector<std::string>{"n1"});
}

TEST(what_was_left_long_ago_is_forgotten) {
    LeftNodes left;
    left.add("n1", 100);
    left.add("n2", 100 + LeftNodes::kKept - 1);
    check_eq(left.since(0).size(), 2u);
    left.add("n3", 100 + LeftNodes::kKept);
    check_eq(left.since(0).size(), 2u);
}

TEST(grace_is_the_jobs_own_up_to_the_sites_limit) {
    core::Config config;
    config.grace_time = 60;
    config.max_grace_time = 100;
    Job job;
    check_eq(grace_of(config, job), 60.0);
    job.annotation.grace = 90;
    check_eq(grace_of(config, job), 90.0);
    job.annotation.grace = 110;
    check_eq(grace_of(config, job), 100.0);
}

TEST(nothing_is_told_to_who_is_not_there) {
    Outbox outbox;
    outbox.send(0, protocol::Accepted{});
    outbox.close(0);
    check_that(outbox.messages.empty() && outbox.to_close.empty());
    outbox.send(3, protocol::Accepted{});
    outbox.close(3);
    check_eq(outbox.messages.front().first, 3U);
    check_eq(outbox.to_close.front(), 3U);
    outbox.note(5, journal::Accept{7, 9});
    check_eq(outbox.events.front().time, 5.0);
}

TEST(a_journal_that_missed_something_is_told_what_there_is) {
    JobTable table;
    Job& running = table.get(9);
    running.submitted = running.running = running.shared = true;
    running.node_list = "n[1-2]";
    running.nodes = 2;
    running.array = "8_1";
    running.owner = 1000;
    Job& waiting = table.get(7);
    waiting.submitted = waiting.elastic = true;
    waiting.annotation.malleable = true;
    waiting.annotation.min = 1;
    waiting.annotation.pref = 2;
    waiting.annotation.max = 4;
    waiting.owner = 1001;
    (void)table.get(5);  // of which the journal has not been told
    Site site;
    site.nodes = 16;
    site.user_name = [](uid_t uid) { return fmt::format("user{}", uid); };
    std::string text;
    for (const auto& event : tell_anew(table, site, "easy", 3))
        text += journal::to_json(event).dump() + '\n';
    check_eq(
        text,
        std::string(
            R"({"time":3,"event":"controller","what":"resume","nodes":16,"policy":"easy"})"
            "\n"
            R"({"time":3,"event":"submit","job":7,"class":"malleable","min":1,"pref":2,"max":4,)"
            R"("user":"user1001"})"
            "\n"
            R"({"time":3,"event":"submit","job":9,"class":"rigid","min":1,"pref":1,"max":0,)"
            R"("user":"user1000"})"
            "\n"
            R"({"time":3,"event":"start","job":9,"nodes":"n[1-2]","count":2,"shared":true,)"
            R"("array":"8_1"})"
            "\n"));
}

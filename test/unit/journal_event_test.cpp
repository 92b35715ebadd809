// SPDX-License-Identifier: MIT
// Each event of the journal: its JSON there and back, its description for people, and what is
// refused as one.
#include <string>
#include <vector>

#include "journal/event.hpp"
#include "testing.hpp"

using namespace elastic;
using namespace elastic::journal;

namespace {

// One of each, with every key away from its default.
std::vector<Event> one_of_each() {
    return {
        {0.5, Controller{Controller::What::reconfigure, 16, "easy"}},
        {1, Submit{7, "malleable", 1, 2, 4, 3600, "alice", "solver"}},
        {2, Start{7, "n[1-2]", 2, true}},
        {3, Offer{7, 9, ResizeKind::expand, 2, "n[3-4]", 8, "no pending job can use the nodes"}},
        {4, Accept{7, 9, 1}},
        {5, Decline{7, 9, "busy"}},
        {6, Expire{7, 9, "no answer"}},
        {7, Cancel{7, 9, "beneficiary ended"}},
        {8, Release{7, 9}},
        {9, Resize{7, 9, ResizeKind::expand, 2, 4, "n[3-4]", "asked for"}},
        {10, Ready{7, 9}},
        {11, Request{7, 10, ResizeKind::shrink, 2, 1}},
        {12, Grant{7, 10, ResizeKind::shrink, 2, 1}},
        {13, Deny{7, 11, ResizeKind::shrink, 2, "no nodes"}},
        {14, Step{7, 2, 10, 5}},
        {15, Initialise{7, "gauss", "n[1-4]"}},
        {16, Would{Would::What::expand, 7, 3, 8, 12.5}},
        {1700000000.25, End{7, "COMPLETED", 4}},
    };
}

}  // namespace

TEST(every_event_survives_the_way_to_text_and_back) {
    for (const Event& event : one_of_each()) {
        const std::string text = to_json(event).dump();
        const Result<Event> again = event_from_json(*Json::parse(text));
        check_ok(again);
        check_eq(to_json(*again).dump(), text);
        check_eq(name_of(*again), name_of(event));
        check_that(text.find("\"event\":\"" + std::string(name_of(event)) + "\"") != text.npos);
    }
}

TEST(keys_and_their_order_are_those_of_the_format) {
    check_eq(to_json({9.5, Resize{7, 3, ResizeKind::shrink, 4, 2, "n[3-4]", "why"}}).dump(),
             R"({"time":9.5,"event":"resize","job":7,"op":3,"kind":"shrink","from":4,"to":2,)"
             R"("nodes":"n[3-4]","reason":"why"})");
    check_eq(to_json({2, Start{7, "n1", 1, false}}).dump(),
             R"({"time":2,"event":"start","job":7,"nodes":"n1","count":1})");
}

TEST(the_job_is_that_of_the_event) {
    check_eq(job_of({0, Accept{7, 9}}), 7u);
    check_eq(job_of({0, Controller{}}), 0u);
}

TEST(what_is_no_event_is_refused) {
    const auto refused = [](const char* text) {
        const Result<Json> json = Json::parse(text);
        return json && !event_from_json(*json);
    };
    check_that(refused("[]"));
    check_that(refused("{}"));
    check_that(refused(R"({"event":"stop"})"));
    check_that(refused(R"({"time":"now","event":"accept","job":1,"op":1})"));
    check_that(refused(R"({"time":1,"event":"explode","job":1})"));
    check_that(refused(R"({"time":1,"event":"accept","job":1})"));
    check_that(refused(R"({"time":1,"event":"accept","job":0,"op":1})"));
    check_that(refused(R"({"time":1,"event":"accept","job":4294967296,"op":1})"));
    check_that(refused(R"({"time":1,"event":"accept","job":1,"op":-1})"));
    check_that(refused(R"({"time":1,"event":"start","job":1,"nodes":"n1","count":-1})"));
    check_that(refused(R"({"time":1,"event":"start","job":1,"nodes":["n1"],"count":1})"));
    check_that(refused(R"({"time":1,"event":"offer","job":1,"op":1,"kind":"grow","count":1})"));
    check_that(!refused(R"({"time":1,"event":"accept","job":1,"op":1,"later":"key"})"));
}

TEST(an_error_says_which_key_of_which_event_is_wrong) {
    const auto read = [](const char* text) { return event_from_json(*Json::parse(text)); };
    check_error(read("[]"), "must be an object, not an array");
    check_error(read(R"({"time":1})"), "event is missing");
    check_error(read(R"({"time":1,"event":"offer","job":1})"), "offer: op is missing");
    check_error(read(R"({"time":1,"event":"end","job":1,"state":"X","count":-1})"),
                "end: count must be an integer from 0 to 100000, not -1");
    check_error(read(R"({"time":1,"event":"offer","job":1,"op":1,"kind":"grow"})"),
                R"(offer: kind must be one of shrink, expand, not "grow")");
}

TEST(a_text_too_long_for_readers_is_cut_by_the_writer) {
    for (const char c : {'x', '\xff'})  // which is no UTF-8, and longer once it is mended
        check_ok(event_from_json(to_json({1, Decline{7, 9, std::string(5000, c)}})));
}

TEST(descriptions_say_what_happened_and_hold_no_control_characters) {
    check_eq(describe({9, Resize{7, 9, ResizeKind::shrink, 4, 2, "n[3-4]", "for a pending job"}}),
             "job 7: 4 -> 2 nodes, gave up n[3-4] (for a pending job)");
    check_eq(describe({3, Offer{7, 9, ResizeKind::shrink, 2, "n[3-4]", 8, ""}}),
             "job 7: asked to give up n[3-4]");
    check_eq(describe({5, Decline{7, 9, "\x1b[2J"}}), "job 7: declines (\\x1b[2J)");
    for (const Event& event : one_of_each()) check_that(!describe(event).empty());
}

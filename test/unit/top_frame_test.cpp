// SPDX-License-Identifier: MIT
// Frames of selastic top, without a terminal and a controller.
#include <string>

#include "selastic/top_frame.hpp"
#include "testing.hpp"

using namespace elastic;
using namespace elastic::tools;

namespace {

constexpr const char* kJobs =
    R"({"jobs":[{"job":12,"user":"alice","name":"weather","class":"malleable","state":"RUNNING","nodes":6,)"
    R"("min":2,"max":12,"connected":true,"resizes":3,"time_left":60,"agreement":{"kind":"shrink",)"
    R"("state":"accepted","nodes":2,"node_list":"n[5-6]","beneficiary":14,"deadline":12.4,)"
    R"("reason":"a pending job needs the nodes: job 14"}},)"
    R"({"job":13,"user":"bob","name":"a\u001b[2Jrather long name","class":"rigid","state":"RUNNING","nodes":8,)"
    R"("connected":false,"resizes":0,"time_left":30},)"
    R"({"job":14,"user":"carol","name":"late","class":"rigid","state":"PENDING","nodes":0,"starts_in":90},)"
    R"({"job":15,"user":"carol","name":"unknown","class":"rigid","state":"PENDING","nodes":0},)"
    R"({"job":16,"user":"carol","name":"soon","class":"rigid","state":"PENDING","nodes":0,"starts_in":5}],)"
    R"("nodes":16,"idle":2,"policy":"elastic"})";

TopData data_of(const char* jobs) {
    TopData data;
    data.answered = true;
    data.jobs = *Json::parse(jobs);
    data.events = {"10:00:00  job 12: starts on 6 nodes (n[1-6])", "10:00:05  job 13: ends"};
    data.clock = "10:00:07";
    return data;
}

std::string shown(const TopData& data, const TopView& view) {
    return plain_text(top_frame(data, view));
}

std::string bar(const char* job, int scale, int width) {
    return plain_text({top_bar(*Json::parse(job), scale, width)});
}

}  // namespace

TEST(a_frame_has_the_head_the_jobs_what_was_asked_and_the_queue) {
    check_eq(shown(data_of(kJobs), {}),
             "selastic top  10:00:07  16 nodes, 2 idle, policy elastic\n"
             "jobs: 2 running, 3 waiting; resizes: 3 done, 1 in flight\n"
             "JOB      USER     NAME       NODES   MIN-MAX 0 .. 12 nodes        NOW\n"
             "12       alice    weather        6      2-12 ====###---.......... -2 accepted\n"
             "13       bob      a\\x1b[2Jr~     8           ==============\n"
             "ASKED OF JOBS, AND WHY; BELOW, WHAT HAPPENED LAST\n"
             "job 12: to give up 2 nodes, accepted, 12 s left (a pending job needs the nodes:\n"
             "10:00:05  job 13: ends\n"
             "10:00:00  job 12: starts on 6 nodes (n[1-6])\n"
             "JOB      USER     NAME       NODES   MIN-MAX STARTS IN            STATE\n"
             "16       carol    soon           0           00:00:05             PENDING\n"
             "14       carol    late           0           00:01:30             PENDING\n"
             "15       carol    unknown        0           not known            PENDING\n");
}

TEST(a_bar_says_what_is_kept_held_moving_and_possible) {
    check_eq(bar(R"({"nodes":4,"min":2,"max":8})", 8, 8), "==##....\n");
    check_eq(bar(R"({"nodes":4,"min":2,"max":8,"agreement":{"kind":"expand","nodes":2}})", 8, 8),
             "==##++..\n");
    check_eq(bar(R"({"nodes":4,"min":2,"max":8,"agreement":{"kind":"shrink","nodes":1}})", 8, 8),
             "==#-....\n");
    check_eq(bar(R"({"nodes":1,"min":1,"max":1})", 5000, 8), "=\n");
    check_eq(bar(R"({"nodes":9000,"min":1,"max":9000})", 10, 4), "=###\n");
    check_eq(bar("{}", 0, 4), "\n");
}

TEST(no_line_is_wider_and_no_frame_higher_than_the_terminal) {
    for (const int width : {1, 20, 79, 80, 81, 200})
        for (const int height : {1, 2, 5, 8, 24, 100}) {
            TopView view;
            view.width = width;
            view.height = height;
            view.bottom = " q quit";
            const auto lines = top_frame(data_of(kJobs), view);
            check_eq(static_cast<int>(lines.size()), height);
            for (const TopLine& line : lines) {
                std::size_t length = 0;
                for (const TopSpan& span : line) length += span.text.size();
                check_that(length <= static_cast<std::size_t>(width));
            }
        }
}

TEST(what_has_no_room_is_counted_and_can_be_scrolled_to) {
    Json jobs = Json::array();
    for (int job = 1; job <= 40; ++job)
        jobs.push(Json::object().set("job", job).set("state", "RUNNING").set("nodes", job));
    TopData data = data_of("{}");
    data.jobs = Json::object().set("jobs", jobs);
    TopView view;
    view.height = 24;
    view.sort = "size";
    std::string text = shown(data, view);
    check_that(text.find("\n40  ") != text.npos);
    check_that(text.find("\n1   ") == text.npos);
    check_that(text.find(" more\n") != text.npos);
    view.scroll = 1000;
    text = shown(data, view);
    check_that(text.find("\n1   ") != text.npos);
    check_that(text.find(" more\n") == text.npos);
    view.reverse = true;
    view.scroll = 0;
    check_that(shown(data, view).find("\n1   ") != std::string::npos);
}

TEST(a_filter_takes_numbers_users_names_and_classes) {
    TopView view;
    view.filter = "WEATH";
    std::string text = shown(data_of(kJobs), view);
    check_that(text.find("\n12 ") != text.npos);
    check_that(text.find("\n13 ") == text.npos);
    check_that(text.find("no job waits") != text.npos);
    view.filter = "carol";
    text = shown(data_of(kJobs), view);
    check_that(text.find("no job runs") != text.npos);
    check_that(text.find("\n16 ") != text.npos);
}

TEST(a_controller_that_is_away_is_said_to_be) {
    TopData data = data_of(kJobs);
    data.silent = 4.2;
    data.trouble = "Connection refused";
    const std::string text = shown(data, {});
    check_that(text.find("no answer from the controller for 4 s (Connection refused); below is its "
                         "last\n") != text.npos);
    check_that(text.find("\n12 ") != text.npos);
}

TEST(an_answer_that_lacks_everything_is_a_frame) {
    for (const char* body : {"{}", R"({"jobs":7})", R"({"jobs":[7,{},{"agreement":{}}]})"}) {
        const std::string text = shown(data_of(body), {});
        check_that(text.find("selastic top") == 0);
    }
}

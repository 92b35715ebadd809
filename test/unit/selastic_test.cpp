// SPDX-License-Identifier: MIT
// What selastic prints, without a controller.
#include <cstdlib>
#include <string>

#include "selastic/controller_commands.hpp"
#include "selastic/job_commands.hpp"
#include "selastic/output.hpp"
#include "testing.hpp"

using namespace elastic;
using namespace elastic::tools;

namespace {

constexpr const char* kJobs =
    R"({"jobs":[{"job":123,"user":"alice","name":"x\u001b[2J","class":"malleable","state":"RUNNING",)"
    R"("nodes":4,"min":2,"pref":4,"max":16,"node_list":"n[1-4]","connected":true,"agreement":{"op":9,)"
    R"("kind":"shrink","state":"accepted","nodes":2,"node_list":"n[3-4]","beneficiary":124,)"
    R"("deadline":12.5,"reason":"r"},"resizes":3,"time_left":3600,"last_reason":"why"},)"
    R"({"job":124,"user":"bob","name":"y","class":"evolving","state":"RUNNING","nodes":1,"min":1,)"
    R"("pref":1,"max":2,"node_list":"n5","connected":false,"resizes":0}],)"
    R"("nodes":16,"idle":2,"policy":"lina-default"})";

// What a shell makes of the text behind `name=`.
std::string as_shell_reads(const std::string& assignments, const std::string& name) {
    ::setenv("SELASTIC_TEST_TEXT", assignments.c_str(), 1);
    const std::string command = "eval \"$SELASTIC_TEST_TEXT\"; printf %s \"$" + name + "\"";
    FILE* shell = ::popen(command.c_str(), "r");
    std::string out(4096, '\0');
    out.resize(std::fread(out.data(), 1, out.size(), shell));
    check_eq(::pclose(shell), 0);
    return out;
}

}  // namespace

TEST(jobs_are_a_table) {
    check_eq(
        render_jobs(*Json::parse(kJobs)),
        "JOB  USER   NAME      CLASS      STATE    NODES  MIN/PREF/MAX  RESIZES  NODELIST  NOW\n"
        "123  alice  x\\x1b[2J  malleable  RUNNING  4      2/4/16        3        n[1-4]    "
        "shrink n[3-4] accepted for job 124\n"
        "124  bob    y         evolving   RUNNING  1      1/1/2         0        n5        "
        "not connected\n"
        "16 nodes, 2 idle, policy lina-default\n");
}

TEST(a_body_that_lacks_everything_is_survived) {
    for (const char* body : {"{}", R"({"jobs":7,"job":[],"agreements":{},"left":"x"})"}) {
        const Json json = *Json::parse(body);
        check_that(!render_jobs(json).empty());
        check_that(!render_job(json).empty());
        check_that(!render_message(json).empty());
        check_that(!render_evacuation(json).empty());
    }
}

TEST(a_job_is_shown_with_its_history) {
    Json job = Json::parse(kJobs)->get("jobs").at(0);
    job.set("history", Json::array().push(*Json::parse(
                           R"({"time":5,"event":"start","job":123,"nodes":"n[1-4]","count":4})")));
    const std::string text = render_job(Json::object().set("job", job));
    check_that(text.find("min/pref/max 2/4/16\n") != text.npos);
    check_that(text.find("time left    01:00:00\n") != text.npos);
    check_that(text.find("  job 123: starts on 4 nodes (n[1-4])\n") != text.npos);
}

TEST(an_evacuation_says_who_moves_and_who_stays) {
    check_eq(render_evacuation(*Json::parse(
                 R"({"agreements":[{"job":1,"op":5}],"left":[{"job":2,"reason":"rigid"}]})")),
             "job 1: asked to move off (operation 5)\njob 2: stays: rigid\n");
}

TEST(a_shell_reads_events_as_they_are) {
    elastic_event event{};
    event.type = ELASTIC_EVENT_OFFER_SHRINK;
    event.kind = ELASTIC_SHRINK;
    event.op = 12;
    event.nodes = 2;
    event.node_list = "n[3-4]";
    event.reason = "it's $(touch /tmp/never) `id` \"x\" \\ ;";
    const std::string text = assignments(event);
    check_eq(as_shell_reads(text, "ELASTIC_EVENT"), "offer");
    check_eq(as_shell_reads(text, "ELASTIC_KIND"), "shrink");
    check_eq(as_shell_reads(text, "ELASTIC_OP"), "12");
    check_eq(as_shell_reads(text, "ELASTIC_NODELIST"), "n[3-4]");
    check_eq(as_shell_reads(text, "ELASTIC_REASON"), event.reason);
    check_eq(as_shell_reads(text, "ELASTIC_OUTCOME"), "");
}

TEST(the_environment_is_that_of_the_present_size) {
    const std::string before = "export SLURM_NTASKS=8 SLURM_JOB_NUM_NODES=8\n";
    const std::string text = before + environment("n[1-2]", 2);
    check_eq(as_shell_reads(text, "SLURM_JOB_NUM_NODES"), "2");
    check_eq(as_shell_reads(text, "SLURM_NODELIST"), "n[1-2]");
    check_eq(as_shell_reads(text, "{SLURM_NTASKS-unset}"), "unset");
}

TEST(tables_have_aligned_columns) {
    check_eq(table({{"A", "LONG", "B"}, {"12345", "x", ""}}), "A      LONG  B\n12345  x\n");
}

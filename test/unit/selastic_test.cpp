// SPDX-License-Identifier: MIT
// What selastic prints, without a controller.
#include <cstdlib>
#include <string>

#include "selastic/controller_commands.hpp"
#include "selastic/evacuate_command.hpp"
#include "selastic/job_argument.hpp"
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
        (void)EvacuationProgress().lines(json);
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

TEST(an_evacuation_says_what_is_new) {
    EvacuationProgress progress;
    const auto lines = [&progress](const char* answer) {
        return fmt::format("{}", fmt::join(progress.lines(*Json::parse(answer)), "|"));
    };
    check_eq(lines(R"({"drained":"n[3-4]","jobs":[{"label":"1_2","nodes":"n3","text":"moves"},)"
                   R"({"label":"2","nodes":"n4","text":"stays: rigid"}]})"),
             "n[3-4]: drained|job 1_2 on n3: moves|job 2 on n4: stays: rigid");
    check_eq(lines(R"({"drained":"","jobs":[{"label":"2","nodes":"n4","text":"stays: rigid"}]})"),
             "job 1_2: has left");
    check_eq(lines(R"({"jobs":7})"), "job 2: has left");
}

TEST(jobs_are_named_as_users_know_them) {
    check_eq(parse_job("12")->text(), "12");
    check_eq(parse_job("12_0")->text(), "12_0");
    check_eq(parse_job("4294967295_4294967295")->text(), "4294967295_4294967295");
    for (const char* wrong : {"", "_", "1_", "_1", "0", "-1", "1_x", "1_-2", "1_2_3", "1.5", " 1",
                              "4294967296", "1_4294967296", "1_[2-3]"})
        check_that(!parse_job(wrong));
    Json job = Json::parse(kJobs)->get("jobs").at(0);
    job.set("array", "120_3");
    check_that(render_jobs(Json::object().set("jobs", Json::array().push(job))).find("\n120_3  ") !=
               std::string::npos);
    job.set("names", Json::object().set("123", "120_3"));
    job.set("history",
            Json::array().push(*Json::parse(R"({"time":5,"event":"accept","job":123,"op":9})")));
    check_that(render_job(Json::object().set("job", job)).find("  job 120_3: accepts\n") !=
               std::string::npos);
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

TEST(programs_read_events_and_environments_as_json) {
    elastic_event event{};
    event.type = ELASTIC_EVENT_ENDED;
    event.kind = ELASTIC_EXPAND;
    event.op = 12;
    event.node_list = "";
    event.outcome = ELASTIC_EXPIRED;
    event.reason = "it's \"late\"\x1b";
    check_eq(to_json(event).dump(),
             R"({"event":"ended","kind":"expand","op":12,"nodes":0,"node_list":"","size":0,)"
             R"("deadline":0,"outcome":"expired","reason":"it's \"late\"\\x1b"})");
    check_eq(environment_json({0, "n[1-2]", 2, "a"}).dump(),
             R"({"set":{"SLURM_JOB_NODELIST":"n[1-2]","SLURM_NODELIST":"n[1-2]",)"
             R"("SLURM_JOB_NUM_NODES":"2","SLURM_NNODES":"2","SLURM_NODE_ALIASES":"a"},)"
             R"("unset":["SLURM_TASKS_PER_NODE","SLURM_JOB_CPUS_PER_NODE","SLURM_NTASKS",)"
             R"("SLURM_NPROCS"]})");
}

TEST(the_environment_is_that_of_the_present_size) {
    const std::string before = "export SLURM_NTASKS=8 SLURM_JOB_NUM_NODES=8\n";
    const std::string text = before + environment({0, "n[1-2]", 2});
    check_eq(as_shell_reads(text, "SLURM_JOB_NUM_NODES"), "2");
    check_eq(as_shell_reads(text, "SLURM_NODELIST"), "n[1-2]");
    check_eq(as_shell_reads(text, "{SLURM_NTASKS-unset}"), "unset");
    check_eq(as_shell_reads(text, "{SLURM_NODE_ALIASES-unset}"), "unset");
}

TEST(the_environment_says_where_nodes_are_that_slurm_conf_does_not_know) {
    const std::string text = environment({0, "d[1-2]", 2, "d1:[10.0.0.1]:d1,d2:[10.0.0.2]:d2"});
    check_eq(as_shell_reads(text, "SLURM_NODE_ALIASES"), "d1:[10.0.0.1]:d1,d2:[10.0.0.2]:d2");
    check_eq(as_shell_reads(text, "SLURM_NNODES"), "2");
}

TEST(tables_have_aligned_columns) {
    check_eq(table({{"A", "LONG", "B"}, {"12345", "x", ""}}), "A      LONG  B\n12345  x\n");
}

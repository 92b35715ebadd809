// SPDX-License-Identifier: MIT
// What a controller leaves to the next one, to the byte, and what it does not take from a file.
#include "controller/state_file.hpp"

#include "common/atomic_file.hpp"
#include "folder.hpp"
#include "testing.hpp"

using namespace elastic;
using namespace elastic::controller;
using namespace elastic::testing;

namespace {

core::Annotation malleable() {
    core::Annotation annotation;
    annotation.malleable = true;
    annotation.min = 1;
    annotation.pref = 4;
    annotation.max = 8;
    return annotation;
}

Job& add_elastic(JobTable& jobs, JobId id) {
    Job& job = jobs.get(id);
    job.elastic = job.submitted = job.running = true;
    job.annotation = malleable();
    job.nodes = 2;
    job.node_list = "n[1-2]";
    job.time.begin(1000, {8200, 120}, 4, job.annotation);
    job.time.resize(4600, 2, 10);
    return job;
}

void add_agreements(AgreementBook& book) {
    Agreement shrink;
    shrink.job = 7;
    shrink.nodes = 1;
    shrink.node_list = "n2";
    shrink.beneficiary = 9;
    shrink.created = 4700.5;
    shrink.deadline = 4730.5;
    shrink.reason = "for job \"9\"";
    book.open(shrink);
    book.claim(9, {3, "n[7-8]"});

    Agreement request;
    request.job = 6;
    request.kind = ResizeKind::expand;
    request.state = AgreementState::queued;
    request.requested = true;
    request.nodes = 3;
    request.least = 2;
    request.granted = 2;
    book.open(request);

    Agreement over;
    over.job = 5;
    (void)book.advance(book.open(over), AgreementEvent::cancel);
}

// One with every key of a job.
State sample() {
    State state;
    state.book = AgreementBook(1000);
    add_agreements(state.book);
    Job& job = add_elastic(state.jobs, 7);
    job.shared = true;
    job.restarts = 1;
    job.participation.not_before = 4800;
    job.history = {4600, -2, 3, 4};
    job.last_reason = "for job 9";
    job.began = 1000;
    for (JobId waiting : {20, 21, 22, 9}) state.jobs.get(waiting).submitted = true;
    (void)state.jobs.get(30);  // known, but not to the journal
    state.telling = {77, 4096, 1, "{\"time\":1}\n"};
    return state;
}

// As any controller of this format has written it.
constexpr const char* kSampleText =
    R"({"last_op":1003,)"
    R"("agreements":[{"op":1001,"job":7,"kind":"shrink","state":"offered","requested":false,)"
    R"("nodes":1,"least":0,"granted":0,"node_list":"n2","beneficiary":9,"created":4700.5,)"
    R"("deadline":4730.5,"reason":"for job \"9\""},)"
    R"({"op":1002,"job":6,"kind":"expand","state":"queued","requested":true,"nodes":3,)"
    R"("least":2,"granted":2,"node_list":"","beneficiary":0,"created":0,"deadline":1e+18,)"
    R"("reason":""}],)"
    R"("claims":[{"job":9,"size":3,"node_list":"n[7-8]"}],)"
    R"("format":3,"table":{"jobs":[{"job":7,"running":true,"suspended":false,"restarts":1,)"
    R"("nodes":2,"node_list":"n[1-2]","shared":true,)"
    R"("not_before":4800,"last_resize":4600,"gain":-2,"expansions":3,"resizes":4,)"
    R"("last_reason":"for job 9","began":1000,)"
    R"("time":{"limit_end":8200,"limit":120,"limit_before":0,"law":false,"resized":true,)"
    R"("progress_end":0,"ledger_end":11810}}],)"
    R"("waiting":[[9,9],[20,22]]},)"
    R"("telling":{"file":77,"at":4096,"events":1,"text":"{\"time\":1}\n"}})";

// The sample with one text in place of another.
std::string with(std::string_view what, std::string_view other) {
    std::string text = kSampleText;
    const auto at = text.find(what);
    check_that(at != text.npos);
    return text.replace(at, what.size(), other);
}

struct Restart {  // a file of one controller, read by the next
    explicit Restart(const State& before) { done = read_state(state_text(before), after); }
    State after;
    Result<void> done;
};

}  // namespace

TEST(the_bytes_of_the_file_are_those_of_its_format) {
    check_eq(state_text(sample()), std::string(kSampleText));
}

TEST(groups_and_what_nodes_are_initialised_for_outlive_a_controller) {
    State state = sample();
    WaitingGroup waiting;
    waiting.group.key = {1000, "gauss", "./warm"};
    waiting.group.partition = "all";
    waiting.group.initialisation = 60;
    waiting.group.waiting = {{20, 3, 1, 4, 600, 2}, {21, 1, 2, 2, 60, 2}};
    state.groups.begin(waiting, "n[1-4]", 4);
    state.groups.use("n[1-2]", waiting.group.key, 500);
    state.groups.use("n3", waiting.group.key, 400);
    state.groups.use("n4", {1001, "gauss", "./warm"}, 600);
    const Restart restart(state);
    check_ok(restart.done);
    const GroupBook& groups = restart.after.groups;
    check_eq(groups.all().size(), 1u);
    check_eq(groups.all()[0].node_list, "n[1-4]");
    check_eq(groups.all()[0].work(), state.groups.all()[0].work());
    check_that((groups.initialised_for(waiting.group.key) ==
                std::map<std::string, Time>{{"n1", 400}, {"n2", 400}, {"n3", 400}}));
}

TEST(what_is_read_is_what_was_written) {
    const Restart restart(sample());
    check_ok(restart.done);
    check_eq(restart.after.jobs.all().size(), 5U);
    check_that(restart.after.book.of_job(5) == nullptr);
    const Agreement* request = restart.after.book.of_job(6);
    check_eq(request->op, 1002);
    check_that(request->state == AgreementState::queued && request->requested);
    check_eq(restart.after.book.claim_of(9)->size, 3);
    check_eq(restart.after.book.claim_of(9)->node_list, "n[7-8]");
    const Job& job = *restart.after.jobs.find(7);
    check_that(job.submitted && job.running && job.shared && !job.suspended);
    check_eq(job.history.gain, -2);
    check_eq(job.last_reason, "for job 9");
    check_that(restart.after.jobs.find(21)->submitted && !restart.after.jobs.find(21)->running);
    check_that(restart.after.jobs.find(30) == nullptr);
    check_eq(restart.after.telling.at, 4096);
    check_eq(restart.after.telling.text, "{\"time\":1}\n");
}

TEST(what_resizes_took_and_when_one_began_is_kept) {
    State state = sample();
    state.jobs.find(7)->rescale.add(8, 4);
    state.book.of_job(7)->resizing_since = 4711;
    const Restart restart(state);
    check_ok(restart.done);
    const RescaleTime& rescale = restart.after.jobs.find(7)->rescale;
    check_eq(rescale.count(), 1);
    check_eq(rescale.seconds(), 8.0);
    check_eq(rescale.expected({.alpha = 2}).alpha, 3.0);
    check_eq(restart.after.book.of_job(7)->resizing_since, 4711.0);
}

TEST(what_a_run_has_used_is_kept) {
    State state = sample();
    state.jobs.find(7)->node_time.add(60, 3);
    const Restart restart(state);
    check_ok(restart.done);
    check_near(restart.after.jobs.find(7)->node_time.seconds(70, 2), 200, 1e-9);
    const auto& sizes = restart.after.jobs.find(7)->node_time.sizes();
    check_eq(sizes.size(), 1u);
    check_eq(sizes.front().nodes, 3);
    check_near(sizes.front().seconds, 60, 1e-9);
}

TEST(what_a_job_has_left_is_kept) {
    State state = sample();
    state.jobs.find(7)->left.add("n[3-4]", 4600);
    const Restart restart(state);
    check_ok(restart.done);
    check_that(restart.after.jobs.find(7)->left.since(4600) == std::vector<std::string>{"n[3-4]"});
}

TEST(how_a_job_scales_is_kept) {
    State state = sample();
    Scaling& scaling = state.jobs.find(7)->scaling;
    scaling.say_progress(0, 4, 800);
    scaling.resize(0, 4, 8, 0);
    scaling.say_progress(0, 8, 600);
    const Restart restart(state);
    check_ok(restart.done);
    check_eq(restart.after.jobs.find(7)->scaling.measured(), 1);
    check_near(restart.after.jobs.find(7)->scaling.model({}).a, 0.2, 1e-9);
}

TEST(a_job_is_in_the_step_it_was_in) {
    State state = sample();
    Job& job = *state.jobs.find(7);
    job.evolution.begin(1000, {{2, 50}, {5, 70}, {8, 10}});
    job.evolution.follow(1060, 2);
    (void)job.evolution.correct(1060, 0, 6, 2, 99, malleable());
    const Restart restart(state);
    check_ok(restart.done);
    core::Evolution after = restart.after.jobs.find(7)->evolution;
    check_that(after.waits());
    check_eq(after.number(), 2);
    check_eq(after.wanted(), 6);
    check_that(after.follow(1100, 6));
    check_eq(after.next_at(), 1170.0);
    check_ok(after.correct(1101, 0, 7, 6, 99, malleable()));  // heard before
    check_eq(after.next_nodes(), 8);
}

TEST(operations_never_repeat_over_restarts) {
    State later;
    later.book = AgreementBook(5000);
    check_ok(read_state(kSampleText, later));
    check_eq(later.book.open(Agreement{}).op, 5001);
    State behind_clock;
    check_ok(read_state(kSampleText, behind_clock));
    check_eq(behind_clock.book.open(Agreement{}).op, 1004);
    State lost_count;
    check_ok(read_state(with("\"last_op\":1003", "\"last_op\":3"), lost_count));
    check_eq(lost_count.book.open(Agreement{}).op, 1003);
}

TEST(a_restart_keeps_the_time_that_a_job_needs) {
    State before;
    RunTime& time = add_elastic(before.jobs, 7).time;
    time.extended({15410, 257});
    Restart restart(before);
    RunTime& read = restart.after.jobs.find(7)->time;
    check_that(!read.follow(5000, {15410, 257}, 2, malleable()));
    check_near(read.estimated_end(5000), time.estimated_end(5000), 1e-6);
    check_eq(read.limit_of_next_run(257), 120U);
    read.resize(5000, 1, 0);
    time.resize(5000, 1, 0);
    check_near(read.extension(), time.extension(), 1e-6);
}

TEST(a_limit_that_others_have_set_is_the_law_after_a_restart) {
    State before;
    (void)add_elastic(before.jobs, 7).time.follow(5000, {9000, 133}, 2, malleable());
    check_that(Restart(before).after.jobs.find(7)->time.is_law());
}

TEST(a_limit_changed_while_the_controller_was_away_is_the_law) {
    State before;
    add_elastic(before.jobs, 7);
    Restart restart(before);
    RunTime& time = restart.after.jobs.find(7)->time;
    check_that(time.follow(5000, {5600, 10}, 2, malleable()));
    check_eq(time.estimated_end(5000), 5600);
}

TEST(keys_that_older_controllers_did_not_write_may_be_missing) {
    State state;
    check_ok(read_state(with(R"(,"claims":[{"job":9,"size":3,"node_list":"n[7-8]"}])", ""), state));
    check_ok(read_state(with(R"("requested":false,)", ""), state));
    check_ok(read_state(with(R"(,"shared":true)", ""), state));
    check_that(!state.jobs.find(7)->shared);
}

TEST(an_inode_of_64_bits_survives) {
    State state;
    state.telling = {0xffff'0000'0000'0001, 1, 1, "\n"};
    check_eq(Restart(state).after.telling.file, 0xffff'0000'0000'0001);
    check_that(!Restart(state).after.telling.gap);
    state.telling.gap = true;
    check_that(Restart(state).after.telling.gap);
}

TEST(a_file_that_is_wrong_is_refused_and_says_where) {
    const auto refused = [](const std::string& text, const char* why) {
        State state = sample();
        check_error(read_state(text, state), why);
        check_eq(state_text(state), std::string(kSampleText));  // nothing has changed
    };
    refused("{", "JSON: unexpected end of data at byte 1");
    refused("[]", "format 0 is not 3");
    refused(with("\"format\":3", "\"format\":2"), "format 2 is not 3");
    refused(with("\"last_op\":1003", "\"last_op\":-1"),
            "last_op must be an integer from 0 to 4503599627370496, not -1");
    refused(with("\"op\":1001", "\"op\":9223372036854775806"),
            "agreements[0]: op must be an integer from 1 to 4503599627370496, not "
            "9223372036854775806");
    refused(with("\"kind\":\"expand\"", "\"kind\":\"jump\""),
            "agreements[1]: kind must be one of shrink, expand, not \"jump\"");
    refused(with("\"state\":\"queued\"", "\"state\":7"),
            "agreements[1]: state must be one of queued, offered, accepted, joined, released, "
            "applied, done, declined, expired, cancelled, denied, not 7");
    refused(with("\"op\":1002,\"job\":6", "\"op\":1002,\"job\":7"),
            "job 7 has the agreements 1001 and 1002");
    refused(with("\"op\":1002", "\"op\":1001"), "agreements has 1001 twice");
    refused(with("\"job\":9,\"size\":3", "\"job\":0,\"size\":3"),
            "claims[0]: job must be an integer from 1 to 4294967295, not 0");
    refused(with("\"nodes\":2,\"node_list\":\"n[1-2]\"", "\"nodes\":2,\"node_list\":null"),
            "table: jobs[0]: node_list must be a string, not null");
    refused(with("\"ledger_end\":", "\"ledger\":"), "table: jobs[0]: time: ledger_end is missing");
    refused(with("[[9,9]", "[[9]"), "table: waiting must have pairs of a first and a last job");
    refused(with("[[9,9]", "[[9,8]"), "table: waiting must have pairs of a first and a last job");
    refused(with("[[9,9]", "[[1,4294967295]"),
            "table: waiting has 4294967295 jobs, at most 10000000 are allowed");
    refused(with("\"at\":4096", "\"at\":-1"),
            "telling: at must be an integer from 0 to 9223372036854775807, not -1");
}

TEST(an_error_of_a_file_names_it) {
    const Folder folder;
    const std::string path = folder / "state";
    State state;
    check_ok(load_state_file(path, state));  // no file is no error
    check_ok(save_state_file(path, sample()));
    check_ok(load_state_file(path, state));
    state.jobs.find(7)->elastic = true;  // which Slurm's records say
    check_eq(state_text(state), std::string(kSampleText));
    check_ok(write_file(path, "{}", Durability::survives_process));
    const std::string why = path + ": format 0 is not 3";
    check_error(load_state_file(path, state), why.c_str());
    check_that(!save_state_file(folder / "absent/state", state));
}

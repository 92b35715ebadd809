// SPDX-License-Identifier: MIT
// One test a rule, each with the shortest journal that breaks it, and journals that break none.
#include <string>
#include <vector>

#include "journal/replay.hpp"
#include "testing.hpp"

using namespace elastic;
using namespace elastic::journal;

namespace {

// A journal in which each event comes a second after the one before.
class Script {
  public:
    Script() { add(Controller{Controller::What::start, 8, ""}); }

    template <class E>
    Script& add(E e) {
        journal_.lines.push_back({journal_.lines.size() + 1, {clock_ += 1, std::move(e)}});
        return *this;
    }
    Script& submit(JobId job, int min = 1, int max = 8) {
        return add(Submit{job, "malleable", min, min, max, 0, "", ""});
    }
    Script& start(JobId job, const char* nodes, int count) {
        return add(Start{job, nodes, count, false});
    }
    Script& offer(JobId job, OpId op, ResizeKind kind = ResizeKind::shrink) {
        return add(Offer{job, op, kind, 1, "", 0, ""});
    }
    Script& resize(JobId job, OpId op, ResizeKind kind, int from, int to, const char* nodes) {
        return add(Resize{job, op, kind, from, to, nodes, ""});
    }
    Script& end(JobId job, int count, const char* state = "COMPLETED") {
        return add(End{job, state, count});
    }
    Script& clock(Time time) {
        clock_ = time;
        return *this;
    }

    // "LINE rule" of each violation.
    std::vector<std::string> faults(ReplayOptions options = {true, 1}) const {
        std::vector<std::string> result;
        for (const Violation& v : check(journal_, options).violations)
            result.push_back(fmt::format("{} {}", v.line, to_string(v.rule)));
        return result;
    }
    Summary summary() const { return check(journal_, {}).summary; }

  private:
    Journal journal_;
    Time clock_ = 0;
};

using Faults = std::vector<std::string>;
constexpr ResizeKind kShrink = ResizeKind::shrink, kExpand = ResizeKind::expand;

}  // namespace

TEST(a_full_life_breaks_no_rule) {
    Script s;
    s.submit(1).submit(2).start(1, "n[1-4]", 4);
    s.offer(1, 1).add(Accept{1, 1}).add(Release{1, 1});
    s.resize(1, 1, kShrink, 4, 2, "n[3-4]").start(2, "n[3-8]", 6);
    s.add(Request{1, 2, kExpand, 1, 0}).add(Deny{1, 2, kExpand, 1, ""});
    s.offer(1, 3).add(Decline{1, 3, ""}).offer(1, 4).add(Expire{1, 4, ""});
    s.offer(1, 5).add(Accept{1, 5}).add(Cancel{1, 5, ""});
    s.add(Release{2, 6}).resize(2, 6, kShrink, 6, 5, "n8");
    s.add(Request{1, 7, kExpand, 1, 0}).add(Grant{1, 7, kExpand, 1, 0});
    s.resize(1, 7, kExpand, 2, 3, "n8").add(Ready{1, 7});
    s.add(Request{1, 8, kExpand, 1, 0}).add(Cancel{1, 8, ""});
    s.end(1, 3).end(2, 5, "FAILED");
    check_eq(s.faults({}), Faults{});
    const Summary summary = s.summary();
    check_eq(summary.jobs, 2);
    check_eq(summary.started, 2);
    check_eq(summary.completed, 1);
    check_eq(summary.shrinks, 2);
    check_eq(summary.expands, 1);
    check_eq(summary.peak_nodes, 8);
    check_eq(summary.running, 0);
}

TEST(a_requeued_job_starts_again) {
    Script s;
    s.submit(1).start(1, "n1", 1).end(1, 1, "REQUEUED").start(1, "n2", 1).end(1, 1, "REQUEUED");
    s.submit(1).start(1, "n3", 1).end(1, 1);
    check_eq(s.faults({}), Faults{});
}

TEST(a_suspended_job_gives_its_nodes_to_others) {
    Script s;
    s.submit(1).start(1, "n[1-2]", 2).end(1, 2, "SUSPENDED");
    s.submit(2).start(2, "n1", 1).end(2, 1).start(1, "n[1-2]", 2).end(1, 2);
    check_eq(s.faults({}), Faults{});
}

TEST(a_job_cancelled_before_its_start_held_nothing) {
    check_eq(Script().submit(1).end(1, 0, "CANCELLED").faults({}), Faults{});
}

TEST(jobs_that_share_nodes_may_share_them_with_each_other_only) {
    Script s;
    s.submit(1).submit(2).submit(3).add(Start{1, "n1", 1, true}).add(Start{2, "n1", 1, true});
    check_eq(s.faults(), Faults{});
    s.start(3, "n1", 1);
    check_eq(s.faults(), Faults{"7 node_twice"});
}

TEST(more_nodes_than_exist_are_noticed) {
    check_eq(Script().submit(1, 1, 9).start(1, "n[1-9]", 9).faults(), Faults{"3 too_many_nodes"});
}

TEST(a_node_in_two_jobs_is_noticed_at_start_and_at_growth) {
    Script s;
    s.submit(1).submit(2).start(1, "n[1-2]", 2);
    check_eq(Script(s).start(2, "n[2-3]", 2).faults(), Faults{"5 node_twice"});
    s.start(2, "n3", 1).resize(2, 0, kExpand, 1, 2, "n2");
    check_eq(s.faults(), Faults{"6 node_twice"});
}

TEST(after_a_clash_the_books_stay_balanced) {
    Script s;
    s.submit(1).submit(2).start(1, "n[1-2]", 2).start(2, "n[2-3]", 2).end(1, 2).end(2, 2);
    s.submit(3).start(3, "n[1-8]", 8).end(3, 8);
    check_eq(s.faults({}), Faults{"5 node_twice"});
}

TEST(a_node_that_comes_to_its_own_job_is_noticed) {
    check_eq(Script().submit(1).start(1, "n[1-2]", 2).resize(1, 0, kExpand, 2, 3, "n2").faults(),
             Faults{"4 node_twice"});
}

TEST(a_job_outside_its_range_is_noticed) {
    check_eq(Script().submit(1, 2, 4).start(1, "n1", 1).faults(), Faults{"3 out_of_range"});
    check_eq(Script().submit(1, 2, 4).start(1, "n[1-5]", 5).faults(), Faults{"3 out_of_range"});
    Script s;
    s.submit(1, 2, 2).start(1, "n[1-2]", 2).offer(1, 7);
    s.resize(1, 7, kShrink, 2, 1, "n2");
    check_eq(s.faults(), Faults{"5 out_of_range"});
}

TEST(a_failed_node_may_bring_a_job_below_its_range) {
    check_eq(
        Script().submit(1, 2, 2).start(1, "n[1-2]", 2).resize(1, 0, kShrink, 2, 1, "n2").faults(),
        Faults{});
    check_eq(
        Script().submit(1, 1, 2).start(1, "n[1-2]", 2).resize(1, 0, kExpand, 2, 3, "n3").faults(),
        Faults{"4 out_of_range"});
}

TEST(the_size_of_a_rigid_job_is_slurms_choice) {
    Script s;
    s.add(Submit{1, "rigid", 1, 1, 0, 0, "", ""}).start(1, "n[1-2]", 2).end(1, 2);
    s.add(Submit{2, "rigid", 2, 2, 4, 0, "", ""}).start(2, "n[1-5]", 5);  // after scontrol update
    s.resize(2, 0, kExpand, 5, 6, "n6");
    check_eq(s.faults(), Faults{});
}

TEST(a_range_that_is_none_is_noticed) {
    check_eq(Script().submit(1, 4, 2).faults(), Faults{"2 bad_range"});
    check_eq(Script().submit(1, 1, 0).faults(), Faults{"2 bad_range"});
    check_eq(Script().add(Submit{1, "rigid", 2, 2, 1, 0, "", ""}).faults(), Faults{"2 bad_range"});
}

TEST(events_of_unknown_jobs_are_noticed) {
    check_eq(Script().start(1, "n1", 1).faults(), Faults{"2 not_submitted"});
    check_eq(Script().end(1, 1).faults(), Faults{"2 not_submitted"});
    check_eq(Script().offer(1, 1).faults(), Faults{"2 not_submitted"});
}

TEST(a_resize_before_the_start_is_noticed) {
    check_eq(Script().submit(1).resize(1, 0, kShrink, 2, 1, "n2").faults(),
             Faults{"3 not_running"});
}

TEST(a_second_start_is_noticed) {
    check_eq(Script().submit(1).start(1, "n1", 1).start(1, "n1", 1).faults(),
             Faults{"4 starts_twice"});
}

TEST(events_after_the_end_are_noticed) {
    Script s;
    s.submit(1).start(1, "n1", 1).end(1, 1);
    check_eq(Script(s).end(1, 1).faults(), Faults{"5 after_end"});
    check_eq(Script(s).offer(1, 1).faults(), Faults{"5 after_end"});
    check_eq(Script(s).start(1, "n1", 1).faults(), Faults{"5 after_end"});
}

TEST(sizes_that_do_not_follow_are_noticed) {
    Script s;
    s.submit(1).start(1, "n[1-3]", 3);
    check_eq(Script(s).resize(1, 0, kShrink, 4, 3, "n3").faults(), Faults{"4 wrong_size"});
    check_eq(Script(s).resize(1, 0, kShrink, 3, 4, "").faults(), Faults{"4 wrong_size"});
    check_eq(Script(s).end(1, 2).faults(), Faults{"4 wrong_size"});
}

TEST(nodes_that_leave_without_being_held_are_noticed) {
    check_eq(Script().submit(1).start(1, "n[1-3]", 3).resize(1, 0, kShrink, 3, 2, "n7").faults(),
             Faults{"4 not_held"});
}

TEST(node_lists_that_do_not_fit_their_count_are_noticed) {
    check_eq(Script().submit(1).start(1, "n[1-3]", 2).faults(), Faults{"3 node_list"});
    check_eq(Script().submit(1).start(1, "n[1-", 2).faults(), Faults{"3 node_list"});
    check_eq(Script().submit(1).start(1, "n[1,1]", 2).faults(), Faults{"3 node_list"});
}

TEST(an_operation_that_repeats_is_noticed) {
    Script s;
    s.submit(1).start(1, "n[1-3]", 3).offer(1, 5).add(Decline{1, 5, ""});
    check_eq(Script(s).offer(1, 5).faults(), Faults{"6 op_repeats"});
    check_eq(Script(s).add(Request{1, 5, kExpand, 1, 0}).faults(), Faults{"6 op_repeats"});
}

TEST(a_second_agreement_is_noticed) {
    Script s;
    s.submit(1).start(1, "n[1-3]", 3).offer(1, 5);
    check_eq(Script(s).offer(1, 6).faults(), Faults{"5 two_agreements"});
    check_eq(Script(s).add(Release{1, 6}).faults(), Faults{"5 two_agreements"});
    s.add(Request{1, 6, kExpand, 1, 0}).add(Grant{1, 6, kExpand, 1, 0});
    check_eq(s.faults(), Faults{"6 two_agreements"});
}

TEST(answers_to_nothing_are_noticed) {
    Script s;
    s.submit(1).submit(2).start(1, "n[1-3]", 3).start(2, "n4", 1).offer(1, 5);
    check_eq(Script(s).add(Accept{1, 6}).faults(), Faults{"7 no_agreement"});
    check_eq(Script(s).add(Accept{2, 5}).faults(), Faults{"7 no_agreement"});
    check_eq(Script(s).add(Expire{1, 6, ""}).faults(), Faults{"7 no_agreement"});
    check_eq(Script(s).add(Grant{1, 5, kExpand, 1, 0}).faults(), Faults{"7 no_agreement"});
    check_eq(Script(s).add(Deny{1, 5, kExpand, 1, ""}).faults(), Faults{"7 no_agreement"});
    check_eq(Script(s).add(Ready{1, 5}).faults(), Faults{"7 no_agreement"});
    s.add(Decline{1, 5, ""});
    check_eq(Script(s).resize(1, 5, kShrink, 3, 2, "n3").faults(), Faults{"8 no_agreement"});
    check_eq(Script(s).add(Accept{1, 5}).faults(), Faults{"8 no_agreement"});
}

TEST(who_accepts_fewer_nodes_gets_no_more) {
    Script s;
    s.submit(1).start(1, "n[1-3]", 3).add(Offer{1, 5, kExpand, 3, "", 0, ""});
    check_eq(Script(s).add(Accept{1, 5, 4}).faults(), Faults{"5 wrong_size"});
    s.add(Accept{1, 5, 2});
    check_eq(Script(s).resize(1, 5, kExpand, 3, 5, "n[4-5]").faults(), Faults{});
    check_eq(Script(s).resize(1, 5, kExpand, 3, 6, "n[4-6]").faults(), Faults{"6 wrong_size"});
}

TEST(who_is_content_with_fewer_nodes_is_granted_no_more) {
    Script s;
    s.submit(1).start(1, "n[1-3]", 3).add(Request{1, 5, kExpand, 3, 1});
    check_eq(Script(s).add(Accept{1, 5, 4}).faults(), Faults{"5 wrong_size"});
    s.add(Accept{1, 5, 2});
    check_eq(Script(s).add(Grant{1, 5, kExpand, 2, 0}).faults(), Faults{});
    check_eq(Script(s).add(Grant{1, 5, kExpand, 3, 3}).faults(), Faults{"6 wrong_size"});
}

TEST(steps_out_of_order_are_noticed) {
    Script s;
    s.submit(1).start(1, "n[1-3]", 3);
    check_eq(Script(s).offer(1, 5).add(Release{1, 5}).faults(), Faults{"5 wrong_stage"});
    check_eq(Script(s).offer(1, 5, kExpand).resize(1, 5, kExpand, 3, 4, "n4").faults(),
             Faults{"5 wrong_stage"});
    check_eq(Script(s).offer(1, 5).add(Accept{1, 5}).resize(1, 5, kExpand, 3, 4, "n4").faults(),
             Faults{"6 wrong_stage"});
    check_eq(Script(s).add(Release{1, 5}).add(Accept{1, 5}).faults(), Faults{"5 wrong_stage"});
}

TEST(a_job_that_vanishes_is_noticed) {
    check_eq(Script().submit(1).start(1, "n1", 1).faults({}), Faults{"0 vanished"});
    check_eq(Script().submit(1).faults({}), Faults{"0 vanished"});
    check_eq(Script().submit(1).start(1, "n1", 1).faults({true, 1}), Faults{});
}

TEST(time_that_goes_back_is_noticed) {
    check_eq(Script().clock(10).submit(1).clock(9).submit(2).faults(), Faults{});
    check_eq(Script().clock(10).submit(1).clock(8.5).submit(2).faults(), Faults{"3 time_order"});
}

TEST(a_start_before_the_controller_is_noticed) {
    Journal journal;
    journal.lines = {{1, {1, Submit{1, "rigid", 1, 1, 1, 0, "", ""}}},
                     {2, {1, Start{1, "n1", 1, false}}}};
    const Verdict verdict = check(journal, {true, 1});
    check_eq(verdict.violations.size(), 1u);
    check_eq(to_string(verdict.violations[0].rule), "no_controller");
}

TEST(malformed_lines_stand_among_the_violations_in_their_place) {
    Journal journal;
    journal.lines = {{2, {1, Start{1, "n1", 1, false}}}};
    journal.malformed = {{1, "rubbish"}, {3, "more"}};
    const std::vector<Violation> v = check(journal, {true, 1}).violations;
    check_eq(v.size(), 4u);
    check_eq(to_string(v.front().rule), "malformed");
    check_eq(v.front().line, 1u);
    check_eq(v.back().line, 3u);
}

TEST(a_crash_may_forget_agreements_but_repeat_none) {
    Script s;
    s.submit(1).start(1, "n[1-3]", 3).offer(1, 5);
    s.add(Controller{Controller::What::start, 8, ""});
    check_eq(Script(s).offer(1, 6).faults(), Faults{});  // 5 was forgotten
    check_eq(Script(s).add(Accept{1, 5}).offer(1, 6).faults(), Faults{"7 two_agreements"});
    check_eq(Script(s).add(Cancel{1, 5, ""}).offer(1, 6).faults(), Faults{});
    check_eq(Script(s).add(Accept{1, 7}).faults(), Faults{});  // its offer was lost
    check_eq(Script(s).offer(1, 5).faults(), Faults{"6 op_repeats"});
    check_eq(Script(s).start(1, "n[1-3]", 3).faults(), Faults{});  // said again
    check_eq(Script(s).start(1, "n[1-2]", 2).faults(), Faults{"6 starts_twice"});
    check_eq(Script(s).resize(1, 0, kShrink, 3, 2, "n3").faults(), Faults{});
}

TEST(a_shrink_may_be_enforced_without_an_answer) {
    Script s;
    s.submit(1).start(1, "n[1-3]", 3).offer(1, 5).resize(1, 5, kShrink, 3, 2, "n3");
    check_eq(s.faults(), Faults{});
}

TEST(who_holds_what_can_be_asked) {
    Replay replay;
    replay.feed(1, {0, Controller{Controller::What::start, 8, ""}});
    replay.feed(2, {0, Submit{4, "rigid", 2, 2, 2, 0, "", ""}});
    replay.feed(3, {0, Start{4, "n[2,10]", 2, false}});
    const std::vector<Held> held = replay.held();
    check_eq(held.size(), 1u);
    check_eq(held[0].job, 4u);
    check_eq(held[0].nodes, "n[2,10]");
    check_eq(held[0].count, 2);
}

TEST(a_verdict_as_json) {
    const Verdict verdict{{8, 1, 1, 1, 0, 0, 0, 2}, {{3, Rule::node_twice, 7, "why"}}};
    check_eq(
        to_json(verdict).dump(),
        R"({"nodes":8,"jobs":1,"started":1,"completed":1,"shrinks":0,"expands":0,"running":0,)"
        R"("peak_nodes":2,"violations":[{"line":3,"rule":"node_twice","job":7,"message":"why"}]})");
}

// Jobs 1 and 2 run; what became of them was lost, but for what the journal says when it resumes.
TEST(a_journal_that_resumes_says_anew_what_there_is) {
    Script script;
    script.submit(1).start(1, "n[1-2]", 2).submit(2).start(2, "n[3-4]", 2).offer(2, 9);
    script.add(Controller{Controller::What::resume, 8, ""});
    script.submit(2).submit(3).start(2, "n[3-5]", 3).start(3, "n[1-2]", 2);
    script.add(Ready{2, 7}).add(Accept{2, 11}).add(Release{2, 11});
    script.resize(2, 11, kShrink, 3, 2, "n5");
    script.add(Accept{2, 9}).resize(2, 9, kExpand, 2, 3, "n6").end(2, 3).end(3, 2);
    check_eq(script.faults({false, 1}), Faults{});
    check_eq(script.summary().jobs, 3);
    script.start(1, "n1", 1);
    check_eq(script.faults(), (Faults{"20 after_end"}));
}

TEST(what_is_said_anew_includes_prices_and_counts_as_no_start) {
    Script script;
    script.submit(1).start(1, "n[1-2]", 2).offer(1, 9);
    script.add(Controller{Controller::What::resume, 8, ""});
    script.add(Supply{"spot", "n1", 1, -1}).submit(1).submit(2);
    script.start(1, "n[1-2]", 2).start(2, "n3", 1).add(Accept{1, 9});
    check_eq(script.faults(), Faults{});
    check_eq(script.summary().started, 2);
}

TEST(a_journal_without_its_beginning_judges_whom_it_knows) {
    const ReplayOptions option{true, 1, true};
    Journal journal;
    const auto add = [&](auto what) {
        journal.lines.push_back({journal.lines.size() + 1, {1, std::move(what)}});
        return check(journal, option).violations.size();
    };
    check_eq(add(Accept{1, 9}), 0u);
    check_eq(add(Start{2, "n1", 1, false}), 0u);
    check_eq(add(End{1, "COMPLETED", 7}), 0u);
    check_eq(add(Submit{3, "rigid", 1, 1, 1, 0, "", ""}), 0u);
    check_eq(add(Start{3, "n1", 1, false}), 1u);  // which job 2 has
    check_eq(add(Controller{Controller::What::resume, 8, ""}), 1u);
    check_eq(add(Submit{3, "rigid", 1, 1, 1, 0, "", ""}), 1u);
    check_eq(add(Accept{1, 9}), 2u);  // nobody is unknown any more
}

TEST(a_torn_line_is_a_fault_unless_the_journal_resumes_behind_it) {
    const Event resume{5, Controller{Controller::What::resume, 8, ""}};
    const Event start{5, Controller{Controller::What::start, 8, ""}};
    for (const bool resumes : {true, false}) {
        Journal journal;
        journal.lines = {{1, start}, {4, resumes ? resume : start}};
        journal.malformed = {{2, "torn"}, {3, "torn"}};
        const std::vector<Violation> faults = check(journal, {}).violations;
        check_eq(faults.size(), resumes ? 1u : 2u);
        check_eq(faults[0].line, 2u);
    }
}

TEST(a_step_says_how_many_nodes_its_job_has) {
    Script s;
    s.submit(1).start(1, "n[1-2]", 2);
    Step step;
    step.job = 1;
    step.held = 2;
    s.add(step);
    check_eq(s.faults(), Faults{});
    step.held = 3;
    check_eq(s.add(step).faults(), Faults{"5 wrong_size"});
}

TEST(a_job_initialises_nodes_that_it_has) {
    Script s;
    s.submit(1).start(1, "n[1-2]", 2).add(Initialise{1, "weather", "n[1-2]"});
    check_eq(s.faults(), Faults{});
    check_eq(s.add(Initialise{1, "weather", "n[2-3]"}).faults(), Faults{"5 not_held"});
}

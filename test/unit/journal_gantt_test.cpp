// SPDX-License-Identifier: MIT
// Charts of a journal: who holds which node when, across gaps too, drawn for a terminal and as an
// image.
#include <string>

#include "journal/axis.hpp"
#include "journal/gantt.hpp"
#include "testing.hpp"

using namespace elastic;
using namespace elastic::journal;

namespace {

// Job 1 gives n2 to job 2 at 20 s; n10 is never whole.
std::vector<Line> small_journal(Time zero = 0) {
    return {
        {1, {zero, Controller{Controller::What::start, 4, ""}}},
        {2, {zero, Submit{1, "malleable", 1, 2, 2, 0, "alice", "a&b"}}},
        {3, {zero, Submit{2, "rigid", 2, 2, 2, 0, "bob", "fixed"}}},
        {4, {zero, Start{1, "n[1-2]", 2, false}}},
        {5, {zero + 20, Resize{1, 1, ResizeKind::shrink, 2, 1, "n2", "for <a> pending job"}}},
        {6, {zero + 20, Start{2, "n[2,10]", 2, false}}},
        {7, {zero + 30, End{2, "FAILED", 2}}},
        {8, {zero + 40, End{1, "COMPLETED", 1}}},
    };
}

std::size_t count(const std::string& text, const std::string& part) {
    std::size_t n = 0;
    for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
    return n;
}

}  // namespace

TEST(the_timeline_has_a_span_for_each_time_a_job_holds_a_node) {
    const Timeline t = timeline(small_journal());
    check_eq(t.from, 0.0);
    check_eq(t.to, 40.0);
    check_eq(t.nodes, 4);
    check_eq(t.rows.size(), 3u);
    check_eq(t.rows[2].node, "n10");  // behind n2
    check_that(t.rows[0].spans == (std::vector<Span>{{0, 0, 40, false, false}}));
    check_that(t.rows[1].spans ==
               (std::vector<Span>{{0, 0, 20, false, true}, {1, 20, 30, false, false}}));
    check_eq(t.jobs.size(), 2u);
    check_eq(t.jobs[0].sizes, (std::vector<int>{2, 1}));
    check_eq(t.jobs[1].state, "FAILED");
}

TEST(steps_of_profiles_and_their_waits_are_drawn) {
    using enum ResizeKind;
    std::vector<Line> lines = small_journal();
    lines.insert(lines.end() - 1, {
                                      {8, {31, Step{1, 2, 2, 1}}},
                                      {9, {36, Resize{1, 2, expand, 1, 2, "n2", "step"}}},
                                      {10, {37, Step{1, 3, 4, 2}}},
                                  });
    const Timeline t = timeline(lines);
    const std::vector<StepBegin>& steps = t.jobs[0].steps;
    check_eq(steps.size(), 2u);
    check_eq(steps[0].at, 31.0);
    check_eq(steps[0].had_at, 36.0);
    check_eq(steps[1].had_at, 40.0);  // in vain
    check_eq(t.jobs[0].step_wait(), 8.0);
    const std::string svg = draw_svg(t), text = draw_text(t);
    check_that(svg.find("step 2 of its profile, 2 nodes, at 31s, waits until 36s") != svg.npos);
    check_that(count(svg, "stroke-dasharray") > 0);
    check_that(count(svg, "url(#waits)") > 0);
    check_that(text.find("steps waited 8s") != text.npos);
    const std::string without = draw_svg(timeline(small_journal()));
    check_eq(count(without, "waits"), 0u);
}

TEST(a_job_without_end_runs_to_the_last_event) {
    std::vector<Line> lines = small_journal();
    lines.pop_back();
    const Timeline t = timeline(lines);
    check_eq(t.rows[0].spans[0].to, 30.0);
    check_eq(t.jobs[0].state, "");
}

TEST(nonsense_is_drawn_as_well_as_it_goes) {
    std::vector<Line> lines = small_journal();
    lines.push_back({9, {50, Start{3, "n[1-", 2, false}}});
    lines.push_back({10, {45, Resize{1, 0, ResizeKind::shrink, 2, 1, "x9", ""}}});
    lines.push_back({11, {60, Resize{9, 0, ResizeKind::expand, 2, 3, "x9", ""}}});
    lines.push_back({12, {61, End{9, "COMPLETED", 3}}});
    lines.push_back({13, {62, Start{4, "n1", 1, false}}});
    lines.push_back({14, {63, Start{4, "n[1,2]", 1, false}}});
    const Timeline t = timeline(lines);
    for (const Row& row : t.rows)
        for (const Span& span : row.spans)
            check_that(t.from <= span.from && span.from <= span.to && span.to <= t.to);
    check_that(!draw_text(t).empty());
    check_that(!draw_svg(t).empty());
}

TEST(elements_of_arrays_are_named_as_users_know_them) {
    std::vector<Line> lines = small_journal();
    std::get<Start>(lines[3].event.what).array = "7_<3>";
    const Timeline t = timeline(lines);
    check_eq(t.jobs[0].label, "7_<3>");
    check_eq(t.jobs[1].label, "2");
    check_that(count(draw_text(t), " 7_<3>  ") == 1);
    const std::string image = draw_svg(t, "");
    check_that(count(image, "7_&lt;3&gt;") > 0 && count(image, "7_<3>") == 0);
}

// Who still runs when a journal resumes is said anew.
TEST(nobody_is_drawn_beyond_a_gap_who_is_not_there_behind_it) {
    std::vector<Line> lines = small_journal();
    lines.resize(4);
    lines.push_back({5, {20, Controller{Controller::What::resume, 4, ""}}});
    lines.push_back({6, {30, Controller{Controller::What::reconfigure, 4, ""}}});
    check_that(timeline(lines).rows[0].spans == (std::vector<Span>{{0, 0, 20, false, false}}));
}

TEST(who_runs_on_when_a_journal_resumes_is_drawn_as_if_it_did_not) {
    const std::vector<Line> before = small_journal();
    std::vector<Line> lines(before.begin(), before.begin() + 4);
    const Time now = 10;
    lines.push_back({5, {now, Controller{Controller::What::resume, 4, ""}}});
    for (int said : {1, 2, 3}) {  // each is said anew
        lines.push_back(before[static_cast<std::size_t>(said)]);
        lines.back().event.time = now;
    }
    lines.insert(lines.end(), before.begin() + 4, before.end());
    const Timeline whole = timeline(before), cut = timeline(lines);
    check_eq(cut.rows.size(), whole.rows.size());
    for (std::size_t i = 0; i < whole.rows.size(); ++i)
        check_that(cut.rows[i].spans == whole.rows[i].spans);
    check_that(cut.jobs[0].sizes == whole.jobs[0].sizes);
    check_eq(cut.jobs[0].start, whole.jobs[0].start);
    check_eq(cut.jobs[0].submit, whole.jobs[0].submit);
}

TEST(nodes_can_be_picked) {
    const Result<Timeline> t = only_nodes(timeline(small_journal()), "n[2,7]");
    check_ok(t);
    check_eq(t->rows.size(), 1u);
    check_eq(t->rows[0].node, "n2");
    check_that(!only_nodes(timeline(small_journal()), "n["));
}

TEST(the_chart_for_a_terminal_looks_like_this) {
    TextOptions options;
    options.width = 45;
    options.unicode = false;
    check_eq(draw_text(timeline(small_journal()), options),
             " n1|AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n"
             " n2|AAAAAAAAAAAAAAAAAAAABBBBBBBBBB..........\n"
             "n10|....................BBBBBBBBBB..........\n"
             "   ++---------+---------+---------+---------\n"
             "    0         10s       20s       30s\n"
             "1 more node was never used\n"
             "\n"
             "A 1  a&b    malleable  2 -> 1\n"
             "B 2  fixed  rigid      2  FAILED\n");
}

TEST(neighbours_share_a_row_where_there_are_many) {
    TextOptions options;
    options.width = 40;
    options.max_rows = 2;
    const std::string chart = draw_text(timeline(small_journal()), options);
    check_eq(chart.substr(0, chart.find("│")), "n[1-2]");
    check_eq(count(chart, "│"), 2u);
}

TEST(colours_end_where_they_begin) {
    TextOptions options;
    options.colour = true;
    const std::string chart = draw_text(timeline(small_journal()), options);
    check_that(chart.find("\x1b[38;5;16;48;5;") != chart.npos);
    // Every job's colour replaces the last or is ended by a reset before the line ends.
    for (std::size_t at = 0, end; (end = chart.find('\n', at)) != chart.npos; at = end + 1) {
        const std::string line = chart.substr(at, end - at);
        const std::size_t on = line.rfind("\x1b[38"), off = line.rfind("\x1b[0m");
        check_that(on == line.npos || (off != line.npos && off > on));
    }
}

TEST(a_live_clusters_chart_says_when_it_begins) {
    const std::string chart = draw_text(timeline(small_journal(1'700'000'000)));
    check_that(chart.find("0 is 2023-11-14 22:13:20 UTC") != chart.npos);
}

TEST(the_image_joins_neighbours_and_escapes_texts) {
    const std::string svg = draw_svg(timeline(small_journal()), "<&>");
    check_that(svg.starts_with("<?xml"));
    check_that(svg.ends_with("</svg>\n"));
    check_that(svg.find("&lt;&amp;&gt;") != svg.npos);
    check_that(svg.find("<a>") == svg.npos);
    check_that(svg.find("given up: 2 → 1, for &lt;a&gt; pending job") != svg.npos);
    // n1 of job 1, n2 of job 1; n2 and n10 of job 2 stand together.
    check_eq(count(svg, "<g><title>"), 3u);
    check_eq(count(svg, "<g>"), count(svg, "</g>"));
    check_eq(count(svg, "<text"), count(svg, "</text>"));
}

TEST(an_empty_journal_gives_empty_drawings) {
    const Timeline t = timeline({});
    check_eq(draw_text(t), "no job has started\n");
    check_that(draw_svg(t).ends_with("</svg>\n"));
}

TEST(ticks_are_round_and_not_too_many) {
    check_eq(tick_step(40, 4), 10.0);
    check_eq(tick_step(41, 4), 15.0);
    check_eq(tick_step(3 * 86400, 10), 43200.0);
    for (const double span : {1e-3, 1.0, 777.0, 1e6, 1e9, 1e18})
        check_that(span / tick_step(span, 7) <= 7);
    check_eq(tick_label(0), "0");
    check_eq(tick_label(90), "1m30s");
    check_eq(tick_label(129600), "1d12h");
}

TEST(long_histories_are_cut_in_the_middle) {
    JobHistory job;
    for (int i = 1; i <= 9; ++i) job.sizes.push_back(i);
    check_eq(sizes_text(job, "->"), "1 -> 2 -> 3 -> ... -> 7 -> 8 -> 9");
    job.sizes.pop_back();
    check_eq(sizes_text(job, ","), "1 , 2 , 3 , 4 , 5 , 6 , 7 , 8");
}

// SPDX-License-Identifier: MIT
// Tables, figures, pages, and the rules by which findings are judged.
#include <atomic>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "studies/report/plot.hpp"
#include "studies/report/report.hpp"
#include "studies/report/table.hpp"
#include "studies/run_pool.hpp"
#include "studies_test.hpp"

namespace elastic::studies {
namespace {

using testing::is_well_formed;

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

TEST(csv_quotes_what_needs_it) {
    Table table({"a", "b"});
    table.add({"x,y", "say \"no\""});
    table.add({"", "1.5"});
    check_eq(table.csv(), "a,b\n\"x,y\",\"say \"\"no\"\"\"\n,1.5\n");
}

TEST(text_aligns_numbers_to_the_right) {
    Table table({"name", "n"});
    table.add({"a", "5"});
    table.add({"long", "12345"});
    check_eq(table.text(), "name      n\na         5\nlong  12345\n");
}

TEST(numbers_that_are_none_are_empty) {
    check_eq(fixed(1.005, 1), "1.0");
    check_eq(fixed(kNothing, 1), "");
    check_eq(exact(0.1), "0.1");
    check_eq(exact(std::numeric_limits<double>::infinity()), "");
}

Figure hostile_figure(Figure::Kind kind) {
    Figure figure;
    figure.title = "<script>&\"\x01";
    figure.x_label = "x<y";
    figure.kind = kind;
    figure.x = {1, 2, 3};
    figure.categories = {"<a>", "b&c", ""};
    figure.panels = {{"p<", {{"s&", {1, kNothing, 3}}, {"rigid", {2, 2, 2}, true}}},
                     {"q>", {{"s&", {-1, 0, 5}}, {"rigid", {2, 2, 2}, true}}}};
    return figure;
}

std::string drawn(const Figure& figure) {
    const Result<std::string> svg = draw_svg(figure);
    check_ok(svg);
    return *svg;
}

TEST(figures_are_well_formed_whatever_the_texts_are) {
    if (!testing::can_draw()) return;
    for (const auto kind : {Figure::Kind::lines, Figure::Kind::bars}) {
        const std::string svg = drawn(hostile_figure(kind));
        check_that(is_well_formed(svg));
        check_that(svg.find("<script") == std::string::npos);
        check_that(svg.find("nan") == std::string::npos);
    }
    check_that(is_well_formed(drawn({})));
    check_that(!is_well_formed("<a><b></a></b>"));
}

TEST(a_flat_line_has_an_axis) {
    if (!testing::can_draw()) return;
    Figure figure;
    figure.x = {5};
    figure.panels = {{"", {{"s", {0}}}}};
    const std::string svg = drawn(figure);
    check_that(svg.find("nan") == std::string::npos && svg.find("inf") == std::string::npos);
}

TEST(the_table_of_a_figure_has_references_once) {
    const Table table = to_table(hostile_figure(Figure::Kind::lines));
    check_eq(table.columns(), (std::vector<std::string>{"x<y", "p<: s&", "rigid", "q>: s&"}));
    check_eq(table.rows().size(), 3U);
    check_eq(table.rows()[1], (std::vector<std::string>{"2", "", "2", "0"}));
}

TEST(a_difference_is_judged_by_its_error_over_the_seeds) {
    const Difference one = difference({3, 5, 4, 4}, {1, 2, 3, 2});  // 2, 3, 1, 2
    check_near(one.mean, 2, 1e-12);
    check_near(one.error, 2 * std::sqrt(2.0 / 3 / 4), 1e-12);
    check_that(is_positive(one) == Answer::yes);
    check_that(is_positive(difference({1, 2, 3, 2}, {3, 5, 4, 4})) == Answer::no);
    check_that(is_positive(difference({1, 9}, {2, 3})) == Answer::undecided);
    check_that(is_positive(difference({9}, {1})) == Answer::undecided);  // one seed says nothing
    check_that(is_positive(difference({1, 2}, {1, 2})) == Answer::undecided);
    check_that(is_within(one, 3) == Answer::yes);
    check_that(is_within(one, 1) == Answer::no);
    check_that(is_within(one, 2) == Answer::undecided);
    check_that(both(Answer::yes, Answer::undecided) == Answer::undecided);
    check_that(both(Answer::no, Answer::undecided) == Answer::no);
    check_that(opposite(Answer::no) == Answer::yes);
    check_that(opposite(Answer::undecided) == Answer::undecided);
}

TEST(what_nobody_can_tell_is_undecided) {
    using enum Verdict;
    check_that(verdict(Answer::undecided) == undecided);
    check_that(in_all({3, 4, 1}) == partly);
    check_that(in_all({1, 4, 3}) == undecided);
    check_that(in_all({1, 4, 2}) == not_confirmed);
    check_that(in_most({2, 5, 1}) == undecided);
    check_that(in_most({1, 5, 1}) == not_confirmed);
    check_that(all_of({undecided, undecided}) == undecided);
    check_that(all_of({undecided, not_confirmed}) == not_confirmed);
    check_that(all_of({undecided, confirmed}) == partly);
    Tally tally;
    for (const Answer one : {Answer::yes, Answer::no, Answer::undecided}) tally.count(one);
    check_eq(to_string(tally), "1 of 3 (1 undecided)");
}

TEST(a_reason_is_a_run_or_there_is_none) {
    const auto finding = [](Verdict verdict) { return Finding{"here", "so", verdict, "seen"}; };
    using enum Verdict;
    std::vector<Finding> list{finding(confirmed), finding(partly), finding(not_confirmed),
                              finding(undecided)};
    const std::vector<Variant> variants{
        {"another", {finding(partly), finding(confirmed), finding(partly), finding(confirmed)}}};
    const Table table = side_by_side("own", list, variants);
    check_eq(table.columns(), (std::vector<std::string>{"place", "statement", "own", "another"}));
    check_eq(table.rows()[1], (std::vector<std::string>{"here", "so", "partly", "confirmed"}));
    explain(list, variants);
    check_eq(list[0].outcome, "seen");
    check_eq(list[1].outcome, "seen. Confirmed with: another");
    check_eq(list[2].outcome, "seen. Not explained");
    check_eq(list[3].outcome, "seen");
    std::vector<Finding> others{finding(partly), finding(not_confirmed)};
    others[0].reason = others[1].reason = "Twice as long it is half";
    explain(others, {{"another", {finding(confirmed), finding(partly)}}});
    check_eq(others[0].outcome, "seen. Confirmed with: another");
    check_eq(others[1].outcome, "seen. Twice as long it is half");
}

TEST(printed_numbers_are_confirmed_by_every_one_of_them) {
    check_that(every_value({4, 4}) == Verdict::confirmed);
    check_that(every_value({3, 4}) == Verdict::partly);
    check_that(every_value({1, 4}) == Verdict::partly);
    check_that(every_value({0, 4}) == Verdict::not_confirmed);
    check_that(every_value({0, 0}) == Verdict::not_confirmed);
    Nearness near;
    near.count(10, 19, 2);
    check_eq(to_string(near), "1 of 1");
    near.count(10, 36, 2);
    check_eq(to_string(near), "1 of 2, the others off by 3.6 times");
    near.count(146, 10, 2);
    check_eq(to_string(near), "1 of 3, the others off by 3.6 to 14.6 times");
}

TEST(verdicts_follow_their_rules) {
    check_that(in_all({4, 4}) == Verdict::confirmed);
    check_that(in_all({3, 4}) == Verdict::partly);
    check_that(in_all({1, 4}) == Verdict::not_confirmed);
    check_that(in_all({0, 0}) == Verdict::not_confirmed);
    check_that(in_most({3, 5}) == Verdict::confirmed);
    check_that(in_most({2, 4}) == Verdict::partly);
    check_that(in_most({0, 4}) == Verdict::not_confirmed);
    using enum Verdict;
    check_that(all_of({confirmed, confirmed}) == confirmed);
    check_that(all_of({confirmed, not_confirmed}) == partly);
    check_that(all_of({not_confirmed, not_confirmed}) == not_confirmed);
    check_that(all_of({partly, partly}) == partly);
}

TEST(a_report_is_a_folder_that_can_be_read_alone) {
    if (!testing::can_draw()) return;
    const testing::Folder folder;
    Report report(folder.file("sub/deep"), "A <title>");
    report.heading("h & h");
    Table table({"a"});
    table.add({"<b>"});
    report.table("t", "A table", table);
    report.figure("f", hostile_figure(Figure::Kind::bars));
    report.findings({{"figure 1", "a < b", Verdict::partly, "1 of 2"}});
    report.list({"one", "two"});
    check_ok(report.finish());
    const auto files = testing::files_in(folder.file("sub/deep"));
    for (const char* name : {"index.html", "t.csv", "t.txt", "f.svg", "f.csv", "findings.csv"})
        check_that(files.contains(name));
    const std::string& page = files.at("index.html");
    check_that(is_well_formed(
        page.substr(page.find("<title>"), page.find("</title>") + 8 - page.find("<title>"))));
    check_that(page.find("a &lt; b") != std::string::npos);
    check_that(page.find("<td class=\"partly\">partly</td>") != std::string::npos);
}

TEST(a_report_that_cannot_be_written_says_so) {
    const testing::Folder folder;
    testing::write_to(folder.file("file"), "x");
    Report report(folder.file("file/sub"), "title");
    check_that(!report.finish());
}

TEST(every_task_runs_once_on_any_number_of_threads) {
    for (const int threads : {1, 2, 7}) {
        std::vector<std::atomic<int>> runs(100);
        run_all(runs.size(), {threads, ""}, [&](std::size_t i) { ++runs[i]; });
        for (const auto& one : runs) check_eq(one.load(), 1);
    }
    run_all(0, {}, [](std::size_t) { check_that(false); });
}

TEST(what_a_task_throws_is_thrown_to_the_caller) {
    bool thrown = false;
    try {
        run_all(50, {3, ""}, [](std::size_t i) {
            if (i == 20) throw std::runtime_error("no");
        });
    } catch (const std::runtime_error&) {
        thrown = true;
    }
    check_that(thrown);
}

}  // namespace
}  // namespace elastic::studies

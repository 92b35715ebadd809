// SPDX-License-Identifier: MIT
// A page with relative links, so that the folder can be copied anywhere.
#include "studies/report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>
#include <system_error>

#include "common/atomic_file.hpp"
#include "common/text.hpp"
#include "studies/report/html.hpp"

namespace elastic::studies {
namespace {

constexpr std::size_t kMostRowsOnPage = 50;

// Its class in the style sheet of pages, one word.
std::string_view style_class(Verdict verdict) {
    return verdict == Verdict::not_confirmed ? "not" : to_string(verdict);
}

}  // namespace

std::string_view to_string(Verdict verdict) {
    switch (verdict) {
        case Verdict::confirmed:
            return "confirmed";
        case Verdict::partly:
            return "partly";
        case Verdict::not_confirmed:
            return "not confirmed";
        case Verdict::undecided:
            return "undecided";
    }
    return "";
}

Answer answer(bool yes) {
    return yes ? Answer::yes : Answer::no;
}

Answer opposite(Answer one) {
    return one == Answer::undecided ? one : answer(one == Answer::no);
}

Answer both(Answer a, Answer b) {
    if (a == Answer::no || b == Answer::no) return Answer::no;
    return a == Answer::yes && b == Answer::yes ? Answer::yes : Answer::undecided;
}

Verdict verdict(Answer one) {
    if (one == Answer::undecided) return Verdict::undecided;
    return one == Answer::yes ? Verdict::confirmed : Verdict::not_confirmed;
}

double mean_of(const std::vector<double>& values) {
    if (values.empty()) return 0;
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

Difference difference(const std::vector<double>& a, const std::vector<double>& b) {
    std::vector<double> each;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) each.push_back(a[i] - b[i]);
    Difference result{mean_of(each), std::numeric_limits<double>::infinity()};
    if (each.size() < 2) return result;
    double squares = 0;
    for (const double one : each) squares += (one - result.mean) * (one - result.mean);
    const auto n = static_cast<double>(each.size());
    result.error = 2 * std::sqrt(squares / (n - 1) / n);
    return result;
}

Answer is_positive(const Difference& d) {
    if (std::abs(d.mean) <= d.error) return Answer::undecided;
    return answer(d.mean > 0);
}

Answer is_within(const Difference& d, double most) {
    if (std::abs(d.mean) + d.error <= most) return Answer::yes;
    return std::abs(d.mean) - d.error > most ? Answer::no : Answer::undecided;
}

void Tally::count(Answer one) {
    ++of;
    holds += one == Answer::yes;
    undecided += one == Answer::undecided;
}

std::string to_string(const Tally& tally) {
    const std::string text = fmt::format("{} of {}", tally.holds, tally.of);
    return tally.undecided > 0 ? fmt::format("{} ({} undecided)", text, tally.undecided) : text;
}

Verdict in_all(const Tally& tally) {
    if (tally.of > 0 && tally.holds == tally.of) return Verdict::confirmed;
    if (tally.share() >= 0.5) return Verdict::partly;
    const bool none_fails = tally.of > 0 && tally.holds + tally.undecided == tally.of;
    return none_fails ? Verdict::undecided : Verdict::not_confirmed;
}

Verdict in_most(const Tally& tally) {
    if (tally.share() > 0.5) return Verdict::confirmed;
    if (2 * (tally.holds + tally.undecided) > tally.of) return Verdict::undecided;
    return tally.share() >= 0.25 ? Verdict::partly : Verdict::not_confirmed;
}

Verdict every_value(const Tally& tally) {
    if (tally.holds == 0) return Verdict::not_confirmed;
    return tally.holds == tally.of ? Verdict::confirmed : Verdict::partly;
}

void Nearness::count(double ours, double paper, double factor) {
    const double low = std::min(ours, paper), high = std::max(ours, paper);
    const double off = low > 0 ? high / low : std::numeric_limits<double>::infinity();
    const bool is_near = off < factor;
    tally.count(is_near);
    if (is_near) return;
    const bool is_first = tally.of - tally.holds == 1;
    least_off = is_first ? off : std::min(least_off, off);
    most_off = is_first ? off : std::max(most_off, off);
}

std::string to_string(const Nearness& near) {
    const std::string text = to_string(near.tally);
    if (near.tally.holds == near.tally.of) return text;
    const std::string off = near.most_off > near.least_off
                                ? fmt::format("{:.1f} to {:.1f}", near.least_off, near.most_off)
                                : fmt::format("{:.1f}", near.most_off);
    return fmt::format("{}, the others off by {} times", text, off);
}

Verdict all_of(const std::vector<Verdict>& parts) {
    const auto are = [&](Verdict verdict) {
        return std::ranges::all_of(parts, [&](Verdict part) { return part == verdict; });
    };
    if (are(Verdict::confirmed)) return Verdict::confirmed;
    if (are(Verdict::undecided)) return Verdict::undecided;
    const bool none_holds = std::ranges::all_of(parts, [](Verdict part) {
        return part == Verdict::not_confirmed || part == Verdict::undecided;
    });
    return none_holds ? Verdict::not_confirmed : Verdict::partly;
}

void explain(std::vector<Finding>& findings, const std::vector<Variant>& variants) {
    for (std::size_t i = 0; i < findings.size(); ++i) {
        const Verdict verdict = findings[i].verdict;
        if (verdict == Verdict::confirmed || verdict == Verdict::undecided) continue;
        std::string with;
        for (const Variant& variant : variants)
            if (variant.findings[i].verdict == Verdict::confirmed)
                with += (with.empty() ? "" : "; ") + variant.name;
        const std::string& reason = findings[i].reason;
        findings[i].outcome += !with.empty()     ? ". Confirmed with: " + with
                               : !reason.empty() ? ". " + reason
                                                 : ". Not explained";
    }
}

Table side_by_side(const std::string& first, const std::vector<Finding>& findings,
                   const std::vector<Variant>& variants) {
    std::vector<std::string> columns{"place", "statement", first};
    for (const Variant& variant : variants) columns.push_back(variant.name);
    Table table(columns);
    for (std::size_t i = 0; i < findings.size(); ++i) {
        std::vector<std::string> row{findings[i].place, findings[i].statement,
                                     std::string(to_string(findings[i].verdict))};
        for (const Variant& variant : variants)
            row.emplace_back(to_string(variant.findings[i].verdict));
        table.add(row);
    }
    return table;
}

Table to_table(const std::vector<Finding>& findings) {
    Table table({"place", "statement", "verdict", "outcome"});
    for (const Finding& finding : findings)
        table.add({finding.place, finding.statement, std::string(to_string(finding.verdict)),
                   finding.outcome});
    return table;
}

Report::Report(std::string folder, std::string title)
    : folder_(std::move(folder)), title_(std::move(title)) {
    std::error_code failure;
    std::filesystem::create_directories(folder_, failure);
    if (failure) written_ = error("{}: {}", printable(folder_, 200), failure.message());
}

void Report::write(const std::string& name, std::string_view content) {
    if (!written_) return;
    written_ =
        write_file(folder_ + '/' + name, content, Durability::survives_process, kForEverybody);
}

void Report::heading(std::string_view text) {
    body_ += fmt::format("<h2>{}</h2>\n", escape_xml(text));
}

void Report::text(std::string_view text) {
    body_ += fmt::format("<p>{}</p>\n", escape_xml(text));
}

void Report::list(const std::vector<std::string>& items) {
    body_ += "<ul>\n";
    for (const std::string& item : items) body_ += fmt::format("<li>{}</li>\n", escape_xml(item));
    body_ += "</ul>\n";
}

void Report::figure(const std::string& name, const Figure& figure) {
    const Result<std::string> drawn = draw_svg(figure);
    if (!drawn && written_) written_ = drawn.error();
    if (!drawn) return;
    image(name, *drawn, figure.title);
    write(name + ".csv", to_table(figure).csv());
    body_ += fmt::format("<p><a href=\"{0}.csv\">{0}.csv</a></p>\n", escape_xml(name));
}

void Report::image(const std::string& name, std::string_view svg, std::string_view title) {
    write(name + ".svg", svg);
    body_ += fmt::format("<p><img src=\"{}.svg\" alt=\"{}\"/></p>\n", escape_xml(name),
                         escape_xml(title));
}

void Report::table(const std::string& name, std::string_view title, const Table& table) {
    write(name + ".csv", table.csv());
    write(name + ".txt", table.text());
    body_ += fmt::format("<p>{0}: <a href=\"{1}.csv\">{1}.csv</a>, {2} rows</p>\n",
                         escape_xml(title), escape_xml(name), table.rows().size());
    if (table.rows().size() > kMostRowsOnPage) return;
    body_ += html_table(table);
}

void Report::findings(const std::vector<Finding>& findings) {
    const Table table = to_table(findings);
    write("findings.csv", table.csv());
    body_ +=
        "<table>\n<tr><th>where</th><th>the paper says</th><th>here</th>"
        "<th>what came out</th></tr>\n";
    for (const Finding& finding : findings)
        body_ += fmt::format("<tr><td>{}</td><td>{}</td><td class=\"{}\">{}</td><td>{}</td></tr>\n",
                             escape_xml(finding.place), escape_xml(finding.statement),
                             style_class(finding.verdict), to_string(finding.verdict),
                             escape_xml(finding.outcome));
    body_ += "</table>\n";
}

Result<void> Report::finish() {
    write("index.html", html_page(title_, body_));
    return written_;
}

}  // namespace elastic::studies

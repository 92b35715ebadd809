// SPDX-License-Identifier: MIT
// The page goes from the answer to its reasons: what to set, which runs say so, and which jobs pay
// for it.
#include "studies/advice/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/text.hpp"
#include "simulator/comparison.hpp"
#include "studies/report/html.hpp"
#include "studies/report/plot.hpp"
#include "studies/report/table.hpp"

namespace elastic::studies {
namespace {

constexpr std::size_t kMostUsers = 50;  // on the page; the JSON has them all
constexpr std::size_t kDrawn = 4;       // presets in a figure, besides easy

std::string percent(double gain) {
    return fixed(100 * gain, 1);
}

// A word for a gain: one that is smaller than its error says nothing.
std::string judged(const Difference& gain) {
    const Answer is_worse = is_positive(gain);
    return is_worse == Answer::undecided ? "undecided"
           : is_worse == Answer::yes     ? "worse"
                                         : "better";
}

std::string hours(double seconds) {
    return fixed(seconds / 3600, 2);
}

// ---- tables

Table ranking_table(const Advice& advice) {
    Table table(
        {"policy", "turnaround_%", "worst_%", "worse_in", "longest_wait_h", "longest_delay_h"});
    for (const Ranking& r : advice.rankings)
        table.add({r.policy, percent(r.gain), percent(r.worst_gain), std::to_string(r.worse),
                   hours(r.longest_wait), hours(r.longest_delay)});
    return table;
}

Table standing_table(const Advice& advice) {
    Table table({"share_%",
                 "cost_factor",
                 "policy",
                 "turnaround_h",
                 "against_easy_%",
                 "error_%",
                 "worst_seed_%",
                 "verdict",
                 "bounded_slowdown",
                 "wait_h",
                 "p99_wait_h",
                 "longest_wait_h",
                 "rigid_turnaround_h",
                 "useful_utilisation_%",
                 "work_done_%",
                 "wait_longer",
                 "longer_by_h",
                 "longest_delay_h",
                 "starts_missed",
                 "delayed"});
    for (const Standing& s : advice.standings)
        table.add({exact(s.share),
                   exact(s.cost_factor),
                   s.policy,
                   hours(s.mean.turnaround),
                   percent(s.gain.mean),
                   fixed(100 * s.gain.error, 1),
                   percent(s.worst),
                   s.policy == "easy" ? "" : judged(s.gain),
                   fixed(s.mean.slowdown, 1),
                   hours(s.mean.wait),
                   hours(s.mean.p99_wait),
                   hours(s.mean.longest_wait),
                   hours(s.mean.rigid_turnaround),
                   fixed(100 * s.mean.useful_utilisation, 1),
                   fixed(100 * s.mean.work_done, 1),
                   fixed(s.mean.longer, 1),
                   hours(s.mean.mean_longer),
                   hours(s.mean.longest_delay),
                   fixed(s.mean.missed, 1),
                   fixed(s.mean.delayed, 1)});
    return table;
}

const Standing& standing_of(const Advice& advice, std::string_view policy, double share,
                            double cost_factor) {
    return *std::ranges::find_if(advice.standings, [&](const Standing& s) {
        return s.policy == policy && s.share == share && s.cost_factor == cost_factor;
    });
}

// A row for each share and cost: what order gives, what the recommended preset gives, and what is
// left of that if the order is had anyway.
Table order_table(const Advice& advice) {
    Table table({"share_%", "cost_factor", "order_%", advice.recommended + "_%", "beyond_order_%",
                 "order_longer", "by_h", "at_most_h", "starts_missed", "longer", "by_h",
                 "at_most_h", "starts_missed"});
    for (const Standing& order : advice.standings) {
        if (order.policy != simulator::kOrderAlone) continue;
        const Standing& s = standing_of(advice, advice.recommended, order.share, order.cost_factor);
        std::vector<std::string> cells{exact(s.share), exact(s.cost_factor),
                                       percent(order.gain.mean), percent(s.gain.mean),
                                       percent((1 + s.gain.mean) / (1 + order.gain.mean) - 1)};
        for (const Figures* f : {&order.mean, &s.mean})
            for (std::string& cell : std::vector{fixed(f->longer, 1), hours(f->mean_longer),
                                                 hours(f->longest_delay), fixed(f->missed, 1)})
                cells.push_back(std::move(cell));
        table.add(std::move(cells));
    }
    return table;
}

// One line, for the share and cost of the closer looks.
std::string order_text(const Advice& advice) {
    const Standing& order =
        standing_of(advice, simulator::kOrderAlone, advice.share, advice.cost_factor);
    const Standing& s = standing_of(advice, advice.recommended, advice.share, advice.cost_factor);
    return fmt::format(
        "With {} % malleable, order alone ({}) changes mean turnaround by {:.1f} %: {:.0f} of {} "
        "jobs wait longer for it, by {} h on average and at most {} h, and {:.0f} promised starts "
        "are missed. {} changes it by {:.1f} %: {:.0f} jobs wait longer, by {} h and at most {} h, "
        "and {:.0f} promised starts are missed.",
        exact(advice.share), simulator::kOrderAlone, 100 * order.gain.mean, order.mean.longer,
        advice.jobs, hours(order.mean.mean_longer), hours(order.mean.longest_delay),
        order.mean.missed, advice.recommended, 100 * s.gain.mean, s.mean.longer,
        hours(s.mean.mean_longer), hours(s.mean.longest_delay), s.mean.missed);
}

Table group_table(const std::vector<Group>& groups, const Advice& advice, const char* what) {
    Table table({what, "jobs", "easy_h", advice.recommended + "_h", "change_%", "delayed"});
    for (const Group& g : groups) {
        if (table.rows().size() == kMostUsers) break;
        table.add({g.name, fixed(g.jobs, 1), hours(g.easy), hours(g.recommended),
                   percent(g.recommended / g.easy - 1), fixed(g.delayed, 1)});
    }
    return table;
}

Table assumption_table(const Advice& advice) {
    Table table({"if", "run with", "easy_h", advice.recommended + "_%", "error_%", "verdict",
                 "best of those tried", "best_%"});
    for (const Assumption& a : advice.assumptions)
        table.add({a.text, a.options, hours(a.easy), percent(a.gain.mean),
                   fixed(100 * a.gain.error, 1), judged(a.gain), a.best, percent(a.best_gain)});
    return table;
}

Table tenths_table(const simulator::Trust& trust) {
    Table table({"submitted_from", "jobs", "waited_h", "simulated_h", "ratio", "rank_correlation",
                 "missing_%"});
    for (const simulator::Stretch& s : trust.tenths)
        table.add({format_duration(s.from), std::to_string(s.jobs), hours(s.logged),
                   hours(s.simulated), s.ratio() ? fixed(*s.ratio(), 2) : "",
                   s.correlation ? fixed(*s.correlation, 2) : "", percent(s.unexplained)});
    return table;
}

Table trust_groups_table(const simulator::Trust& trust) {
    Table table({"field", "name", "of_jobs_%", "missing_%", "with_room_%"});
    for (const simulator::GroupWaits& g : trust.groups)
        table.add({std::string(to_string(g.field)), g.name, percent(g.of_jobs),
                   percent(g.of_unexplained), percent(g.with_room)});
    return table;
}

Table calibrated_table(const Calibrated& calibrated) {
    Table table({"policy", "as_logged_%", "calibrated_%", "error_%"});
    for (const CalibratedGain& g : calibrated.gains)
        table.add(
            {g.policy, percent(g.as_logged.mean), percent(g.scaled.mean), percent(g.scaled.error)});
    return table;
}

// Empty if nobody asked.
std::string calibrated_text(const Advice& advice) {
    if (!advice.calibrated) return "";
    const auto& [calibration, gains] = *advice.calibrated;
    const auto ours = std::ranges::find(gains, advice.recommended, &CalibratedGain::policy);
    return fmt::format(
        "{}. With {} % malleable {} changes mean turnaround by {} % then, by {} % with arrivals as "
        "they were; the best preset then is {} ({} %).",
        simulator::to_text(calibration), exact(advice.share), advice.recommended,
        percent(ours->scaled.mean), percent(ours->as_logged.mean), gains.front().policy,
        percent(gains.front().scaled.mean));
}

// ---- figures

Figure bars(const char* title, const char* unit) {
    Figure figure;
    figure.title = title;
    figure.y_label = unit;
    figure.kind = Figure::Kind::bars;
    return figure;
}

// The best presets of those that do not all do the same.
std::vector<std::string> drawn_presets(const Advice& advice) {
    std::vector<std::string> names;
    double last = 0;
    for (const Ranking& r : advice.rankings)
        if (names.size() < kDrawn && r.policy != "easy" && std::exchange(last, r.gain) != r.gain)
            names.push_back(r.policy);
    return names;
}

// A panel for each cost factor, in it the shares, for each of them the presets.
Figure by_condition(const Advice& advice, const char* title, const char* unit,
                    const std::vector<std::string>& presets, double (*value)(const Standing&)) {
    Figure figure = bars(title, unit);
    for (const Standing& s : advice.standings) {
        const std::string panel = fmt::format("resizes at {} times the cost", s.cost_factor);
        const std::string share = fmt::format("{} % malleable", s.share);
        if (figure.panels.empty() || figure.panels.back().title != panel) {
            figure.panels.push_back({panel, {}});
            for (const std::string& name : presets)
                figure.panels.back().series.push_back({name, {}, name == "easy"});
        }
        if (std::ranges::count(figure.categories, share) == 0) figure.categories.push_back(share);
        std::vector<Series>& series = figure.panels.back().series;
        const auto at = std::ranges::find(series, s.policy, &Series::name);
        if (at != series.end()) at->y.push_back(value(s));
    }
    return figure;
}

Figure of_groups(const std::vector<Group>& groups, const Advice& advice, const char* title) {
    Figure figure = bars(title, "hours");
    Series easy{"easy", {}, true}, recommended{advice.recommended, {}};
    for (const Group& g : groups) {
        figure.categories.push_back(g.name);
        easy.y.push_back(g.easy / 3600);
        recommended.y.push_back(g.recommended / 3600);
    }
    figure.panels.push_back({"", {easy, recommended}});
    return figure;
}

// ---- the page

std::string paragraph(std::string_view text) {
    return fmt::format("<p>{}</p>\n", escape_xml(text));
}

std::string heading(std::string_view text) {
    return fmt::format("<h2>{}</h2>\n", escape_xml(text));
}

// What stands before the image in its file has no place inside a page.
std::string image(const Figure& figure) {
    const Result<std::string> svg = draw_svg(figure);
    if (!svg)
        return paragraph(fmt::format("{} is not drawn: {}", figure.title, svg.error().message));
    return "<p>" + svg->substr(std::min(svg->find("<svg"), svg->size())) + "</p>\n";
}

// The one that stands first where something is advised.
std::string picture(const Advice& advice) {
    return image(by_condition(advice, "Mean turnaround against easy's", "per cent",
                              drawn_presets(advice),
                              [](const Standing& s) { return 100 * s.gain.mean; }));
}

std::string closer_look(const Advice& advice) {
    return fmt::format("{} % of the jobs malleable, resizes at {} times the cost, {} seeds",
                       advice.share, advice.cost_factor, advice.seeds);
}

std::string list_html(const char* title, const std::vector<std::string>& items) {
    if (items.empty()) return "";
    std::string html = paragraph(title) + "<ul>\n";
    for (const std::string& item : items) html += fmt::format("<li>{}</li>\n", escape_xml(item));
    return html + "</ul>\n";
}

// One line, before all else.
std::string trust_text(const Advice& advice) {
    switch (advice.trust.grade) {
        case simulator::Grade::low:
            return fmt::format(
                "No advice for {}: the simulation does not show the waits that its jobs had, so "
                "what it says of changing them is a guess.",
                printable(advice.log, 200));
        case simulator::Grade::unknown:
            return "Trust: unknown. The log does not say enough of what its jobs waited to see "
                   "whether the simulation shows it.";
        default:
            return fmt::format(
                "Trust: {}. Jobs wait {} h in the simulation as they are, and waited {} h in the "
                "log.",
                to_string(advice.trust.grade), hours(advice.trust.all.simulated),
                hours(advice.trust.all.logged));
    }
}

std::string trust_html(const Advice& advice) {
    std::string html = heading("Trust: " + std::string(to_string(advice.trust.grade)));
    html += list_html("How the grade comes about:", advice.trust.reasons);
    html += list_html("What is missing:", advice.trust.missing);
    html += list_html("What to do:", advice.trust.to_do);
    if (!advice.trust.tenths.empty())
        html += html_folded("Waits over time", html_table(tenths_table(advice.trust)));
    if (!advice.trust.groups.empty())
        html += html_folded("Whose waits the simulation does not show",
                            html_table(trust_groups_table(advice.trust)));
    return html;
}

std::string no_advice_html(const Advice& advice) {
    std::string html = heading("No advice") + paragraph(trust_text(advice));
    html += list_html("Why:", advice.trust.reasons);
    html += list_html("What is missing:", advice.trust.missing);
    html += list_html("What to do:", advice.trust.to_do);
    return html +
           paragraph(fmt::format(
               "What the simulation says all the same stands below, of a machine whose queue is "
               "not yours. The best of its runs: {}.",
               advice.recommended));
}

std::string recommended_html(const Advice& advice) {
    std::string html = heading("Recommended: " + advice.recommended) +
                       paragraph(trust_text(advice)) + paragraph(advice.why) + picture(advice);
    html += "<pre>";
    for (const std::string_view line : split(advice.configuration, '\n'))
        html += escape_xml(line) + '\n';
    return html + "</pre>\n";
}

std::string answer_html(const Advice& advice) {
    std::string html = advice.is_advised() ? recommended_html(advice) : no_advice_html(advice);
    for (const std::string& warning : advice.warnings) html += paragraph("Warning: " + warning);
    return html;
}

std::string log_html(const Advice& advice) {
    const simulator::Summary& easy = advice.easy;
    std::string text = fmt::format(
        "{} jobs ({} skipped, {} larger than the machine) on {} nodes ({}). Under easy, which is "
        "what all is compared with, they end after {} h on average and wait {} h, at most {} h",
        advice.jobs, advice.skipped, advice.rejected, advice.nodes, advice.nodes_from,
        hours(easy.turnaround.mean), hours(easy.wait.mean), hours(easy.wait.max));
    text += easy.logged > 0
                ? fmt::format("; in truth they waited {} h.", hours(easy.logged_wait.mean))
                : ". The log does not say what they waited in truth.";
    return heading("The log") + paragraph(text);
}

std::string presets_html(const Advice& advice) {
    std::string html = heading("The presets, the best first");
    html += paragraph(
        "turnaround_%: mean turnaround (submission to end) against easy's, on average over all "
        "shares and costs; less than 0 is better. worst_%: where it is highest. worse_in: shares "
        "and costs under which it is worse beyond the error over the seeds; who has any stands "
        "last. longest_wait_h and longest_delay_h: of any job, where it is longest, and how much "
        "longer a job waits than under easy.");
    html += html_folded("All presets", html_table(ranking_table(advice)));
    if (!advice.is_advised()) html += picture(advice);
    std::vector<std::string> presets = drawn_presets(advice);
    presets.insert(presets.begin(), "easy");
    html += image(by_condition(advice, "The longest wait", "hours", presets,
                               [](const Standing& s) { return s.mean.longest_wait / 3600; }));
    return html;
}

std::string order_html(const Advice& advice) {
    std::string html = heading("Order and malleability, and who pays");
    html += paragraph(order_text(advice));
    html += paragraph(fmt::format(
        "{} starts the lightest first among jobs that may overtake, as elastic does, and resizes "
        "nobody: what it saves needs no malleable job. order_% and {}_%: mean turnaround against "
        "easy's; beyond_order_%: the second against the first. Then for each of the two the jobs "
        "that wait longer than under easy, by how much on average and at most, and the promised "
        "starts that were missed.",
        simulator::kOrderAlone, advice.recommended));
    return html + html_folded("For each share and cost", html_table(order_table(advice)));
}

std::string groups_html(const Advice& advice) {
    std::string html = heading("Who wins, who loses");
    html += paragraph(
        fmt::format("Mean turnaround in hours; delayed: jobs that wait over an hour longer. {}.",
                    closer_look(advice)));
    html += image(of_groups(advice.by_size, advice, "Mean turnaround by size"));
    html += html_folded("By class and size",
                        html_table(group_table(advice.by_class, advice, "class")) +
                            html_table(group_table(advice.by_size, advice, "size")));
    if (advice.by_user.empty()) return html;
    const std::string title =
        fmt::format("By user, those first whose jobs together lose most: {} of {}",
                    std::min(kMostUsers, advice.by_user.size()), advice.by_user.size());
    return html + html_folded(title, html_table(group_table(advice.by_user, advice, "user")));
}

std::string assumptions_html(const Advice& advice) {
    std::string html = heading("What it hangs on");
    html += paragraph(fmt::format(
        "One assumption changed at a time; mean turnaround against easy's under the same. {}. "
        "What is within the error is undecided.",
        closer_look(advice)));
    return html + html_folded("The assumptions", html_table(assumption_table(advice)));
}

std::string calibrated_html(const Advice& advice) {
    if (!advice.calibrated) return "";
    return heading("Calibrated") + paragraph(calibrated_text(advice)) +
           paragraph(
               "Scaled arrivals meet the logged waits in the mean alone: they put load where "
               "limits, partitions or priorities may have been. The careful figures are "
               "those of arrivals as they were.") +
           html_folded("All presets", html_table(calibrated_table(*advice.calibrated)));
}

}  // namespace

std::string to_html(const Advice& advice) {
    std::string body = answer_html(advice) + log_html(advice) + trust_html(advice) +
                       presets_html(advice) + order_html(advice) + groups_html(advice) +
                       assumptions_html(advice) + calibrated_html(advice);
    body += heading("All figures") + paragraph(
                                         "Means over the seeds; worst_seed_%: against_easy_% of "
                                         "the seed in which it is highest.");
    body += html_folded("Every share, cost and preset", html_table(standing_table(advice)));
    return html_page("A policy by " + advice.log, body);
}

std::string to_text(const Advice& advice) {
    std::string figures = order_text(advice) + '\n';
    if (advice.calibrated) figures += calibrated_text(advice) + '\n';
    figures += '\n' + ranking_table(advice).text();
    if (advice.is_advised())
        return fmt::format("{}\n{}\n{}\n{}", advice.configuration, trust_text(advice), advice.why,
                           figures);
    return fmt::format(
        "{}\n\n{}\nWhat the simulation says all the same, of a "
        "machine whose queue is not this one:\n\n{}",
        trust_text(advice), causes_text(advice.trust), figures);
}

}  // namespace elastic::studies

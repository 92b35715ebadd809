// SPDX-License-Identifier: MIT
// The page goes from the answer to its reasons: what to set, which runs say so, and which jobs pay
// for it.  The answer, one picture and how far it is to be trusted are seen first; tables are
// folded.
//
// Always holds: it is whole at any time, and says of what it is made; what is not known yet is said
// to be missing and not shown as a number.
#include "studies/advice/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "common/text.hpp"
#include "simulator/comparison.hpp"
#include "studies/advice/pictures.hpp"
#include "studies/advice/trials.hpp"
#include "studies/report/html.hpp"
#include "studies/report/table.hpp"

namespace elastic::studies {
namespace {

constexpr std::size_t kMostUsers = 50;  // on the page; the JSON has them all
constexpr int kReload = 10;             // seconds, while the advice is being made

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

// Of what there may be none, as of rigid jobs where all are malleable.
std::string hours(double seconds) {
    return std::isfinite(seconds) ? fixed(seconds / 3600, 2) : "none";
}

std::string error_percent(const Difference& gain) {
    return std::isfinite(gain.error) ? percent(gain.error) : "none";
}

// ---- tables

Table ranking_table(const Advice& advice) {
    Table table({"policy", "turnaround_%", "worst_%", "cases", "worse_in", "longest_wait_h",
                 "longest_delay_h"});
    for (const Ranking& r : advice.rankings)
        table.add({r.policy, percent(r.gain), percent(r.worst_gain), std::to_string(r.conditions),
                   std::to_string(r.worse), hours(r.longest_wait), hours(r.longest_delay)});
    return table;
}

std::vector<std::string> condition_cells(const Standing& s) {
    return {exact(s.share), exact(s.cost_factor), s.policy};
}

Table standing_table(const Advice& advice) {
    Table table({"share_%", "cost_factor", "policy", "turnaround_h", "against_easy_%", "error_%",
                 "worst_seed_%", "verdict", "bounded_slowdown", "rigid_turnaround_h",
                 "useful_utilisation_%", "work_done_%"});
    for (const Standing& s : advice.standings) {
        std::vector<std::string> cells = condition_cells(s);
        std::ranges::move(
            std::vector{hours(s.mean.turnaround), percent(s.gain.mean), error_percent(s.gain),
                        percent(s.worst), s.policy == kBaseline ? std::string() : judged(s.gain),
                        fixed(s.mean.slowdown, 1), hours(s.mean.rigid_turnaround),
                        fixed(100 * s.mean.useful_utilisation, 1),
                        fixed(100 * s.mean.work_done, 1)},
            std::back_inserter(cells));
        table.add(std::move(cells));
    }
    return table;
}

Table waits_table(const Advice& advice) {
    Table table({"share_%", "cost_factor", "policy", "wait_h", "p99_wait_h", "longest_wait_h",
                 "wait_longer", "longer_by_h", "longest_delay_h", "starts_missed", "delayed"});
    for (const Standing& s : advice.standings) {
        std::vector<std::string> cells = condition_cells(s);
        std::ranges::move(
            std::vector{hours(s.mean.wait), hours(s.mean.p99_wait), hours(s.longest_wait),
                        fixed(s.mean.longer, 1), hours(s.mean.mean_longer), hours(s.longest_delay),
                        fixed(s.mean.missed, 1), fixed(s.mean.delayed, 1)},
            std::back_inserter(cells));
        table.add(std::move(cells));
    }
    return table;
}

const Standing* find_standing(const Advice& advice, std::string_view policy,
                              const Condition& condition) {
    const auto found = std::ranges::find_if(advice.standings, [&](const Standing& s) {
        return s.policy == policy && Condition{s.share, s.cost_factor} == condition;
    });
    return found == advice.standings.end() ? nullptr : &*found;
}

const Standing& headline_of(const Advice& advice, std::string_view policy) {
    return standing_of(advice.standings, policy, {advice.share, advice.cost_factor});
}

// A row for each share and cost: what order gives, what the recommended preset gives, and what is
// left of that if the order is had anyway.
Table order_table(const Advice& advice) {
    Table table({"share_%", "cost_factor", "order_%", advice.recommended + "_%", "beyond_order_%",
                 "order_longer", "by_h", "at_most_h", "starts_missed", "longer", "by_h",
                 "at_most_h", "starts_missed"});
    for (const Standing& order : advice.standings) {
        if (order.policy != simulator::kOrderAlone) continue;
        const Standing* ours =
            find_standing(advice, advice.recommended, {order.share, order.cost_factor});
        if (ours == nullptr) continue;
        const Standing& s = *ours;
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
    const Standing& order = headline_of(advice, simulator::kOrderAlone);
    const Standing& s = headline_of(advice, advice.recommended);
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
        table.add({a.text, a.options, hours(a.easy), percent(a.gain.mean), error_percent(a.gain),
                   judged(a.gain), a.best, percent(a.best_gain)});
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
    std::string text = fmt::format(
        "{}. With {} % malleable {} changes mean turnaround by {} % then, by {} % with arrivals as "
        "they were",
        simulator::to_text(calibration), exact(advice.share), advice.recommended,
        percent(ours->scaled.mean), percent(ours->as_logged.mean));
    if (gains.size() > 2)
        text += fmt::format("; the best preset then is {} ({} %)", gains.front().policy,
                            percent(gains.front().scaled.mean));
    return text + ".";
}

// ---- the page

std::string paragraph(std::string_view text) {
    return fmt::format("<p>{}</p>\n", escape_xml(text));
}

std::string heading(std::string_view text) {
    return fmt::format("<h2>{}</h2>\n", escape_xml(text));
}

std::string closer_look(const Advice& advice) {
    return fmt::format("{} % of the jobs malleable, resizes at {} times the cost, {} draws",
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

// What comes of it at the other shares: "-4.1 % with 5, -8.0 % with 10".
std::string other_shares(const Advice& advice) {
    std::string text;
    for (const Standing& s : advice.standings)
        if (s.policy == advice.recommended && s.cost_factor == advice.cost_factor &&
            s.share != advice.share)
            text += fmt::format("{}{:+.1f} % with {}", text.empty() ? "" : ", ", 100 * s.gain.mean,
                                s.share);
    return text.empty() ? "" : fmt::format(" ({})", text);
}

std::string basis_html(const Advice& advice) {
    if (advice.basis.is_finished) return paragraph(basis_text(advice));
    return fmt::format("<p class=\"note\">{}</p>\n", escape_xml(basis_text(advice)));
}

// Ends of lines stay such.
std::string escape_lines(std::string_view text) {
    std::string html;
    for (const std::string_view line : split(text.substr(0, text.rfind('\n')), '\n'))
        html += escape_xml(line) + '\n';
    return html;
}

std::string recommended_html(const Advice& advice, const Drawn& drawn) {
    return "<div class=\"first\">" + heading("Recommended: " + advice.recommended) + "<div>" +
           paragraph(headline(advice)) + paragraph(trust_text(advice)) + basis_html(advice) +
           "</div>\n" + draw_gains(advice, drawn) + "</div>\n<pre>" +
           escape_lines(advice.configuration) + "</pre>\n" + paragraph(advice.why);
}

std::string answer_html(const Advice& advice, const Drawn& drawn) {
    std::string html = advice.is_advised() ? recommended_html(advice, drawn)
                                           : no_advice_html(advice) + basis_html(advice);
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

std::string presets_html(const Advice& advice, const Drawn& drawn) {
    std::string html = heading("The presets, the best first");
    html += paragraph(
        "turnaround_%: mean turnaround (submission to end) against easy's, on average over all "
        "shares and costs; less than 0 is better. worst_%: where it is highest. cases: how many "
        "shares and costs these are: a preset that is not among the best with the share of the "
        "answer is not looked at under others. worse_in: those under which it is worse beyond the "
        "error over the draws; who has any stands last. longest_wait_h and longest_delay_h: of any "
        "job in any run, and how much longer a job waits than under easy.");
    html += html_folded("All presets", html_table(ranking_table(advice)));
    if (!advice.is_advised()) html += draw_gains(advice, drawn);
    return html + draw_longest_waits(advice, drawn);
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

// How many users there are whose jobs end later, and by how much.
std::string losers(const std::vector<Group>& users) {
    const auto loses = [](const Group& g) { return g.recommended > g.easy; };
    return fmt::format("The jobs of {} of {} users end later on average.",
                       std::ranges::count_if(users, loses), users.size());
}

std::string groups_html(const Advice& advice, const Drawn& drawn) {
    std::string html = heading("Who wins, who loses");
    if (advice.by_size.empty()) return html + paragraph("Not looked at yet.");
    html += paragraph(
        fmt::format("Mean turnaround in hours; delayed: jobs that wait over an hour longer. {}.",
                    closer_look(advice)));
    html += draw_sizes(advice, drawn);
    html += html_folded("By class and size",
                        html_table(group_table(advice.by_class, advice, "class")) +
                            html_table(group_table(advice.by_size, advice, "size")));
    if (advice.by_user.empty()) return html;
    const std::string title =
        fmt::format("By user, those first whose jobs together lose most: {} of {}",
                    std::min(kMostUsers, advice.by_user.size()), advice.by_user.size());
    return html + paragraph(losers(advice.by_user)) +
           html_folded(title, html_table(group_table(advice.by_user, advice, "user")));
}

std::string over_time_html(const Advice& advice, const Drawn& drawn) {
    const std::string drawing = draw_over_time(advice, drawn);
    return heading("The machine before and after") +
           (drawing.empty() ? paragraph("Not looked at yet.")
                            : paragraph(closer_look(advice) + ", the first of these.") + drawing);
}

std::string assumptions_html(const Advice& advice) {
    std::string html = heading("What it hangs on");
    html += paragraph(fmt::format(
        "One assumption changed at a time; mean turnaround against easy's under the same. {}. "
        "What is within the error is undecided.",
        closer_look(advice)));
    if (advice.assumptions.empty()) return html + paragraph("Not looked at yet.");
    return html + html_folded("The assumptions", html_table(assumption_table(advice)));
}

std::string calibrated_html(const Advice& advice) {
    if (!advice.calibrated) return "";
    return heading("Calibrated") + paragraph(calibrated_text(advice)) +
           paragraph(
               "Scaled arrivals meet the logged waits in the mean alone: they put load where "
               "limits, partitions or priorities may have been. The careful figures are "
               "those of arrivals as they were.") +
           html_folded(advice.calibrated->gains.size() > 2 ? "All presets" : "Both",
                       html_table(calibrated_table(*advice.calibrated)));
}

}  // namespace

std::string headline(const Advice& advice) {
    const Standing& s = headline_of(advice, advice.recommended);
    const auto ranking = std::ranges::find(advice.rankings, advice.recommended, &Ranking::policy);
    std::string text = fmt::format(
        "With {} % of the jobs malleable {} changes mean turnaround by {:+.1f} % against {}, "
        "{:+.1f} "
        "% in the worst of {} draws",
        advice.share, advice.recommended, 100 * s.gain.mean, kBaseline, 100 * s.worst,
        advice.seeds);
    if (advice.basis.error > 0)
        text += fmt::format("; of the whole log it may be up to {:.1f} points more or less",
                            100 * advice.basis.error);
    return text + other_shares(advice) +
           fmt::format(". The longest delay of a single job in any run: {} h longer than under {}.",
                       hours(ranking->longest_delay), kBaseline);
}

std::string basis_text(const Advice& advice) {
    const Basis& basis = advice.basis;
    if (basis.is_finished) return fmt::format("Made of the whole log, {} jobs.", advice.jobs);
    const std::string whole =
        fmt::format("{} of {} combinations of share and cost are of the whole log", basis.whole,
                    basis.conditions);
    if (basis.stretches == 0) return "Not finished: so far " + whole + '.';
    return fmt::format(
        "Not finished: so far {}, the rest of {} of its {} stretches of {}, {} of {} jobs or "
        "{:.1f} "
        "%, which wait {} h under {}, those of the whole log {} h.",
        whole, basis.stretches, basis.of, basis.stretch, basis.jobs, advice.jobs,
        100 * static_cast<double>(basis.jobs) / static_cast<double>(advice.jobs), hours(basis.wait),
        kBaseline, hours(advice.easy.wait.mean));
}

std::string to_html(const Advice& advice) {
    const Drawn drawn(advice);
    std::string body = answer_html(advice, drawn) + log_html(advice) + trust_html(advice) +
                       presets_html(advice, drawn) + order_html(advice) +
                       groups_html(advice, drawn) + over_time_html(advice, drawn) +
                       assumptions_html(advice) + calibrated_html(advice);
    body += heading("All figures") +
            paragraph(
                "Means over the draws; worst_seed_%: against_easy_% of the draw in which it "
                "is highest; longest_wait_h and longest_delay_h: in any of them.");
    body += html_folded("Turnaround and use: every share, cost and preset",
                        html_table(standing_table(advice)));
    body += html_folded("Waits: every share, cost and preset", html_table(waits_table(advice)));
    const std::string reload =
        fmt::format("<meta http-equiv=\"refresh\" content=\"{}\"/>", kReload);
    return html_page("A policy by " + advice.log, body, advice.basis.is_finished ? "" : reload);
}

std::string to_text(const Advice& advice) {
    std::string figures = order_text(advice) + '\n';
    if (advice.calibrated) figures += calibrated_text(advice) + '\n';
    figures += '\n' + ranking_table(advice).text();
    if (advice.is_advised())
        return fmt::format("{}\n{}\n{}\n{}\n{}", advice.configuration, headline(advice),
                           trust_text(advice), advice.why, figures);
    return fmt::format(
        "{}\n\n{}\nWhat the simulation says all the same, of a "
        "machine whose queue is not this one:\n\n{}",
        trust_text(advice), causes_text(advice.trust), figures);
}

}  // namespace elastic::studies

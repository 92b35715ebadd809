// SPDX-License-Identifier: MIT
// What is recommended for a small log, and what is said of logs that allow no advice.
#include "studies/advice/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "studies/advice/page.hpp"
#include "studies_test.hpp"

namespace elastic::studies {
namespace {

using testing::Folder;

// `jobs` of three users on 16 nodes, more than these can do at once, all of which waited alike; -1:
// the log does not say.
std::string some_log(int jobs, const char* header = "; MaxNodes: 16\n; MaxProcs: 16\n",
                     int wait = -1) {
    std::string text = header;
    for (int i = 1; i <= jobs; ++i)
        text += fmt::format("{} {} {} {} {} -1 -1 -1 {} -1 1 {} 1 1 1 1 -1 -1\n", i, 30 * i, wait,
                            200 + 37 * i % 400, 1 + i * 7 % 12, 1000, i % 3);
    return text;
}

AdviceOptions options_for(const Folder& folder, std::string_view text) {
    testing::write_to(folder.file("site.swf"), text);
    AdviceOptions options;
    options.log = folder.file("site.swf");
    options.pool.threads = 1;
    return options;
}

std::string refusal(const AdviceOptions& options) {
    const Result<Advice> advice = advise(options);
    check_that(!advice);
    const std::string message = advice.error().message;
    check_that(message.find('\n') == std::string::npos);
    return message;
}

double sum_of_jobs(const std::vector<Group>& groups) {
    double sum = 0;
    for (const Group& group : groups) sum += group.jobs;
    return sum;
}

}  // namespace

TEST(advice_is_the_best_of_what_is_nowhere_worse) {
    const Folder folder;
    const Result<Advice> advice = advise(options_for(folder, some_log(200)));
    check_ok(advice);
    check_eq(advice->nodes, 16);
    check_eq(advice->nodes_from, "the log's header");
    check_eq(advice->jobs, 200);
    // All presets that simulation can tell apart, elastic and the four best others under all shares
    // and costs.
    const auto presets = static_cast<std::size_t>(
        std::ranges::count_if(core::preset_names(), [](std::string_view name) {
            return core::preset(name)->starts_on == core::StartsOn::idle;
        }));
    check_that(presets > 15 && presets < core::preset_names().size());
    check_eq(advice->rankings.size(), presets);
    const auto looked_at = std::ranges::count(advice->rankings, 7, &Ranking::conditions);
    check_that(looked_at >= 9 && looked_at <= 10);  // with four that resize nobody, and an alias
    for (const Ranking& r : advice->rankings)
        check_that(r.conditions == 7 || (r.conditions == 1 && r.policy != "elastic"));
    check_eq(std::ssize(advice->standings), std::ssize(advice->rankings) + 6 * looked_at);
    check_that(advice->basis.is_finished && advice->basis.whole == 7);
    const Ranking& first = advice->rankings.front();
    const auto& chosen =
        *std::ranges::find(advice->rankings, advice->recommended, &Ranking::policy);
    check_eq(first.worse, 0);
    check_that(first.gain < 0);
    // As good as the best, and of those the one that delays the least.
    check_that(chosen.worse == 0 && chosen.gain <= first.gain + 0.01);
    for (const Ranking& other : advice->rankings)
        check_that(other.worse > 0 || other.conditions < 7 || other.gain > first.gain + 0.01 ||
                   (other.gain >= first.gain && other.longest_delay >= chosen.longest_delay));
    std::set<double> rigid_easy;
    for (const Standing& s : advice->standings)
        if (s.policy == "easy") {
            check_eq(s.gain.mean, 0);
            check_eq(s.mean.turnaround, advice->easy.turnaround.mean);
            check_eq(s.mean.delayed, 0);
            // Of the jobs that are rigid in the draws: with each share others, and none in the end.
            if (s.share == 100)
                check_that(std::isnan(s.mean.rigid_turnaround));
            else
                rigid_easy.insert(s.mean.rigid_turnaround);
        }
    check_eq(rigid_easy.size(), 4u);
    for (const Standing& s : advice->standings) check_that(s.worst >= s.gain.mean - 1e-12);
    // The longest delay is that of all draws and not a mean of them.
    check_that(chosen.longest_delay > 0);
    check_that(headline(*advice).find(fmt::format(
                   "The longest delay of a single job in any run: {:.2f} h longer than under easy",
                   chosen.longest_delay / 3600)) != std::string::npos);
    for (const Standing& s : advice->standings)
        check_that(s.longest_delay >= s.mean.longest_delay - 1e-9);
    check_that(advice->configuration.ends_with("Policy = " + advice->recommended + '\n'));
}

TEST(advice_says_who_wins_and_what_it_hangs_on) {
    const Folder folder;
    const Result<Advice> advice = advise(options_for(folder, some_log(200)));
    check_ok(advice);
    check_eq(advice->by_user.size(), 3u);
    for (const auto* groups : {&advice->by_class, &advice->by_size, &advice->by_user})
        check_near(sum_of_jobs(*groups), 200, 1e-6);
    check_eq(advice->by_class[0].name, "malleable");
    check_eq(advice->by_class[0].jobs, 100);
    check_eq(advice->by_size[0].name, "1 node");
    check_eq(advice->by_size[1].name, "2-4 nodes");
    // The first assumption is none: what the comparison has for the same share and cost.
    check_eq(advice->share, 50);
    const auto same = std::ranges::find_if(advice->standings, [&](const Standing& s) {
        return s.policy == advice->recommended && s.share == 50 && s.cost_factor == 1;
    });
    check_near(advice->assumptions[0].gain.mean, same->gain.mean, 1e-12);
    check_near(advice->assumptions[0].easy, advice->easy.turnaround.mean, 1e-6);
    for (const Assumption& a : advice->assumptions)
        check_that(a.best_gain <= std::min(0.0, a.gain.mean) + 1e-12);
}

TEST(advice_tells_order_from_malleability) {
    const Folder folder;
    AdviceOptions options = options_for(folder, some_log(200));
    options.seeds = 2;
    const Result<Advice> advice = advise(options);
    check_ok(advice);
    const auto order = std::ranges::find(advice->standings, "easy-lightest", &Standing::policy);
    check_that(order != advice->standings.end());
    check_that(order->gain.mean != 0 && order->mean.longer > 0 && order->mean.mean_longer > 0);
    check_eq(order->mean.missed, 0);  // by EASY's rule
    const std::string said = fmt::format(
        "order alone (easy-lightest) changes mean turnaround by {:.1f} %: {:.0f} of 200 "
        "jobs wait longer for it",
        100 * order->gain.mean, order->mean.longer);
    check_that(to_text(*advice).find(said) != std::string::npos);
    check_that(to_html(*advice).find(said) != std::string::npos);
    check_that(to_json(*advice).get("runs").at(0).get_number("work_done") > 0);
}

TEST(no_advice_where_the_log_waits_otherwise) {
    const Folder folder;
    AdviceOptions options =
        options_for(folder, some_log(200, "; MaxNodes: 16\n; MaxProcs: 16\n", 10));
    options.seeds = 2;
    const Result<Advice> advice = advise(options);
    check_ok(advice);
    check_that(advice->trust.grade == simulator::Grade::low && !advice->is_advised());
    check_that(advice->configuration.empty());
    const std::string text = to_text(*advice), page = to_html(*advice);
    check_that(text.starts_with("No advice for "));
    check_that(text.find("Policy = ") == std::string::npos);
    check_that(page.find("<h2>No advice</h2>") < page.find("The presets, the best first"));
    check_that(page.find("Policy = ") == std::string::npos);
    for (const std::string* said : {&text, &page})
        for (const char* what : {"jobs share nodes", "What the simulation says all the same",
                                 "a ratio of", "--procs-per-node 1"})
            check_that(said->find(what) != std::string::npos);
    const Json json = to_json(*advice);
    check_eq(json.keys().front(), "advised");
    check_that(!json.get_bool("advised", true));
    check_eq(json.get("trust").get_string("grade"), "low");
    check_that(!json.get("recommended").text() && !json.get("elastic.conf").text());
    check_eq(json.get_string("best_of_runs"), advice->recommended);
}

TEST(advice_calibrated_shows_both) {
    const Folder folder;
    AdviceOptions options = options_for(folder, some_log(60));
    options.seeds = 2;
    options.calibrate = true;
    check_that(refusal(options).find("nothing to calibrate by") != std::string::npos);
    options = options_for(folder, some_log(60, "; MaxNodes: 16\n; MaxProcs: 16\n", 4000));
    options.seeds = 2;
    options.calibrate = true;
    const Result<Advice> advice = advise(options);
    check_ok(advice);
    check_that(advice->calibrated && advice->calibrated->calibration.factor != 1);
    check_eq(advice->calibrated->gains.size(), 2u);
    check_eq(
        std::ranges::count(advice->calibrated->gains, advice->recommended, &CalibratedGain::policy),
        1);
    check_that(to_text(*advice).find("the best preset then") == std::string::npos);
    for (const CalibratedGain& gain : advice->calibrated->gains)
        if (gain.policy == "easy") check_that(gain.scaled.mean == 0 && gain.as_logged.mean == 0);
    const std::string said =
        fmt::format("with --scale-arrival {} jobs wait", advice->calibrated->calibration.factor);
    check_that(to_text(*advice).find(said) != std::string::npos);
    check_that(to_html(*advice).find(said) != std::string::npos);
    check_eq(to_json(*advice).get("calibrated").get("presets").at(0).get_string("policy"),
             advice->calibrated->gains.front().policy);
    options.all_presets = true;
    const Result<Advice> all = advise(options);
    check_ok(all);
    check_eq(all->calibrated->gains.size(), all->rankings.size());
    check_that(to_text(*all).find("the best preset then") != std::string::npos);
    for (const CalibratedGain& gain : advice->calibrated->gains) {
        const auto same =
            std::ranges::find(all->calibrated->gains, gain.policy, &CalibratedGain::policy);
        check_eq(same->scaled.mean, gain.scaled.mean);
    }
}

TEST(advice_without_logged_waits_says_so) {
    const Folder folder;
    AdviceOptions options = options_for(folder, some_log(60));
    options.seeds = 2;
    const Result<Advice> advice = advise(options);
    check_ok(advice);
    check_that(advice->is_advised());
    check_that(to_text(*advice).find("Trust: unknown.") != std::string::npos);
    check_that(to_html(*advice).find("Trust: unknown.") != std::string::npos);
}

TEST(advice_finds_how_large_the_machine_is) {
    const Folder folder;
    AdviceOptions options = options_for(folder, some_log(60, "; no size\n", 10));
    options.seeds = 2;
    const Result<Advice> by_log = advise(options);
    check_ok(by_log);
    check_that(by_log->nodes > 12);
    check_that(by_log->nodes_from.starts_with("as many as the log has in use"));
    options.workload.nodes = 20;
    const Result<Advice> said = advise(options);
    check_eq(said->nodes, 20);
    check_eq(said->nodes_from, "--nodes");
}

TEST(advice_repeats_what_makes_it_worth_less) {
    const Folder folder;
    std::string text = "JobIDRaw|NNodes|Submit|Start|End|ElapsedRaw|State\n";
    for (int i = 0; i < 20; ++i)
        text += fmt::format(
            "{}|4|2026-01-01T00:00:0{}|2026-01-01T00:00:10|2026-01-01T00:10:10|600|COMPLETED\n", i,
            i % 10);
    AdviceOptions options = options_for(folder, text);
    options.workload.nodes = 8;
    options.seeds = 2;
    const Result<Advice> advice = advise(options);
    check_ok(advice);
    const std::string page = to_html(*advice);
    for (const char* warning : {"its jobs share nodes", "have no time limit", "names no users"}) {
        check_that(std::ranges::any_of(advice->warnings, [&](const std::string& text) {
            return text.find(warning) != std::string::npos;
        }));
        check_that(page.find(warning) != std::string::npos);
    }
    check_that(advice->by_user.empty());
}

TEST(no_advice_without_enough_to_compare) {
    const Folder folder;
    check_that(refusal(options_for(folder, "")).ends_with("site.swf: is empty"));
    check_that(refusal(options_for(folder, "; MaxNodes: 4\n")).find("no job to run") !=
               std::string::npos);
    check_that(refusal(options_for(folder, some_log(1)))
                   .ends_with("1 job(s) to run, and a comparison of policies needs at least 10"));
    AdviceOptions small = options_for(folder, some_log(60));
    small.workload.nodes = 4;
    const std::string message = refusal(small);
    check_that(message.ends_with("(the largest has 12); give --nodes or --procs-per-node"));
    check_that(message.find("40 of 60 jobs are larger than the machine of 4 nodes") !=
               std::string::npos);
    check_that(refusal(options_for(folder, some_log(20) + "; elastic: 3 malleable\n"))
                   .find("itself says which jobs are elastic") != std::string::npos);
    AdviceOptions absent = small;
    absent.log = "/nonexistent.swf";
    check_that(refusal(absent).starts_with("/nonexistent.swf"));
}

TEST(advice_is_one_page_and_does_not_hang_on_threads) {
    const Folder folder;
    AdviceOptions options = options_for(folder, some_log(60));
    options.seeds = 2;
    const Result<Advice> advice = advise(options);
    check_ok(advice);
    const std::string page = to_html(*advice);
    check_that(testing::is_well_formed(page));
    check_that(page.find("src=") == std::string::npos && page.find("<script") == std::string::npos);
    check_that(page.find("Policy = " + advice->recommended) != std::string::npos);
    const Result<Json> json = Json::parse(to_json(*advice).dump());
    check_ok(json);
    check_eq(json->get_string("recommended"), advice->recommended);
    options.pool.threads = 3;
    check_eq(to_json(*advise(options)).dump(), to_json(*advice).dump());
    std::size_t images = 0;
    for (std::size_t at = 0; (at = page.find("<svg", at)) != std::string::npos; ++at) ++images;
    check_eq(images, 5u);
}

TEST(advice_compares_all_presets_if_told_so) {
    const Folder folder;
    AdviceOptions options = options_for(folder, some_log(60));
    options.seeds = 2;
    options.all_presets = true;
    const Result<Advice> advice = advise(options);
    check_ok(advice);
    for (const Ranking& ranking : advice->rankings) check_eq(ranking.conditions, 10);
    // Presets that are equal but for their names stand for themselves.
    const auto gain_of = [&](std::string_view policy) {
        return std::ranges::find(advice->rankings, policy, &Ranking::policy)->gain;
    };
    check_eq(gain_of("mebf-basic"), gain_of("mebf-intensive"));
    options.headline = 30;
    check_that(refusal(options).find("the headline's share") != std::string::npos);
}

// First of some of the log, then of more, in the end of all of it: as if there had been no sample.
TEST(advice_begins_with_a_sample_and_ends_with_the_whole_log) {
    const Folder folder;
    AdviceOptions options = options_for(folder, some_log(600));
    options.seeds = 2;
    options.sample = 100;
    std::vector<Advice> told;
    const Result<Advice> advice = advise(options, [&](const Advice& so_far) {
        const std::string page = to_html(so_far);
        check_that(testing::is_well_formed(page));
        check_that(page.find("Not finished: so far ") != std::string::npos);
        check_that(page.find("http-equiv=\"refresh\"") != std::string::npos);
        check_that(page.find("nan") == std::string::npos);
        told.push_back(so_far);
    });
    check_ok(advice);
    check_that(told.size() > 10);
    const Basis& first = told.front().basis;
    check_that(!first.is_finished && first.whole == 0 && first.conditions == 7);
    check_that(first.jobs > 50 && first.jobs < 200 && first.stretches < first.of);
    check_that(first.error > 0 && first.wait > 0);
    check_that(std::ranges::all_of(told.front().standings, &Standing::is_sampled));
    check_eq(told.front().trust.all.jobs, advice->trust.all.jobs);
    const std::string said = basis_text(told.front());
    check_that(said.find(fmt::format("{} of its {} stretches", first.stretches, first.of)) !=
               std::string::npos);
    check_that(headline(told.front()).find("; of the whole log it may be up to ") !=
               std::string::npos);
    for (std::size_t i = 1; i < told.size(); ++i)
        check_that(told[i].basis.whole >= told[i - 1].basis.whole);
    check_that(std::ranges::any_of(told, [](const Advice& so_far) {
        return so_far.basis.whole > 0 && so_far.basis.whole < so_far.basis.conditions;
    }));
    check_eq(told.back().basis.whole, 7);
    check_that(std::ranges::none_of(advice->standings, &Standing::is_sampled));
    check_that(to_html(*advice).find("http-equiv") == std::string::npos);
    options.sample = 0;
    const Result<Advice> without = advise(options);
    check_eq(to_json(*advice).dump(), to_json(*without).dump());
    check_eq(to_html(*advice), to_html(*without));
}

TEST(course_of_a_machine_adds_up) {
    const Folder folder;
    AdviceOptions options = options_for(folder, some_log(60));
    options.seeds = 2;
    const Result<Advice> advice = advise(options);
    check_ok(advice);
    const OverTime& time = advice->over_time;
    for (const Course* course : {&time.easy, &time.recommended}) {
        double waited = 0;
        for (const double jobs : course->waiting) waited += jobs * time.part;
        if (course == &time.easy) check_near(waited / 60, advice->easy.wait.mean, 1e-6);
        for (const double share : course->used) check_that(share >= 0 && share <= 1 + 1e-9);
    }
}

}  // namespace elastic::studies

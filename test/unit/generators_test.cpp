// SPDX-License-Identifier: MIT
// Workload models: the generated logs have the properties that their papers print, and are read
// again as written.
#include "simulator/generators.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "simulator/logs/reader.hpp"
#include "simulator/make_workload.hpp"
#include "testing.hpp"

using namespace elastic;
using namespace elastic::simulator;

namespace {

Log made(const Result<Log>& log) {
    check_ok(log);
    return *log;
}

double offered_load(const Log& log) {
    double work = 0;
    for (const LogJob& job : log.jobs) work += job.run * static_cast<double>(job.processors);
    return work / (static_cast<double>(log.processors) * log.jobs.back().submit);
}

std::string as_swf(const Log& log) {
    std::string text;
    write_swf(log, "a test", [&](std::string_view piece) { text += piece; });
    return text;
}

double share(const Log& log, auto holds) {
    return static_cast<double>(std::ranges::count_if(log.jobs, holds)) /
           static_cast<double>(log.jobs.size());
}

}  // namespace

TEST(downey_has_the_properties_of_table_1) {
    const Log log = made(generate_downey({}));
    check_eq(log.jobs.size(), 10000u);
    check_eq(log.processors, 10000);
    check_near(offered_load(log), 0.75, 0.001);
    double log_run = 0, log_size = 0;
    for (const LogJob& job : log.jobs) {
        check_that(job.run >= 295 && job.run <= 20200 && job.estimate == job.run);
        check_that(job.processors >= 2 && job.processors <= 4994);
        log_run += std::log(job.run);
        log_size += std::log(static_cast<double>(job.processors));
    }
    check_near(log_run / 10000, (5.69 + 9.91) / 2, 0.05);
    check_near(log_size / 10000, (0.69 + 8.51) / 2, 0.08);
    check_that(std::ranges::is_sorted(log.jobs, {}, &LogJob::submit));
}

TEST(lublin_has_the_properties_of_batch_jobs) {
    const Log log = made(generate_lublin({}));
    check_near(share(log, [](const LogJob& j) { return j.processors == 1; }), 0.2927, 0.02);
    check_that(share(log, [](const LogJob& j) {
                   return std::has_single_bit(static_cast<std::uint64_t>(j.processors));
               }) > 0.9613 - 0.02);
    check_near(share(log, [](const LogJob& j) { return j.processors > 32; }), 0.08, 0.03);
    for (const LogJob& job : log.jobs) {
        check_that(job.processors >= 1 && job.processors <= 128);
        check_that(job.run >= 1 && job.run <= 162755);
    }
    // Larger jobs run longer, because they are less often short.
    const auto runs_long = [](const LogJob& j) { return j.run > 10000; };
    Log small = log, large = log;
    std::erase_if(small.jobs, [](const LogJob& j) { return j.processors > 1; });
    std::erase_if(large.jobs, [](const LogJob& j) { return j.processors < 64; });
    check_that(share(large, runs_long) > share(small, runs_long) + 0.1);
}

TEST(lublin_arrivals_follow_the_day) {
    LublinOptions options;
    options.common.load = 0.7;
    const Log log = made(generate_lublin(options));
    check_near(offered_load(log), 0.7, 0.02);
    const auto between = [](double from, double to) {
        return [=](const LogJob& j) {
            const double hour = std::fmod(j.submit, 86400) / 3600;
            return hour >= from && hour < to;
        };
    };
    check_that(share(log, between(11, 17)) > 4 * share(log, between(0, 6)));
    check_that(std::ranges::is_sorted(log.jobs, {}, &LogJob::submit));
}

TEST(the_same_seed_gives_the_same_log) {
    LublinOptions lublin;
    check_eq(as_swf(made(generate_lublin(lublin))), as_swf(made(generate_lublin(lublin))));
    const std::string before = as_swf(made(generate_downey({})));
    DowneyOptions downey;
    downey.common.seed = 18;
    check_that(as_swf(made(generate_downey(downey))) != before);
}

TEST(what_is_written_is_read_again) {
    LublinOptions options;
    options.common.jobs = 500;
    options.common.estimate_factor = 5;
    options.common.round_estimates = true;
    const Log log = made(generate_lublin(options));
    const auto again = parse_log(as_swf(log), "x", false);
    check_ok(again);
    check_eq(again->processors, 128);
    check_eq(again->jobs.size(), log.jobs.size());
    for (std::size_t i = 0; i < log.jobs.size(); ++i) {
        const LogJob &a = log.jobs[i], &b = again->jobs[i];
        check_that(a.id == b.id && a.submit == b.submit && a.run == b.run &&
                   a.estimate == b.estimate && a.processors == b.processors);
        check_that(a.estimate >= a.run && std::fmod(a.estimate, 300) == 0);
    }
}

TEST(small_machines_have_jobs_too) {
    for (std::int64_t processors : {1, 2, 3, 7}) {
        LublinOptions lublin;
        lublin.common.processors = processors;
        lublin.common.jobs = 200;
        const Log log = made(generate_lublin(lublin));
        check_that(std::ranges::max_element(log.jobs, {}, &LogJob::processors)->processors <=
                   processors);
    }
    DowneyOptions downey;
    downey.common.processors = 1;
    check_error(generate_downey(downey), "--procs: must be at least the smallest size");
}

TEST(options_of_generators_are_checked) {
    DowneyOptions downey;
    downey.common.load = 0;
    check_error(generate_downey(downey), "--load: must be within 0.000001 to 1000");
    downey.common.jobs = 0;
    check_error(generate_downey(downey), "--jobs: must be within 1 to 100000000");
    LublinOptions lublin;
    lublin.cycle_scale = 1e-9;
    check_that(!generate_lublin(lublin));
    lublin = {};
    lublin.start_hour = 24;
    check_error(generate_lublin(lublin), "--start-hour: must be within 0 to 24");
}

TEST(some_jobs_need_nearly_the_whole_machine) {
    LublinOptions options{.common = {.jobs = 5000, .processors = 1024}};
    const Log without = made(generate_lublin(options));
    check_that(without.rigid.empty());
    options.wide_share = 0.02;
    const Log log = made(generate_lublin(options));
    check_near(static_cast<double>(log.rigid.size()) / 5000, 0.02, 0.006);
    for (const LogJob& job : log.jobs)
        if (log.rigid.contains(job.id)) check_that(job.processors >= 922 && job.processors <= 1024);
    // Who reads it knows which they are, and makes none of them elastic.
    const auto again = parse_log(as_swf(log), "x", false);
    check_ok(again);
    check_that(again->rigid == log.rigid);
    const auto workload = make_workload(*again, {.elastic = 100});
    check_ok(workload);
    for (const Job& job : workload->jobs) check_eq(job.elasticity < 0, log.rigid.contains(job.id));
    check_eq(workload->elasticities.size(), 5000 - log.rigid.size());
    options.wide_share = 1.5;
    check_error(generate_lublin(options), "--wide-share: must be within 0 to 1");
}

TEST(some_jobs_have_two_components) {
    LublinOptions options{.common = {.jobs = 5000, .processors = 1024, .load = 0.8}};
    options.common.estimate_factor = 5;
    const Log without = made(generate_lublin(options));
    check_that(without.heterogeneous.empty());
    options.common.heterogeneous_share = 0.2;
    const Log log = made(generate_lublin(options));
    const auto large =
        std::ranges::count_if(without.jobs, [](const LogJob& job) { return job.processors > 1; });
    check_near(static_cast<double>(log.heterogeneous.size()) / static_cast<double>(large), 0.2,
               0.02);
    check_eq(log.jobs.size(), 5000 + log.heterogeneous.size());
    check_near(offered_load(log), 0.8, 0.01);
    std::int64_t processors = 0, expected = 0;
    for (const LogJob& job : log.jobs) processors += job.processors;
    for (const LogJob& job : without.jobs) expected += job.processors;
    check_eq(processors, expected);
    for (const auto& components : log.heterogeneous) {
        check_eq(components.size(), 2u);
        const LogJob &first = log.jobs[components[0]], &second = log.jobs[components[1]];
        check_eq(second.submit, first.submit);
        check_that(second.processors >= 1 && second.run <= first.run);
        check_that(second.estimate >= second.run);
    }
    // Who reads it knows which they are.
    const auto again = parse_log(as_swf(log), "x", false);
    check_ok(again);
    check_that(again->heterogeneous == log.heterogeneous);
    const auto workload = make_workload(*again, {});
    check_ok(workload);
    check_eq(workload->heterogeneous.size(), log.heterogeneous.size());
    options.common.heterogeneous_share = -0.1;
    check_error(generate_lublin(options), "--heterogeneous-share: must be within 0 to 1");
}

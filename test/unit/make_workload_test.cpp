// SPDX-License-Identifier: MIT
// Logs become workloads: sizes in nodes, which jobs are elastic and how, run times, and what is
// said where options or jobs make no sense.
#include "simulator/make_workload.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "simulator/log_check.hpp"
#include "simulator/random.hpp"
#include "testing.hpp"

using namespace elastic;
using namespace elastic::simulator;

namespace {

LogJob log_job(std::int64_t id, std::int64_t processors, Duration run = 100,
               Duration estimate = 200) {
    LogJob job;
    job.id = id;
    job.submit = 10.0 * static_cast<double>(id);
    job.run = run;
    job.estimate = estimate;
    job.processors = processors;
    return job;
}

Log some_log(int jobs, std::int64_t processors = 64) {
    Log log;
    log.name = "x.swf";
    log.processors = processors;
    for (int i = 1; i <= jobs; ++i) log.jobs.push_back(log_job(i, 1 + i % 32));
    return log;
}

Workload make(const Log& log, const WorkloadOptions& options) {
    auto workload = make_workload(log, options);
    check_ok(workload);
    return *workload;
}

std::vector<std::int64_t> ids(const Workload& workload, bool elastic_only = false) {
    std::vector<std::int64_t> ids;
    for (const Job& job : workload.jobs) {
        if (!elastic_only || job.elasticity >= 0) ids.push_back(job.id);
    }
    return ids;
}

const Elasticity& elasticity(const Workload& workload, std::int64_t id) {
    const auto job = std::ranges::find(workload.jobs, id, &Job::id);
    return workload.elasticities[static_cast<std::size_t>(job->elasticity)];
}

// Linear speed-up, no costs.
ElasticModel ideal_model() {
    ElasticModel model;
    model.parameter = model.alpha = model.beta = model.b = model.sync = model.negotiation = {};
    return model;
}

}  // namespace

TEST(sizes_are_rounded_up_to_nodes) {
    Log log = some_log(0, 100);
    log.jobs = {log_job(1, 1), log_job(2, 8), log_job(3, 9), log_job(4, 105), log_job(5, 104)};
    const Workload workload = make(log, {.procs_per_node = 8});
    check_eq(workload.nodes, 13);
    check_eq(ids(workload), (std::vector<std::int64_t>{1, 2, 3, 5}));
    check_eq(workload.rejected, 1);
    check_eq(workload.jobs[1].nodes, 1);
    check_eq(workload.jobs[2].nodes, 2);
    check_eq(workload.jobs[3].nodes, 13);
}

TEST(nodes_of_the_log_count_where_it_knows_them) {
    Log log = some_log(0);
    log.jobs = {log_job(1, 96), log_job(2, 0)};
    log.jobs[0].nodes = 3;
    log.jobs[1].nodes = 4;
    check_eq(make(log, {.nodes = 200}).jobs[0].nodes, 3);
    check_eq(make(log, {.nodes = 200, .procs_per_node = 48}).jobs[0].nodes, 2);
    check_eq(make(log, {.nodes = 200, .procs_per_node = 48}).jobs[1].nodes, 4);
}

TEST(the_machine_is_as_large_as_the_header_says) {
    Log log = some_log(3);
    log.nodes = 40;
    check_eq(make(log, {}).nodes, 64);
    log.processors = 0;
    check_eq(make(log, {}).nodes, 40);
    check_eq(make(log, {.nodes = 50}).nodes, 50);
    log.nodes = 0;
    check_error(make_workload(log, {}),
                "x.swf: does not say how large the machine is; give --nodes");
    log.jobs.clear();
    check_error(make_workload(log, {.nodes = 4}),
                "x.swf: no job to run (0 skipped, 0 larger than the machine of 4 nodes)");
}

TEST(a_part_of_the_log_can_be_taken) {
    const Log log = some_log(10);
    const Workload part = make(log, {.jobs = 3, .skip = 4, .scale_arrival = 0.5});
    check_eq(ids(part), (std::vector<std::int64_t>{5, 6, 7}));
    check_eq(part.jobs[0].submit, 25.0);
    check_eq(ids(make(log, {.jobs = 30, .skip = 8})), (std::vector<std::int64_t>{9, 10}));
    check_that(!make_workload(log, {.skip = 10}));
}

TEST(overruns_are_cut_or_kept) {
    Log log = some_log(0);
    log.jobs = {log_job(1, 1, 300, 200)};
    check_eq(make(log, {}).jobs[0].run, 200.0);
    const Job kept = make(log, {.overrun = Overrun::extend}).jobs[0];
    check_eq(kept.run, 300.0);
    check_eq(kept.estimate, 200.0);
}

TEST(estimates_may_be_exact) {
    Log log = some_log(0);
    log.jobs = {log_job(1, 1, 100, 200), log_job(2, 1, 300, 200)};
    const Workload exact = make(log, {.estimates = Estimates::exact});
    check_eq(exact.jobs[0].estimate, 100.0);
    check_eq(exact.jobs[1].estimate, 200.0);  // it ends there
    check_eq(make(log, {}).jobs[0].estimate, 200.0);
}

TEST(shares_of_elastic_jobs_are_exact_and_nested) {
    const Log log = some_log(1000);
    std::vector<std::int64_t> before;
    for (double percent : {0.0, 10.0, 12.34, 50.0, 99.9, 100.0}) {
        const Workload workload = make(log, {.elastic = percent, .evolving_share = 0.3});
        std::vector<std::int64_t> now = ids(workload, true);
        const auto count = static_cast<std::size_t>(std::llround(percent * 10));
        check_eq(now.size(), count);
        check_that(std::ranges::includes(now, before));
        const auto evolving = std::ranges::count_if(
            workload.elasticities, [](const auto& e) { return e.annotation.evolving; });
        check_eq(evolving, std::llround(0.3 * static_cast<double>(count)));
        before = now;
    }
}

TEST(a_job_is_the_same_at_every_share_and_in_every_part) {
    const Log log = some_log(200);
    const Workload all = make(log, {.elastic = 100});
    const Workload some = make(log, {.elastic = 30});
    for (std::int64_t id : ids(some, true)) {
        const Elasticity &a = elasticity(all, id), &b = elasticity(some, id);
        check_that(a.annotation == b.annotation);
        check_eq(a.negotiation, b.negotiation);
        check_eq(a.events.size(), b.events.size());
    }
    const Workload part = make(log, {.skip = 100, .elastic = 100});
    check_that(elasticity(all, 150).annotation.cost == elasticity(part, 150).annotation.cost);
    const Workload other = make(log, {.elastic = 30, .seed = 2});
    check_that(ids(some, true) != ids(other, true));
}

TEST(sizes_of_elastic_jobs_stay_in_order_and_on_the_machine) {
    const Log log = some_log(200);
    for (double min : {0.0, 0.3, 0.5, 1.0, 3.0}) {
        for (double max : {3.0, 8.0, 1e9}) {
            for (double pref : {0.1, 1.0, 2.5, 1e9}) {
                const Workload w = make(
                    log,
                    {.elastic = 100, .min_factor = min, .max_factor = max, .pref_factor = pref});
                for (const Job& job : w.jobs) {
                    const auto& a = elasticity(w, job.id).annotation;
                    check_that(1 <= a.min && a.min <= a.pref && a.pref <= a.max && a.max <= 64);
                    check_eq(job.nodes, a.pref);
                    check_that(std::isfinite(job.run) && job.run > 0 && job.estimate > 0);
                }
            }
        }
    }
    Log one = some_log(0);
    one.jobs = {log_job(1, 5)};
    const Workload w = make(one, {.elastic = 100});
    check_eq(w.elasticities[0].annotation.min, 3);
    check_eq(w.elasticities[0].annotation.pref, 5);
    check_eq(w.elasticities[0].annotation.max, 40);
}

TEST(run_times_are_converted_to_the_preferred_size) {
    Log log = some_log(0);
    log.jobs = {log_job(1, 4, 100, 150)};
    const Workload w =
        make(log, {.elastic = 100, .max_factor = 16, .pref_factor = 2, .model = ideal_model()});
    check_eq(w.jobs[0].nodes, 8);
    check_near(w.jobs[0].run, 50, 1e-9);
    check_near(w.jobs[0].estimate, 75, 1e-9);
}

TEST(the_model_of_lina_draws_within_its_ranges) {
    const Workload w = make(some_log(2000), {.elastic = 100});
    std::size_t events = 0, growths = 0;
    for (const Elasticity& e : w.elasticities) {
        const auto& cost = e.annotation.cost;
        check_that(e.annotation.speedup.kind == core::SpeedupModel::Kind::overhead);
        check_that(e.annotation.speedup.a >= 0.005 && e.annotation.speedup.a <= 0.01);
        check_that(cost.alpha >= 0.005 && cost.alpha <= 0.05);
        check_that(cost.sync >= 0.015 && cost.sync <= 0.1);
        check_that(e.negotiation >= 0.005 && e.negotiation <= 0.05);
        check_that(e.annotation.evolving ? e.events.size() >= 1 && e.events.size() <= 4
                                         : e.events.empty());
        check_that(std::ranges::is_sorted(e.events, std::greater(), &EvolvingEvent::work_left));
        for (const EvolvingEvent& event : e.events) {
            check_that(event.work_left >= 0.3 && event.work_left <= 0.6);
            check_that(event.nodes != 0 && std::abs(event.nodes) <= e.annotation.pref);
            growths += event.nodes > 0;
        }
        events += e.events.size();
    }
    check_near(static_cast<double>(growths) / static_cast<double>(events), 0.8, 0.03);
}

TEST(mebf_model_draws_rho_and_may_err) {
    WorkloadOptions options{
        .elastic = 100, .evolving_share = 0, .model = mebf_model({0.1, 0.2}, 0.5)};
    options.model.rho_error = 0.1;
    const Workload w = make(some_log(2000), options);
    double sum = 0;
    for (const Elasticity& e : w.elasticities) {
        const double rho = e.annotation.speedup.a;
        check_that(e.annotation.malleable && !e.annotation.evolving);
        check_that(rho >= 0.1 && rho <= 0.2);
        check_near(e.true_speedup.a, rho + 0.1, 1e-12);
        check_that(e.annotation.cost.alpha <= 0.025 && e.annotation.cost.sync == 0);
        sum += rho;
    }
    check_near(sum / 2000, 0.15, 0.005);
}

TEST(rho_may_be_an_exponent) {
    using Kind = core::SpeedupModel::Kind;
    WorkloadOptions options{.elastic = 100, .evolving_share = 0};
    options.model = mebf_model({0.1, 0.2}, 1, *rho_model("power"));
    options.model.rho_error = 0.1;
    const Workload power = make(some_log(20), options);
    options.model = mebf_model({0.1, 0.2});
    const Workload amdahl = make(some_log(20), options);
    for (std::size_t i = 0; i < power.elasticities.size(); ++i) {
        const Elasticity &a = power.elasticities[i], &b = amdahl.elasticities[i];
        check_that(a.annotation.speedup.kind == Kind::power);
        check_that(b.annotation.speedup.kind == Kind::rho);
        check_eq(a.annotation.speedup.a, b.annotation.speedup.a);  // the same jobs
        check_near(a.true_speedup.a, a.annotation.speedup.a + 0.1, 1e-12);
    }
    check_that(!rho_model("gustafson"));
}

TEST(options_out_of_range_are_named) {
    const Log log = some_log(3);
    check_error(make_workload(log, {.elastic = 101}), "--elastic: must be within 0 to 100");
    check_error(make_workload(log, {.scale_arrival = 0}),
                "--scale-arrival: must be more than 0 and at most 1000000");
    check_error(make_workload(log, {.min_factor = 2, .max_factor = 1}),
                "--min-factor, --max-factor: must be 0 <= MIN <= MAX, MAX more than 0");
    check_error(make_workload(log, {.model = mebf_model({0.3, 0.2})}),
                "--rho: must be LO:HI with 0 <= LO <= HI <= 1");
    check_error(make_workload(log, {.elastic = std::nan("")}),
                "--elastic: must be within 0 to 100");
}

TEST(random_numbers_are_those_of_the_algorithm) {
    // The first values of SplitMix64 for this seed, as every implementation has them.
    Random random(1234567);
    check_eq(random.next(), 6457827717110365317u);
    check_eq(random.next(), 3203168211198807973u);
}

TEST(random_distributions_have_their_moments) {
    Random random(1);
    constexpr int kDraws = 200000;
    double gamma = 0, gamma2 = 0, normal = 0, normal2 = 0, exponential = 0;
    std::array<int, 6> dice{};
    for (int i = 0; i < kDraws; ++i) {
        const double g = random.gamma(4, 0.5), n = random.normal();
        gamma += g;
        gamma2 += g * g;
        normal += n;
        normal2 += n * n;
        exponential += random.exponential(3);
        ++dice.at(static_cast<std::size_t>(random.integer(1, 6) - 1));
    }
    check_near(gamma / kDraws, 2, 0.02);
    check_near(gamma2 / kDraws, 5, 0.1);
    check_near(normal / kDraws, 0, 0.02);
    check_near(normal2 / kDraws, 1, 0.02);
    check_near(exponential / kDraws, 3, 0.05);
    for (int count : dice) check_near(count, kDraws / 6.0, 1000);
}

TEST(jobs_are_elastic_as_the_log_says) {
    Log log;
    log.name = "x.swf";
    log.nodes = 16;
    for (int id : {5, 6, 7}) log.jobs.push_back({id, 0, 100, 200, 0, 4});
    log.annotations[5] = {"malleable,min=2,max=8", 3};
    log.annotations[7] = {"malleable,min=2,pref=8,max=64", 3};
    log.annotations[99] = {"of a job that is not there", 3};
    const Workload w = make(log, {});
    check_eq(w.elasticities.size(), 2u);
    check_eq(w.jobs[0].elasticity, 0);
    check_eq(w.jobs[1].elasticity, -1);
    const core::Annotation& first = w.elasticities[0].annotation;
    check_that(first.malleable && first.min == 2 && first.pref == 4 && first.max == 8);
    check_eq(w.elasticities[0].negotiation, 0.0);
    check_eq(first.cost.seconds(2, 8), 0.0);
    // The logged time is that at the logged size.
    check_eq(w.jobs[2].nodes, 8);
    check_near(w.jobs[2].run, 50, 1e-9);
    check_near(w.jobs[2].estimate, 100, 1e-9);
    check_eq(w.elasticities[1].annotation.max, 16);
}

TEST(a_wrong_annotation_of_the_log_names_the_job) {
    Log log;
    log.name = "x.swf";
    log.nodes = 16;
    log.jobs.push_back({5, 0, 100, 200, 0, 4});
    log.annotations[5] = {"malleable,min=8,max=4", 3};
    check_error(make_workload(log, {}), "x.swf:3: job 5: elastic: min=8 is larger than max=4");
    log.annotations[5] = {"malleable,pref=17,max=17", 3};
    check_error(make_workload(log, {}),
                "x.swf:3: job 5: elastic: pref=17 is more than the machine's 16 nodes");
    log.lenient = true;
    const Workload lenient = make(log, {});
    check_eq(lenient.malformed, 1);
    check_eq(lenient.jobs.at(0).elasticity, -1);
    log.annotations[5] = {"malleable", 3};
    check_error(make_workload(log, {.elastic = 10}),
                "--elastic: x.swf itself says which jobs are elastic");
}

TEST(components_are_rigid_and_stand_where_the_last_of_them_does) {
    Log log = some_log(6);
    log.types = {"urgent"};
    for (LogJob& job : log.jobs) job.type = 0;
    log.jobs[3].type = -1;
    log.heterogeneous = {{1, 3, 4}};
    WorkloadOptions options{.elastic = 100};
    options.precedence = Precedence{TypeField::queue, {{"urgent", 1}}};
    const Workload w = make(log, options);
    using Places = std::vector<std::vector<std::uint32_t>>;
    check_eq(w.heterogeneous, (Places{{1, 3, 4}}));
    check_eq(ids(w, true), (std::vector<std::int64_t>{1, 3, 6}));
    for (const std::size_t job : {1, 3, 4}) check_eq(w.jobs[job].submit, log.jobs[4].submit);
    check_eq(w.jobs[2].submit, log.jobs[2].submit);
    check_eq(w.levels, (std::vector<int>{1, 0, 1, 0, 0, 1}));
    // Only those that are used.
    check_eq(make(log, {.skip = 2}).heterogeneous, (Places{{1, 2}}));
    check_eq(make(log, {.jobs = 3}).heterogeneous, Places{});
}

TEST(heterogeneous_jobs_that_are_larger_than_the_machine_are_rejected) {
    Log log = some_log(4);  // sizes 2, 3, 4, 5
    log.heterogeneous = {{0, 1}, {2, 3}};
    const Workload w = make(log, {.nodes = 8});
    check_eq(w.rejected, 2);
    check_eq(ids(w), (std::vector<std::int64_t>{1, 2}));
    check_eq(make(log, {.nodes = 9}).heterogeneous.size(), 2u);
    check_eq(make(log, {.nodes = 5, .procs_per_node = 2}).heterogeneous.size(), 2u);
}

TEST(a_component_cannot_be_elastic) {
    Log log = some_log(3);
    log.heterogeneous = {{0, 2}};
    log.annotations[3] = {"malleable", 7};
    check_error(make_workload(log, {}),
                "x.swf:7: job 3: elastic: a component of a heterogeneous job cannot be elastic");
    log.lenient = true;
    const Workload w = make(log, {});
    check_eq(w.malformed, 1);
    check_eq(w.jobs[2].elasticity, -1);
}

TEST(skipped_lines_count_where_jobs_are_used) {
    Log log;
    log.name = "x.swf";
    log.nodes = 16;
    for (int id : {1, 2, 3, 4}) log.jobs.push_back({id, 0, 100, 200, 0, 4});
    log.skipped = {0, 1, 3, 3, 4};
    check_eq(make(log, {}).skipped, 5);
    check_eq(make(log, {.jobs = 2}).skipped, 2);
    check_eq(make(log, {.jobs = 1, .skip = 2}).skipped, 0);
    check_eq(make(log, {.skip = 3}).skipped, 3);
    check_error(make_workload(log, {.skip = 4}), "--skip: x.swf has only 4 jobs that could be run");
}

namespace {

// Two jobs at a time on 4 processors each, of which a node of the machine has 8.
Log shared_log() {
    Log log;
    log.name = "x.sacct";
    for (int i = 0; i < 40; ++i) {
        LogJob job = log_job(i + 1, 4);
        job.submit = 100.0 * (i / 2);
        job.nodes = 1;
        job.wait = 5;
        job.limited = true;
        log.jobs.push_back(job);
    }
    return log;
}

}  // namespace

TEST(jobs_that_share_nodes_are_seen_by_their_own_times) {
    const Log log = shared_log();
    const Occupancy whole = occupancy(log, 1, 0);
    check_eq(whole.peak, 2);
    check_near(whole.excess, 0.5, 1e-12);
    check_eq(occupancy(log, 8, 1).peak, 8);
    check_eq(occupancy(log, 8, 1).excess, 0);
    const auto list = doubts(log, {.nodes = 1});
    check_eq(list.size(), 1U);
    check_that(list[0].find("up to 2 nodes are in use of 1, 50 % of all") != std::string::npos);
    check_that(list[0].find("--procs-per-node 1 --nodes") != std::string::npos);
    check_eq(doubts(log, {.nodes = 2}).size(), 0U);
    check_eq(doubts(log, {.nodes = 8, .procs_per_node = 1}).size(), 0U);
    check_that(doubts(log, {.nodes = 4, .procs_per_node = 1})[0].find("too small") !=
               std::string::npos);
    check_eq(doubts(log, {}).size(), 0U);  // how large the machine is nobody says
}

TEST(jobs_without_a_time_limit_are_named) {
    Log log = shared_log();
    for (int i = 0; i < 10; ++i) log.jobs[i].limited = false;
    const auto list = doubts(log, {.nodes = 2});
    check_eq(list.size(), 1U);
    check_that(list[0].find("10 of 40 jobs have no time limit") != std::string::npos);
    check_eq(doubts(log, {.nodes = 2, .estimates = Estimates::exact}).size(), 0U);
}

TEST(waits_of_the_log_are_kept_unless_arrivals_change) {
    const Log log = shared_log();
    check_eq(make(log, {.nodes = 2}).logged_waits.size(), 40U);
    check_eq(make(log, {.nodes = 2, .skip = 10}).logged_waits.size(), 30U);
    check_eq(make(log, {.nodes = 2, .scale_arrival = 0.5}).logged_waits.size(), 0U);
    check_eq(make(some_log(10), {}).logged_waits.size(), 0U);
}

TEST(the_truth_about_speed_up_may_differ_from_what_is_declared) {
    using Kind = core::SpeedupModel::Kind;
    Log log = some_log(0);
    log.jobs = {log_job(1, 4, 100, 200)};
    WorkloadOptions options{.elastic = 100, .evolving_share = 0, .model = mebf_model({0, 0})};
    options.truth = *parse_truth("downey=1.5:0.5");
    const Workload drawn = make(log, options);
    check_that(drawn.elasticities[0].annotation.speedup.linear());
    const core::SpeedupModel truth{Kind::downey, 6, 0.5};
    check_that(drawn.elasticities[0].true_speedup == truth);
    check_eq(drawn.jobs[0].run, 100.0);
    // At another preferred size the run time is the true one, the estimate what is believed.
    options.pref_factor = 2;
    options.truth = *parse_truth("rho=1");
    const Workload doubled = make(log, options);
    check_near(doubled.jobs[0].run, 100, 1e-9);
    check_near(doubled.jobs[0].estimate, 100, 1e-9);
    // So it is with jobs that the log itself calls elastic.
    log.annotations[1] = {"malleable,min=2,pref=8,max=16", 3};
    const Workload annotated = make(log, {.truth = *parse_truth("rho=1")});
    check_eq(annotated.elasticities[0].true_speedup.a, 1.0);
    check_near(annotated.jobs[0].run, 100, 1e-9);
    check_near(annotated.jobs[0].estimate, 100, 1e-9);
}

TEST(a_truth_is_a_model) {
    check_that(parse_truth("linear")->linear());
    check_eq(parse_truth("power=0.3")->a, 0.3);
    check_error(parse_truth("amdahl=1"),
                "'amdahl=1' is none of linear, rho=R, power=R, overhead=X, downey=A:SIGMA");
    check_that(!parse_truth("rho=0.1,min=2") && !parse_truth("min=2") && !parse_truth("") &&
               !parse_truth("rho=-1") && !parse_truth("downey=2"));
}

TEST(limits_may_be_wrong_by_a_factor) {
    const Log log = some_log(4000);
    const Workload right = make(log, {}), wrong = make(log, {.limit_error = {0.25, 4}});
    int less = 0;
    for (std::size_t i = 0; i < log.jobs.size(); ++i) {
        const double factor = wrong.jobs[i].estimate / right.jobs[i].estimate;
        check_that(factor >= 0.25 && factor <= 4);
        check_eq(wrong.jobs[i].run, right.jobs[i].run);
        less += factor < 1;
    }
    check_near(less, 2000, 150);
    check_eq(make(log, {.limit_error = {2, 2}}).jobs[7].estimate, 2 * right.jobs[7].estimate);
    // Whose limit is wrong by how much does not hang on who is elastic.
    const Workload elastic = make(log, {.limit_error = {0.25, 4}, .elastic = 50});
    check_eq(elastic.jobs[7].estimate, wrong.jobs[7].estimate);
    check_error(make_workload(log, {.limit_error = {2, 1}}),
                "--limit-error: must be LO:HI with 0.001 <= LO <= HI <= 1000");
}

TEST(a_log_tells_how_many_nodes_were_in_use) {
    Log log = some_log(0);
    check_eq(nodes_in_use(log, 0), 0);
    log.jobs = {log_job(1, 8, 1000), log_job(2, 4, 990)};
    for (LogJob& job : log.jobs) job.wait = 0;
    check_eq(nodes_in_use(log, 0), 12);
    // An end that was noted a second late is no third job's worth of nodes.
    log.jobs.push_back(log_job(3, 12, 1000));
    log.jobs[2].submit = 1009;
    log.jobs[2].wait = 0;
    check_eq(occupancy(log, 12, 0).peak, 24);
    check_eq(nodes_in_use(log, 0), 12);
    check_eq(nodes_in_use(log, 4), 3);
}

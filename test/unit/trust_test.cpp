// SPDX-License-Identifier: MIT
// The grade of logs whose waits are known to be those of the simulation, or of something else.
#include "simulator/trust/trust.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "simulator/metrics.hpp"
#include "simulator/site/logged_use.hpp"
#include "simulator/trust/calibration.hpp"
#include "simulator/trust/rank_correlation.hpp"
#include "testing.hpp"

namespace elastic::simulator {
namespace {

constexpr int kNodes = 32, kUsers = 5, kLimited = 2;  // a user

// A machine that is now and then full, by five users.
Workload busy() {
    Workload workload;
    workload.nodes = kNodes;
    std::mt19937 random(3);
    Time now = 0;
    for (int i = 0; i < 600; ++i) {
        Job job;
        job.id = i + 1;
        job.submit = now += static_cast<Time>(random() % 400);
        job.run = 300 + static_cast<Duration>(random() % 4000);
        job.estimate = 2 * job.run;
        job.nodes = 1 + static_cast<int>(random() % 5);
        workload.jobs.push_back(job);
    }
    return workload;
}

Outcome easy(const Workload& workload) {
    SimulationOptions options;
    options.policy = *core::preset("easy");
    return simulate(workload, options);
}

Grouping by_user(const Workload& workload) {
    Grouping grouping;
    for (const Job& job : workload.jobs)
        grouping.types.push_back(static_cast<int>(job.id * 7 % 11 % kUsers));
    for (int user = 0; user < kUsers; ++user) grouping.names.push_back(fmt::format("u{}", user));
    return grouping;
}

std::vector<Duration> waits(const Workload& workload, const Outcome& outcome) {
    std::vector<Duration> waits;
    for (std::size_t i = 0; i < workload.jobs.size(); ++i)
        waits.push_back(wait(workload.jobs[i], outcome.jobs[i]));
    return waits;
}

Trust judge(const Workload& workload, const Outcome& outcome) {
    return judge_trust(workload, outcome, {by_user(workload)});
}

// One after the other, as the user's jobs never were at once.
void limit_to_one_job(Workload& workload, int user) {
    const Grouping users = by_user(workload);
    Time free = 0;
    for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
        if (users.types[i] != user) continue;
        const Job& job = workload.jobs[i];
        const Time start = std::max(free, job.submit + workload.logged_waits[i]);
        workload.logged_waits[i] = start - job.submit;
        free = start + job.run;
    }
}

bool says(const std::vector<std::string>& list, std::string_view what) {
    return std::ranges::any_of(
        list, [&](const std::string& text) { return text.find(what) != std::string::npos; });
}

}  // namespace

TEST(rank_correlation_of_few_values) {
    check_near(*rank_correlation({1, 2, 3}, {10, 20, 300}), 1, 1e-12);
    check_near(*rank_correlation({1, 2, 3}, {3, 2, 1}), -1, 1e-12);
    // With ties, by hand: ranks 0.5, 0.5, 2, 3 and 0, 1, 2.5, 2.5.
    check_near(*rank_correlation({0, 0, 5, 9}, {1, 2, 7, 7}), 4 / 4.5, 1e-12);
    check_that(!rank_correlation({1, 1, 1}, {1, 2, 3}));
    check_that(!rank_correlation({}, {}));
}

TEST(use_by_the_logs_own_times) {
    LoggedUse use;
    use.add(0, 10, 3);
    use.add(10, 20, 3);
    use.add(15, 25, 3);
    use.finish();
    check_eq(use.at(-1).nodes, 0);
    check_eq(use.at(0).nodes, 3);
    check_eq(use.at(10).nodes, 3);
    check_eq(use.at(15).jobs, 2);
    check_eq(use.at(25).nodes, 0);
    check_eq(use.peak().nodes, 6);
    check_eq(use.peak().jobs, 2);
}

TEST(waits_of_the_simulation_itself_are_good) {
    Workload workload = busy();
    const Outcome outcome = easy(workload);
    workload.logged_waits = waits(workload, outcome);
    const Trust trust = judge(workload, outcome);
    check_that(trust.grade == Grade::good);
    check_that(trust.all.logged > 600);
    check_near(*trust.all.ratio(), 1, 1e-12);
    check_near(*trust.all.correlation, 1, 1e-12);
    check_eq(trust.tenths.size(), 10u);
    check_eq(trust.at_once, 0);
    check_eq(trust.unexplained, 0);
    check_that(trust.missing.empty() && trust.to_do.empty());
    check_that(to_text(trust).starts_with("trust: good\nwhy\n"));
}

TEST(shuffled_waits_are_low) {
    Workload workload = busy();
    const Outcome outcome = easy(workload);
    workload.logged_waits = waits(workload, outcome);
    std::ranges::shuffle(workload.logged_waits, std::mt19937(1));
    const Trust trust = judge(workload, outcome);
    check_that(trust.grade == Grade::low);
    check_near(*trust.all.ratio(), 1, 1e-9);  // which alone says nothing
    check_that(std::abs(*trust.all.correlation) < 0.2);
    check_that(says(trust.reasons, "fair asks for 0.4"));
}

TEST(longer_waits_of_the_same_order_are_fair) {
    Workload workload = busy();
    const Outcome outcome = easy(workload);
    workload.logged_waits = waits(workload, outcome);
    for (Duration& wait : workload.logged_waits) wait *= 2;
    const Trust trust = judge(workload, outcome);
    check_that(trust.grade == Grade::fair);
    check_that(says(trust.reasons, "good asks for a ratio of 0.67 to 1.50"));
    for (Duration& wait : workload.logged_waits) wait *= 2;
    check_that(judge(workload, outcome).grade == Grade::low);
}

TEST(a_limit_of_a_user_is_named) {
    Workload workload = busy();
    const Outcome outcome = easy(workload);
    workload.logged_waits = waits(workload, outcome);
    limit_to_one_job(workload, kLimited);
    const Trust trust = judge(workload, outcome);
    check_that(trust.grade == Grade::low);
    check_eq(trust.groups.front().name, "u2");
    check_that(trust.groups.front().of_unexplained > 0.99);
    check_eq(trust.groups.front().job_limit, 1);
    check_that(trust.with_room > 0.5);
    check_that(says(trust.missing, "look like a limit of 1 running job of user u2"));
    check_that(says(trust.missing, "are of user u2"));
    check_that(says(trust.missing, "there were nodes for the job"));
    check_that(says(trust.to_do, "add Partition,QOS to the export"));
    check_that(says(trust.to_do, "--limits inferred"));
    const Json json = to_json(trust);
    check_eq(json.get_string("grade"), "low");
    check_eq(json.get("groups").at(0).get_int("job_limit"), 1);
}

TEST(a_part_of_the_log_is_named) {
    Workload workload = busy();
    const Outcome outcome = easy(workload);
    workload.logged_waits = waits(workload, outcome);
    for (std::size_t i = 120; i < 170; ++i) workload.logged_waits[i] += 40000;
    const Trust trust = judge(workload, outcome);
    check_that(trust.tenths[2].unexplained > 0.8);
    check_that(says(trust.missing, "was part of the machine down or reserved then?"));
}

TEST(a_machine_that_is_too_small_is_told) {
    Workload workload = busy();
    workload.logged_waits.assign(workload.jobs.size(), 0);
    workload.nodes = 24;
    const Trust trust = judge(workload, easy(workload));
    check_that(trust.grade == Grade::low);
    check_that(trust.peak > 24);
    check_that(says(trust.missing, "that did not in truth: the machine is larger than 24 nodes"));
    check_that(says(trust.to_do, "--nodes"));
}

TEST(arrivals_are_scaled_until_jobs_wait_as_they_did) {
    const Workload workload = busy();
    Log log;
    log.name = "site";
    log.nodes = kNodes;
    for (const Job& job : workload.jobs) {
        LogJob& logged = log.jobs.emplace_back();
        logged.id = job.id;
        logged.submit = job.submit;
        logged.run = job.run;
        logged.estimate = job.estimate;
        logged.nodes = job.nodes;
    }
    check_that(!calibrate(log, {}));  // no waits
    WorkloadOptions busier;
    busier.scale_arrival = 0.83;
    const Workload scaled = *make_workload(log, busier);
    const std::vector<Duration> longer = waits(scaled, easy(scaled));
    for (std::size_t i = 0; i < log.jobs.size(); ++i) log.jobs[i].wait = longer[i];
    const auto more = calibrate(log, {});
    check_ok(more);
    check_that(more->is_met && more->runs <= kMostCalibrationRuns);
    check_that(more->before < more->logged);
    check_near(more->simulated, more->logged, kCalibrated * more->logged);
    check_near(more->factor, 0.83, 0.02);
    const std::vector<Duration> now = waits(workload, easy(workload));
    for (std::size_t i = 0; i < log.jobs.size(); ++i) log.jobs[i].wait = now[i] / 3;
    const auto less = calibrate(log, {});
    check_that(less->is_met && less->factor > 1);
    for (LogJob& job : log.jobs) job.wait = 1e9;  // which no load does to so few jobs
    const auto never = calibrate(log, {});
    check_that(!never->is_met && never->runs == kMostCalibrationRuns);
    check_that(to_text(*never).find("nearer it did not come") != std::string::npos);
}

TEST(a_log_without_waits_has_no_grade) {
    Workload workload = busy();
    const Outcome outcome = easy(workload);
    check_that(judge(workload, outcome).grade == Grade::unknown);
    workload.logged_waits.assign(workload.jobs.size(), -1);
    for (int i = 0; i < 99; ++i) workload.logged_waits[i] = 0;
    const Trust trust = judge(workload, outcome);
    check_that(trust.grade == Grade::unknown);
    check_that(says(trust.reasons, "99 of its jobs"));
    check_that(to_json(trust).get("tenths").is_array());
}

TEST(where_nobody_waits_the_simulation_is_right) {
    Workload workload = busy();
    workload.nodes = 1000;
    workload.logged_waits.assign(workload.jobs.size(), 30);  // what a scheduler takes to look
    check_that(judge(workload, easy(workload)).grade == Grade::good);
}

}  // namespace elastic::simulator

// SPDX-License-Identifier: MIT
// `selastic-sim advise`: which policy a site should take, by its own log, for whom that is better
// or worse, and what that hangs on.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/result.hpp"
#include "simulator/make_workload.hpp"
#include "simulator/metrics.hpp"
#include "simulator/site/site.hpp"
#include "simulator/trust/calibration.hpp"
#include "simulator/trust/trust.hpp"
#include "studies/report/report.hpp"
#include "studies/run_pool.hpp"

namespace elastic::studies {

struct AdviceOptions {
    std::string log;  // "-" for standard input
    bool lenient = false;
    simulator::SiteFiles files{};  // what is known of the machine besides
    // Which jobs, on which machine; what is elastic and at what costs is varied.
    simulator::WorkloadOptions workload{.evolving_share = 0};
    // Per cent of the jobs that are malleable: what the answer and the closer looks are for, and
    // what else is compared.
    double headline = 50;
    std::vector<double> shares{5, 10, 20, 50, 100};
    std::vector<double> cost_factors{1, 10};  // the first is that of the headline
    int seeds = 3;
    // All presets are compared under the headline; under other shares and costs the best few of
    // these, unless all are wanted, and under higher costs some shares.
    bool all_presets = false;
    // Of a log of much more jobs, some weeks with about so many are looked at first; 0: of none.
    std::int64_t sample = 20000;
    bool calibrate = false;  // look, too, with arrivals scaled until jobs wait as they did
    PoolOptions pool;
};

// What a log must have for a comparison to say anything.
inline constexpr std::size_t kFewestJobs = 10;

// Times in seconds.
struct Figures {
    double turnaround = 0, slowdown = 0, wait = 0, p99_wait = 0, longest_wait = 0;
    double rigid_turnaround = 0;  // of the rigid jobs; NaN without any
    double useful_utilisation = 0, work_done = 0;
    double delayed = 0;  // jobs that wait over an hour longer than under easy
    double longest_delay = 0;
    // Who pays, see simulator::Comparison: jobs that wait longer at all, by how much on average,
    // and promised starts that are missed.
    double longer = 0, mean_longer = 0, missed = 0;
};

// A preset under one share and cost.
struct Standing {
    std::string policy;
    double share = 0, cost_factor = 0;
    Figures mean;  // over the seeds
    // Mean turnaround by easy's, less 1: less than 0 is better; with the error over the seeds.
    Difference gain;
    // Of the seeds; gain, and the longest of any job, seconds.
    double worst = 0, longest_wait = 0, longest_delay = 0;
    bool is_sampled = false;  // of a sample of the log, not of all of it
};

// A preset under all of them.
struct Ranking {
    std::string policy;
    double gain = 0, worst_gain = 0;  // as of Standing: mean, and the highest
    int worse = 0;                    // conditions in which it is worse than easy beyond the error
    int conditions = 0;               // under which it was looked at
    // Of any job, and how much longer one waits than under easy, in any run, seconds.
    double longest_wait = 0, longest_delay = 0;
};

// Mean turnaround of some jobs, seconds.
struct Group {
    std::string name;
    double jobs = 0;  // as a mean over the seeds
    double easy = 0, recommended = 0;
    double delayed = 0;  // that wait over an hour longer
};

// What is taken for granted, put otherwise.
struct Assumption {
    std::string text, options;  // what, and how to say it to `selastic-sim run`
    double easy = 0;            // mean turnaround, seconds
    Difference gain;            // of the recommended preset against easy
    std::string best;           // of those compared
    double best_gain = 0;
};

// A preset under the middle condition with arrivals as they were, and scaled.
struct CalibratedGain {
    std::string policy;
    Difference as_logged, scaled;
};
struct Calibrated {
    simulator::Calibration calibration;
    // The best of the scaled first: the baseline and the recommended preset, or all.
    std::vector<CalibratedGain> gains;
};

// What is in use and what waits, as means over equal parts of the time.
struct Course {
    std::vector<double> used;     // share of the machine
    std::vector<double> waiting;  // jobs
};
struct OverTime {
    Duration part = 0;  // seconds, of each
    Course easy, recommended;
};

// Of what the figures are made, so far.
struct Basis {
    bool is_finished = false;           // the whole log, all that is to be run
    std::int64_t jobs = 0;              // of the last sample, all if there was none
    std::size_t stretches = 0, of = 0;  // of the log, that are in it
    std::string stretch;                // how long each is: "7 weeks"
    Duration wait = 0;                  // of the sample's jobs under easy, mean, seconds
    int whole = 0, conditions = 0;      // shares and costs that are of the whole log, of all
    // What the headline's gain may be off as it is that of these stretches and not of the whole
    // log: twice the standard error; 0 for the whole log.
    double error = 0;
};

struct Advice {
    std::string log;
    int nodes = 0;
    std::string nodes_from;  // who says so
    std::int64_t jobs = 0, skipped = 0, rejected = 0;
    Basis basis;
    double share = 0, cost_factor = 0;  // of the headline and the closer looks
    int seeds = 0;
    std::vector<std::string> warnings;  // what makes all of this say less
    // How far the simulation shows the site's own waits.  Where that is low nothing is advised:
    // what is recommended below is then but the best of the runs, and there is no configuration.
    simulator::Trust trust;
    simulator::Summary easy;          // the baseline
    std::vector<Standing> standings;  // by share and cost, then by policy
    std::vector<Ranking> rankings;    // the best first
    std::string recommended, why;
    // Empty while they are not there yet; by user as well if the log names none.
    std::vector<Group> by_class, by_size, by_user;
    OverTime over_time;
    std::vector<Assumption> assumptions;   // the first is what all else was computed with
    std::optional<Calibrated> calibrated;  // if asked for
    std::string configuration;             // elastic.conf

    bool is_advised() const { return trust.grade != simulator::Grade::low; }
};

// Told of the advice as far as it is made, again and again, each time it says more.
using Told = std::function<void(const Advice&)>;

// Errors name the log, or the option: no job, too few, a machine that is too small.
Result<Advice> advise(const AdviceOptions&, const Told& = {});

}  // namespace elastic::studies

// SPDX-License-Identifier: MIT
// How far a simulation of a log is to be believed: what its jobs waited in truth beside what they
// wait in the simulation of the same machine, with all jobs as they were.
//
// A policy is judged by what it does to waits.  Where the simulation does not show the waits that
// the site has, it does not know what they come from, and what it says of changing them is a guess.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/json.hpp"
#include "common/names.hpp"
#include "simulator/engine.hpp"
#include "simulator/trust/grouping.hpp"
#include "simulator/workload.hpp"

namespace elastic::simulator {

enum class Grade { unknown, low, fair, good };
constexpr auto names(Grade) {
    return std::to_array<std::string_view>({"unknown", "low", "fair", "good"});
}
using elastic::to_string;

// A wait of up to this long is none: schedulers look at their queues twice or once a minute, which
// the simulation does not know.
inline constexpr Duration kNoWait = 60;  // seconds

// Fewer jobs whose waits are known have no grade: the error of a rank correlation is one by the
// square root of their number, which is a third of the step between two grades for as many.
inline constexpr std::int64_t kFewestLogged = 100;

// What a grade asks for, all of it.
struct GradeLimits {
    Grade grade = Grade::low;
    // The mean waits are within this factor, either way.  In a queue they go by 1 / (1 - load), so
    // 1.5 is what five per cent of load do on a machine that is 80 to 90 % full, which a site's
    // months differ by, and 2.5 what ten to fifteen do.
    double factor = 1;
    // Spearman's, job by job.  0.7: half of the differences between jobs' waits are those of the
    // log.  0.4: a sixth, which tells a direction; with less, who wins and who loses is told of
    // other jobs than those that it happens to.
    double correlation = 1;
    // Share of the tenths of the log in which the mean waits are within kTenthFactor: a mean that
    // is right since one part waits too little and another too much says nothing.
    double tenths = 1;
};
inline constexpr std::array kGradeLimits{GradeLimits{Grade::good, 1.5, 0.7, 0.7},
                                         GradeLimits{Grade::fair, 2.5, 0.4, 0.5}};
inline constexpr double kTenthFactor = 2.5;
inline constexpr std::size_t kStretches = 10;  // "tenths"

// Jobs of the log that were submitted one after the other, and all together.
struct Stretch {
    Time from = 0, to = 0;              // the first and the last submission
    std::int64_t jobs = 0;              // of which the log says what they waited
    double logged = 0, simulated = 0;   // mean waits of these, seconds
    std::optional<double> correlation;  // of their ranks
    double unexplained = 0;             // share of all that, see Trust
    // The simulated mean by the logged one; nothing where both are none.
    std::optional<double> ratio() const;
};

// Jobs that the log names alike.
struct GroupWaits {
    TypeField field = TypeField::user;
    std::string name;
    // Shares of all: of the jobs, and of the waits that the simulation does not show.
    double of_jobs = 0, of_unexplained = 0;
    double with_room = 0;  // share of its own such waits, see Trust
    // By the log its jobs never held more than so many nodes, or were never more than so many, and
    // nearly all that waited while there was room would have exceeded that; 0: not so.
    std::int64_t node_limit = 0, job_limit = 0;
};

struct Trust {
    Grade grade = Grade::unknown;
    std::vector<std::string> reasons;  // for the grade
    Stretch all;
    std::vector<Stretch> tenths;
    std::int64_t waited = 0;  // jobs that did in the log
    double at_once = 0;       // share of them that start at once in the simulation
    // Share of the log's waits that the simulation does not show: by how much longer jobs waited
    // than they do there.  Of that, in shares: while by the log's own account there were nodes for
    // the job, while moreover at most half of the machine was in use, and while it was full.
    double unexplained = 0, with_room = 0, idle = 0, full = 0;
    std::int64_t peak = 0;           // nodes in use at one time by the log's own account
    std::vector<GroupWaits> groups;  // by field, those with the most unexplained waits first
    std::vector<std::string> missing, to_do;  // what explains them, and what to do about it
};

// `easy` is what became of the jobs under EASY; none of them is elastic.
Trust judge_trust(const Workload&, const Outcome& easy, const std::vector<Grouping>&);

std::string to_text(const Trust&);
// Its lists alone: why the grade, what is missing, what to do.
std::string causes_text(const Trust&);
Json to_json(const Trust&);

}  // namespace elastic::simulator

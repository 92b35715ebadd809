// SPDX-License-Identifier: MIT
// Logs out of published models of the workload of parallel computers.  The same options give the
// same log, whatever the machine; each job depends on the seed and its number only.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "common/result.hpp"
#include "core/model/evolution_profile.hpp"
#include "simulator/make_workload.hpp"
#include "simulator/workload.hpp"

namespace elastic::simulator {

struct GeneratorOptions {
    std::int64_t jobs = 10000;
    std::int64_t processors = 0;  // of the machine
    // Processor-seconds of all jobs over those that the machine has up to the last arrival; 0: as
    // the model's arrivals say, where it has any of its own.
    double load = 0;
    std::uint64_t seed = 1;
    // The estimate is the run time times a factor drawn uniformly from 1 to this ("f-model",
    // Mu'alem and Feitelson 2001), then rounded up to what people write, if so wished: 5, 10, 15,
    // 30 min, 1, 2, 4, 6, 8, 12, 18 h, whole days.
    double estimate_factor = 1;
    bool round_estimates = false;
    // Ours: so many of the jobs on more than one processor, 0 to 1, are heterogeneous: two
    // components that share the processors, of which the second runs for 10 to 100 % of the time.
    double heterogeneous_share = 0;
};

// Downey's model as used in [lina] section 5.1, table 1, whose values are the defaults: ln of the
// run time (seconds) and of the size uniform, arrivals Poisson with the rate that gives the load
// ("rho").  Table 1 calls ln(T_r) the job's width; T_r is the run time by the list below it, and so
// it is here.
struct DowneyOptions {
    GeneratorOptions common{.processors = 10000, .load = 0.75, .seed = 17};
    Range log_run{5.69, 9.91};
    Range log_size{0.69, 8.51};  // its end is lowered to the machine's size
};
Result<Log> generate_downey(const DowneyOptions&);

// Lublin and Feitelson, "The workload on parallel supercomputers: modeling the characteristics of
// rigid jobs", J. Parallel Distrib. Comput. 63 (2003), with the parameters published for batch jobs
// as defaults.
struct LublinOptions {
    GeneratorOptions common{.processors = 128};
    // Sizes: 1, or log2 of the size uniform in two stages, the first with probability `small_share`
    // from `log2_low` to log2(machine) - `log2_break`, the second from there to log2(machine);
    // rounded to a whole power for `power_of_two_share` of all jobs.
    double serial_share = 0.2927, power_of_two_share = 0.6686;
    double log2_low = 1.2, log2_break = 2, small_share = 0.875;
    // ln of the run time: gamma(short) with probability p, else gamma(long), where p = p_slope *
    // size + p_start, within 0 and 1.
    double short_shape = 6.57, short_scale = 0.823;
    double long_shape = 639.1, long_scale = 0.0156;
    double p_slope = -0.003, p_start = 0.6986;
    // ln of the seconds between arrivals: gamma, with the shape of rush hours corrected for the
    // whole day.
    double gap_shape = 6.0415 * 1.0519, gap_scale = 0.8531;
    // Arrivals over the day: gamma, in half hours, of a day that begins at 5:30.
    double cycle_shape = 6.1271, cycle_scale = 5.2740;
    double start_hour = 0;  // of the day at the log's zero
    // Ours: so many of all jobs, 0 to 1, are rigid and need nearly the whole machine: kWidest of it
    // or more, uniformly; their run times are as of any job of that size.
    double wide_share = 0;
};
inline constexpr double kWidest = 0.9;
Result<Log> generate_lublin(const LublinOptions&);

// The test cases of [evolving] section 5.1, whose values are the defaults, but for the nodes, which
// it does not say.  All numbers are drawn uniformly, both ends included.
struct EvolvingOptions {
    std::int64_t nodes = 100;  // of the machine
    std::int64_t least_applications = 15, most_applications = 20;
    std::int64_t least_steps = 1, most_steps = 10;
    std::int64_t least_duration = 500, most_duration = 3600;  // seconds of a step
    std::int64_t least_nodes = 1, most_nodes = 75;            // of a step
    std::uint64_t seed = 1;
    std::int64_t test = 1;  // which of the seed's test cases
};
// Each has at most as many nodes as the machine.
std::vector<core::EvolutionProfile> evolving_applications(const EvolvingOptions&);
// The same as jobs with profiles that are all submitted at time 0.
Result<Log> generate_evolving(const EvolvingOptions&);

// As SWF, piece by piece; `model` goes into the header.
void write_swf(const Log&, std::string_view model,
               const std::function<void(std::string_view)>& out);

}  // namespace elastic::simulator

// SPDX-License-Identifier: MIT
// The model's gaps are stretched until its jobs arrive in the days that the paper says, its run
// times until they are the load: neither changes how they are spread, and the daily cycle stays
// one.  The three loads of a seed are so the same jobs, longer by as much as the load is higher.
//
// More homogeneous is the model without its gamma of short runs, which leaves run times around five
// hours (coefficient of variance 0.4) of six decades, and without its daily cycle and its bursts.
// All this is before the stretching.
#include "studies/packet/workloads.hpp"

#include "simulator/generators.hpp"
#include "simulator/random.hpp"

namespace elastic::studies::packet {
namespace {

using namespace simulator;

constexpr Duration kDay = 86400;

// Gaps with about the model's mean logarithm and a coefficient of variance of 0.6, and a daily
// cycle so wide that all hours are alike.
void arrive_evenly(LublinOptions& options) {
    options.gap_shape = 100, options.gap_scale = 0.0542;
    options.cycle_shape = 1, options.cycle_scale = 1000;
}

LublinOptions model(const Flow& flow, const Assumptions& assumed, std::uint64_t seed) {
    LublinOptions options;
    options.common.jobs = assumed.jobs;
    options.common.processors = flow.nodes();
    options.common.seed = seed;
    if (flow.homogeneous) options.p_slope = options.p_start = 0;
    if (flow.homogeneous && assumed.even_arrivals) arrive_evenly(options);
    return options;
}

double work_of(const Log& log) {
    double work = 0;
    for (const LogJob& job : log.jobs) work += job.run * static_cast<double>(job.processors);
    return work;
}

// As the model says, but that the last job arrives after about the days assumed.
Result<Log> draw(const Flow& flow, const Assumptions& assumed, std::uint64_t seed) {
    LublinOptions options = model(flow, assumed, seed);
    options.common.load = 1;
    const Result<Log> any = generate_lublin(options);
    if (!any) return any.error();
    options.common.load = work_of(*any) / (flow.nodes() * assumed.days * kDay);
    return generate_lublin(options);
}

}  // namespace

Result<PacketWorkload> make_workload(const Flow& flow, double share, const Assumptions& assumed,
                                     std::uint64_t seed) {
    const Result<Log> log = draw(flow, assumed, seed);
    if (!log) return log.error();
    PacketWorkload workload;
    workload.nodes = flow.nodes();
    const Time first = log->jobs.front().submit;
    const double stretch =
        flow.load * flow.nodes() * (log->jobs.back().submit - first) / work_of(*log);
    double total = 0;
    for (std::size_t i = 0; i < log->jobs.size(); ++i) {
        const LogJob& job = log->jobs[i];
        Random random(seed ^ 0x7061636b6574, i);
        workload.jobs.push_back({job.submit - first,
                                 job.run * static_cast<double>(job.processors) * stretch,
                                 static_cast<int>(random.integer(0, assumed.types - 1))});
        total += assumed.share_by_one_node ? workload.jobs.back().work : job.run * stretch;
    }
    const Duration initialisation = initialisation_for(share, total, workload.jobs.size());
    for (int i = 0; i < assumed.types; ++i)
        workload.types.push_back({std::to_string(i + 1), initialisation});
    return workload;
}

}  // namespace elastic::studies::packet

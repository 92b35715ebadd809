// SPDX-License-Identifier: MIT
// How the time of a simulation grows with the number of jobs, as a table and as a figure: Downey's
// model at one load, so that the queue is as long in a large log as in a small one.  The best of
// several runs of simulate() alone.
//
//     scaling_bench [FIGURE.svg]
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <limits>

#include "simulator/engine.hpp"
#include "simulator/generators.hpp"
#include "simulator/make_workload.hpp"
#include "studies/report/plot.hpp"

namespace {

using namespace elastic;

constexpr int kRuns = 3;
constexpr double kJobs[] = {1e4, 3e4, 1e5, 3e5, 1e6};

double seconds(const simulator::Workload& workload, std::string_view policy) {
    simulator::SimulationOptions options;
    options.policy = *core::preset(policy);
    double best = std::numeric_limits<double>::infinity();
    for (int run = 0; run < kRuns; ++run) {
        const auto before = std::chrono::steady_clock::now();
        simulator::simulate(workload, options);
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - before;
        best = std::min(best, took.count());
    }
    return best;
}

simulator::Workload workload(double jobs, double elastic) {
    simulator::DowneyOptions downey;
    downey.common.jobs = static_cast<std::int64_t>(jobs);
    simulator::WorkloadOptions options;
    options.elastic = elastic;
    return *simulator::make_workload(*simulator::generate_downey(downey), options);
}

studies::Series measure(std::string_view policy, double elastic) {
    studies::Series series;
    series.name = fmt::format("{}, {} % elastic", policy, elastic);
    for (double jobs : kJobs) {
        const double time = seconds(workload(jobs, elastic), policy);
        const double each = 1e6 * time / (jobs * std::log2(jobs));
        fmt::print("{:<24} {:>8} jobs  {:>8.3f} s  {:>6.3f} us / (n log2 n)\n", series.name, jobs,
                   time, each);
        series.y.push_back(each);
    }
    return series;
}

}  // namespace

int main(int argc, char** argv) {
    studies::Figure figure;
    figure.title = "Time of a simulation by n log n";
    figure.x_label = "jobs, log10";
    figure.y_label = "microseconds / (n log2 n)";
    figure.from_zero = true;
    for (double jobs : kJobs) figure.x.push_back(std::log10(jobs));
    figure.panels.push_back({"Downey, load 0.75", {measure("easy", 0), measure("elastic", 100)}});
    if (argc < 2) return 0;
    const Result<std::string> svg = studies::draw_svg(figure);
    if (svg)
        std::ofstream(argv[1]) << *svg;
    else
        fmt::print(stderr, "scaling_bench: {}\n", svg.error().message);
    return svg ? 0 : 1;
}

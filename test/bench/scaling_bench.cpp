// SPDX-License-Identifier: MIT
// How the time of a simulation grows with the number of jobs, as a table and as a figure: Downey's
// model at one load, so that the queue is as long in a large log as in a small one.  The best of
// several runs of simulate() alone.
//
//     scaling_bench [--most JOBS] [FIGURE.svg]
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "simulator/engine.hpp"
#include "simulator/generators.hpp"
#include "simulator/make_workload.hpp"
#include "studies/report/plot.hpp"

namespace {

using namespace elastic;

constexpr int kRuns = 3;
constexpr double kJobs[] = {1e4, 3e4, 1e5, 3e5, 1e6};
constexpr std::string_view kNames[] = {"10^4", "3 10^4", "10^5", "3 10^5", "10^6"};

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

// Microseconds by n log2 n for each of the numbers of jobs, as a row of the table.
studies::Series measure(std::string_view policy, double elastic, std::span<const double> sizes) {
    studies::Series series;
    series.name = fmt::format("{}, {} % elastic", policy, elastic);
    for (double jobs : sizes)
        series.y.push_back(1e6 * seconds(workload(jobs, elastic), policy) /
                           (jobs * std::log2(jobs)));
    fmt::print("| {} | {:.2g} |\n", series.name, fmt::join(series.y, " | "));
    std::fflush(stdout);
    return series;
}

void print_head(std::span<const std::string_view> names) {
    const std::vector<std::string_view> rule(names.size(), "---");
    fmt::print("| jobs | {} |\n| --- | {} |\n", fmt::join(names, " | "), fmt::join(rule, " | "));
}

// How many of the numbers of jobs are no larger.
std::size_t up_to(double most) {
    return static_cast<std::size_t>(
        std::ranges::count_if(kJobs, [=](double jobs) { return jobs <= most; }));
}

}  // namespace

int main(int argc, char** argv) {
    std::span<const double> sizes(kJobs);
    if (argc > 2 && std::string_view(argv[1]) == "--most") {
        sizes = sizes.first(up_to(std::atof(argv[2])));
        argc -= 2;
        argv += 2;
    }
    print_head(std::span(kNames).first(sizes.size()));
    studies::Figure figure;
    figure.title = "Time of a simulation by n log n";
    figure.x_label = "jobs, log10";
    figure.y_label = "microseconds / (n log2 n)";
    figure.from_zero = true;
    for (double jobs : sizes) figure.x.push_back(std::log10(jobs));
    figure.panels.push_back(
        {"Downey, load 0.75", {measure("easy", 0, sizes), measure("elastic", 100, sizes)}});
    if (argc < 2) return 0;
    const Result<std::string> svg = studies::draw_svg(figure);
    if (svg)
        std::ofstream(argv[1]) << *svg;
    else
        fmt::print(stderr, "scaling_bench: {}\n", svg.error().message);
    return svg ? 0 : 1;
}

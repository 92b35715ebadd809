// SPDX-License-Identifier: MIT
// A task is one workload of one seed at all scale ratios, so that a workload is made once.
#include "studies/packet/results.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace elastic::studies::packet {
namespace {

using namespace simulator;

// "From 0.1 to 1 with step of 0.1, from 1 to 10 with step of 1, from 10 to 100 with step of 10, and
// from 100 to 1000 with step of 100."
std::vector<double> make_ratios() {
    std::vector<double> ratios;
    for (int i = 1; i <= 10; ++i) ratios.push_back(i / 10.0);
    for (const double step : {1.0, 10.0, 100.0})
        for (int i = 2; i <= 10; ++i) ratios.push_back(i * step);
    return ratios;
}

Result<void> run_curve(Curve& curve, std::size_t seed, const Assumptions& assumed) {
    const auto workload = make_workload(curve.flow, curve.share, assumed, seed + 1);
    if (!workload) return workload.error();
    PacketOptions options;
    options.longest_wait = assumed.longest_wait;
    for (std::size_t k = 0; k < scale_ratios().size(); ++k) {
        options.scale_ratio = scale_ratios()[k];
        curve.points[k][seed] = summarise(*workload, simulate_packets(*workload, options));
    }
    return {};
}

}  // namespace

const std::vector<double>& scale_ratios() {
    static const std::vector<double> ratios = make_ratios();
    return ratios;
}

std::size_t index_of(double scale_ratio) {
    const auto is_it = [&](double ratio) { return std::abs(ratio / scale_ratio - 1) < 1e-9; };
    return static_cast<std::size_t>(std::ranges::find_if(scale_ratios(), is_it) -
                                    scale_ratios().begin());
}

Figure figure_over_ratios(std::string title, std::string y_label) {
    Figure figure;
    figure.title = std::move(title);
    figure.x_label = "scale ratio";
    figure.y_label = std::move(y_label);
    figure.x = scale_ratios();
    figure.log_x = true;
    return figure;
}

double plateau_begins(const std::vector<double>& means) {
    const double width = kPlateau * std::abs(means.front() - means.back());
    std::size_t from = means.size() - 1;
    while (from > 0 && std::abs(means[from - 1] - means.back()) <= width) --from;
    return scale_ratios()[from];
}

std::vector<double> Curve::values(double scale_ratio, Metric metric) const {
    std::vector<double> result;
    for (const PacketSummary& one : points[index_of(scale_ratio)]) result.push_back(one.*metric);
    return result;
}

double Curve::mean(double scale_ratio, Metric metric) const {
    return mean_of(values(scale_ratio, metric));
}

std::vector<double> Curve::means(Metric metric) const {
    std::vector<double> result;
    for (const double ratio : scale_ratios()) result.push_back(mean(ratio, metric));
    return result;
}

const Curve& Results::at(const Flow& flow, double share) const {
    return *std::ranges::find_if(
        curves, [&](const Curve& curve) { return curve.flow == flow && curve.share == share; });
}

std::vector<Flow> homogeneous_flows() {
    std::vector<Flow> flows;
    for (const double load : kLoads) flows.push_back({true, load});
    return flows;
}

std::vector<Flow> all_flows() {
    std::vector<Flow> flows = homogeneous_flows();
    for (const double load : kLoads) flows.push_back({false, load});
    return flows;
}

Result<Results> run(const std::vector<Flow>& flows, const Assumptions& assumed, int seeds,
                    const PoolOptions& pool) {
    Results results;
    const auto each = static_cast<std::size_t>(seeds);
    for (const Flow& flow : flows)
        for (const double share : kShares)
            results.curves.push_back(
                {flow, share,
                 std::vector<std::vector<PacketSummary>>(scale_ratios().size(),
                                                         std::vector<PacketSummary>(each))});
    std::vector<Result<void>> done(results.curves.size() * each);
    run_all(done.size(), pool, [&](std::size_t i) {
        done[i] = run_curve(results.curves[i / each], i % each, assumed);
    });
    for (const Result<void>& one : done)
        if (!one) return one.error();
    return results;
}

}  // namespace elastic::studies::packet

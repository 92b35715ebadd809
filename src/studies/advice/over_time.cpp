// SPDX-License-Identifier: MIT
// Intervals of time with a height are added up in equal parts of it, so that each part is a mean
// and nothing is lost between two points.
#include "studies/advice/over_time.hpp"

#include <algorithm>

namespace elastic::studies {
namespace {

using namespace simulator;

constexpr std::size_t kParts = 120;

class Parts {
  public:
    explicit Parts(Time begin, Duration each) : begin_(begin), each_(each), sums_(kParts) {}

    void add(Time from, Time to, double height) {
        const double first = (from - begin_) / each_, last = (to - begin_) / each_;
        for (auto part = static_cast<std::size_t>(std::max(0.0, first));
             part < kParts && static_cast<double>(part) < last; ++part) {
            const auto at = static_cast<double>(part);
            sums_[part] += height * (std::min(at + 1, last) - std::max(at, first));
        }
    }

    std::vector<double> by(double unit) && {
        for (double& sum : sums_) sum /= unit;
        return std::move(sums_);
    }

  private:
    Time begin_;
    Duration each_;
    std::vector<double> sums_;
};

std::vector<double> waiting(const Workload& workload, const Outcome& outcome, Parts parts) {
    for (std::size_t i = 0; i < workload.jobs.size(); ++i)
        parts.add(workload.jobs[i].submit, outcome.jobs[i].start, 1);
    return std::move(parts).by(1);
}

}  // namespace

OverTime over_time(const Workload& workload, const Outcome& easy, const Outcome& then) {
    const auto submit = [](const Job& job) { return job.submit; };
    const Time begin = submit(*std::ranges::min_element(workload.jobs, {}, submit));
    Time end = begin + 1;
    for (const Outcome* outcome : {&easy, &then})
        for (const JobResult& job : outcome->jobs) end = std::max(end, job.end);
    OverTime result;
    result.part = (end - begin) / static_cast<double>(kParts);
    const Parts parts(begin, result.part);
    Parts before = parts, after = parts;
    for (std::size_t i = 0; i < easy.jobs.size(); ++i) {
        const JobResult& job = easy.jobs[i];
        before.add(job.start, job.end, job.nodes_start * share_of_node(workload, i));
    }
    for (const Segment& segment : then.segments)
        after.add(segment.from, segment.to, segment.nodes * share_of_node(workload, segment.job));
    result.easy = {std::move(before).by(workload.nodes), waiting(workload, easy, parts)};
    result.recommended = {std::move(after).by(workload.nodes), waiting(workload, then, parts)};
    return result;
}

}  // namespace elastic::studies

// SPDX-License-Identifier: MIT
// Tables are written number by number into one buffer: hundreds of thousands of lines are to cost
// less than the simulation.
#include "simulator/output.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "simulator/metrics.hpp"

namespace elastic::simulator {
namespace {

constexpr std::size_t kLine = 128;  // bytes, roughly

class Csv {
  public:
    Csv(std::string_view heading, std::size_t lines) {
        text_.reserve(heading.size() + lines * kLine);
        text_ += heading;
        text_ += '\n';
    }

    Csv& add(std::string_view text) {
        text_ += text;
        text_ += ',';
        return *this;
    }
    Csv& add(std::int64_t value) { return put(value); }
    Csv& add(double value) {
        constexpr double kExact = 1e15;  // whole numbers up to here are integers
        if (value == std::trunc(value) && std::fabs(value) < kExact)
            return put(static_cast<std::int64_t>(value));
        return put(value);
    }
    void end_line() { text_.back() = '\n'; }
    std::string take() { return std::move(text_); }

  private:
    template <class Number>
    Csv& put(Number value) {
        char digits[32];
        const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
        return add(std::string_view(digits, end));
    }

    std::string text_;
};

}  // namespace

std::string jobs_csv(const Workload& workload, const Outcome& outcome) {
    Csv csv("job_id,class,submit,start,end,nodes_start,nodes_end,wait,turnaround,slowdown,resizes",
            workload.jobs.size());
    for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
        const Job& job = workload.jobs[i];
        const JobResult& result = outcome.jobs[i];
        if (result.nodes_start == 0) continue;
        csv.add(job.id);
        csv.add(class_of(workload, job)).add(job.submit).add(result.start).add(result.end);
        csv.add(std::int64_t{result.nodes_start}).add(std::int64_t{result.nodes_end});
        csv.add(wait(job, result)).add(turnaround(job, result)).add(slowdown(job, result));
        csv.add(std::int64_t{result.resizes}).end_line();
    }
    return csv.take();
}

std::string segments_csv(const Workload& workload, const Outcome& outcome) {
    Csv csv("job_id,from,to,nodes,kind", outcome.segments.size());
    for (const Segment& segment : outcome.segments) {
        csv.add(workload.jobs[segment.job].id).add(segment.from).add(segment.to);
        csv.add(std::int64_t{segment.nodes});
        csv.add(segment.kind == Segment::Kind::run ? "run" : "redistribute").end_line();
    }
    return csv.take();
}

}  // namespace elastic::simulator

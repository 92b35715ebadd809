// SPDX-License-Identifier: MIT
// Sums go over the jobs in the order of the log, so that the same outcome always
// gives the same digits.
#include "simulator/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <string_view>
#include <vector>

namespace elastic::simulator {
namespace {

// Of an even number of values the middle of the two in the middle.  Reorders `values`.
double median(std::vector<double>& values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) return *middle;
    return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

template <class Measure>
Average average(const Workload& workload, const Outcome& outcome, Measure measure,
                std::vector<double>& values) {
    values.clear();
    for (std::size_t i = 0; i < workload.jobs.size(); ++i)
        if (outcome.jobs[i].nodes_start > 0)
            values.push_back(measure(workload.jobs[i], outcome.jobs[i]));
    if (values.empty()) return {};
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    return {sum / static_cast<double>(values.size()), median(values)};
}

Duration makespan(const Workload& workload, const Outcome& outcome) {
    if (workload.jobs.empty()) return 0;
    Time first = kNever, last = -kNever;
    for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
        first = std::min(first, workload.jobs[i].submit);
        last = std::max(last, outcome.jobs[i].end);
    }
    return std::max(last - first, 0.0);
}

// "  mean wait             1234.5 s   (20:34)"
class Page {
  public:
    void heading(std::string_view text) { put("{}\n", text); }
    void count(std::string_view name, std::int64_t value, std::string_view note = "") {
        put("  {:<24}{:>14}{}{}\n", name, value, note.empty() ? "" : "  ", note);
    }
    void share(std::string_view name, double value) {
        put("  {:<24}{:>14.2f} %\n", name, 100 * value);
    }
    void seconds(std::string_view name, Duration value) {
        put("  {:<24}{:>14.1f} s  {}\n", name, value, format_duration(value));
    }
    void node_seconds(std::string_view name, double value) {
        put("  {:<24}{:>14.1f} node-seconds\n", name, value);
    }
    void averages() { put("{:<26}{:>14}{:>16}\n", "", "mean", "median"); }
    void average(std::string_view name, Average value, std::string_view unit) {
        put("  {:<24}{:>14.2f}{:>16.2f}  {}", name, value.mean, value.median, unit);
        while (text_.back() == ' ') text_.pop_back();
        text_ += '\n';
    }
    std::string take() { return std::move(text_); }

  private:
    template <class... Args>
    void put(fmt::format_string<Args...> format, Args&&... args) {
        fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    }
    std::string text_;
};

Json to_json(Average average) {
    return Json::object().set("mean", average.mean).set("median", average.median);
}

}  // namespace

Duration wait(const Job& job, const JobResult& result) {
    return result.start - job.submit;
}

Duration turnaround(const Job& job, const JobResult& result) {
    return result.end - job.submit;
}

double slowdown(const Job& job, const JobResult& result) {
    return turnaround(job, result) / job.run;
}

double bounded_slowdown(const Job& job, const JobResult& result) {
    return std::max(1.0, turnaround(job, result) / std::max(job.run, kSlowdownBound));
}

Summary summarise(const Workload& workload, const Outcome& outcome) {
    Summary summary;
    summary.nodes = workload.nodes;
    summary.skipped = workload.skipped;
    summary.malformed = workload.malformed;
    summary.rejected = workload.rejected;
    summary.lost = outcome.lost;
    summary.jobs = static_cast<std::int64_t>(workload.jobs.size()) - outcome.lost;
    summary.elastic = std::count_if(workload.jobs.begin(), workload.jobs.end(),
                                    [](const Job& job) { return job.elasticity >= 0; });
    std::vector<double> values;
    values.reserve(workload.jobs.size());
    summary.wait = average(workload, outcome, wait, values);
    summary.turnaround = average(workload, outcome, turnaround, values);
    summary.slowdown = average(workload, outcome, slowdown, values);
    summary.bounded_slowdown = average(workload, outcome, bounded_slowdown, values);
    summary.makespan = makespan(workload, outcome);
    summary.counters = outcome.counters;
    const double capacity = workload.nodes * summary.makespan;
    if (capacity > 0) {
        const Counters& c = outcome.counters;
        summary.utilisation = c.busy / capacity;
        summary.useful_utilisation = (c.busy - c.redistribution - c.negotiation) / capacity;
    }
    return summary;
}

std::string to_text(const Summary& s) {
    Page page;
    const Counters& c = s.counters;
    page.heading("jobs");
    page.count("run", s.jobs, s.elastic > 0 ? fmt::format("{} of them elastic", s.elastic) : "");
    page.count("skipped", s.skipped, s.skipped > 0 ? "without a size or a run time" : "");
    if (s.malformed > 0) page.count("malformed", s.malformed, "left out");
    page.count("rejected", s.rejected, s.rejected > 0 ? "larger than the machine" : "");
    page.count("lost", s.lost);
    page.averages();
    page.average("wait", s.wait, "s");
    page.average("turnaround", s.turnaround, "s");
    page.average("slowdown", s.slowdown, "");
    page.average("bounded slowdown", s.bounded_slowdown, "");
    page.heading(fmt::format("machine ({} nodes)", s.nodes));
    page.seconds("makespan", s.makespan);
    page.share("utilisation", s.utilisation);
    page.share("useful utilisation", s.useful_utilisation);
    page.heading("decisions");
    page.count("starts in order", c.in_order);
    page.count("backfills", c.backfilled);
    page.count("starts by shrinking", c.by_shrinking);
    page.count("shrinks", c.shrinks);
    page.count("expansions", c.expansions);
    page.count("granted requests", c.granted);
    page.count("denied requests", c.denied);
    page.node_seconds("redistribution", c.redistribution);
    page.node_seconds("negotiation", c.negotiation);
    return page.take();
}

Json to_json(const Summary& s) {
    const Counters& c = s.counters;
    return Json::object()
        .set("nodes", s.nodes)
        .set("jobs", s.jobs)
        .set("elastic", s.elastic)
        .set("skipped", s.skipped)
        .set("malformed", s.malformed)
        .set("rejected", s.rejected)
        .set("lost", s.lost)
        .set("wait", to_json(s.wait))
        .set("turnaround", to_json(s.turnaround))
        .set("slowdown", to_json(s.slowdown))
        .set("bounded_slowdown", to_json(s.bounded_slowdown))
        .set("makespan", s.makespan)
        .set("utilisation", s.utilisation)
        .set("useful_utilisation", s.useful_utilisation)
        .set("starts_in_order", c.in_order)
        .set("backfills", c.backfilled)
        .set("starts_by_shrinking", c.by_shrinking)
        .set("shrinks", c.shrinks)
        .set("expansions", c.expansions)
        .set("granted_requests", c.granted)
        .set("denied_requests", c.denied)
        .set("redistribution_node_seconds", c.redistribution)
        .set("negotiation_node_seconds", c.negotiation)
        .set("busy_node_seconds", c.busy);
}

}  // namespace elastic::simulator

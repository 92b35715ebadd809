// SPDX-License-Identifier: MIT
// The text names the worst few; the JSON has them all.
#include "simulator/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "simulator/metrics.hpp"

namespace elastic::simulator {
namespace {

constexpr std::size_t kShown = 5;

}  // namespace

Comparison compare(const Workload& workload, const Outcome& outcome, const Outcome& baseline) {
    Comparison result;
    for (std::uint32_t i = 0; i < workload.jobs.size(); ++i) {
        const Job& job = workload.jobs[i];
        if (outcome.jobs[i].nodes_start == 0 || baseline.jobs[i].nodes_start == 0) continue;
        const Duration now = wait(job, outcome.jobs[i]);
        const Duration by = now - wait(job, baseline.jobs[i]);
        result.longest_delay = std::max(result.longest_delay, by);
        result.sooner += by < -kNoticed;
        if (by <= kNoticed) continue;
        result.delayed.push_back({i, now, by});
        result.delayed_rigid += job.elasticity < 0;
    }
    std::ranges::stable_sort(result.delayed, std::greater(), &Comparison::Delayed::by);
    return result;
}

std::string to_text(const Comparison& c, const Workload& workload, std::string_view baseline) {
    std::string text = fmt::format("against {}\n", baseline);
    const auto out = std::back_inserter(text);
    fmt::format_to(out, "  {:<24}{:>14}  {} of them rigid\n", "wait over 1 h longer",
                   c.delayed.size(), c.delayed_rigid);
    fmt::format_to(out, "  {:<24}{:>14}\n", "wait over 1 h less", c.sooner);
    fmt::format_to(out, "  {:<24}{:>14.1f} s  {}\n", "longest delay", c.longest_delay,
                   format_duration(c.longest_delay));
    for (std::size_t i = 0; i < std::min(c.delayed.size(), kShown); ++i) {
        const Comparison::Delayed& d = c.delayed[i];
        const Job& job = workload.jobs[d.job];
        fmt::format_to(out, "    job {}, {}, {} node(s): waits {:.0f} s, {:.0f} s longer\n", job.id,
                       class_of(workload, job), job.nodes, d.wait, d.by);
    }
    return text;
}

Json to_json(const Comparison& c, const Workload& workload) {
    Json jobs = Json::array();
    for (const Comparison::Delayed& d : c.delayed) {
        const Job& job = workload.jobs[d.job];
        jobs.push(Json::object()
                      .set("job", job.id)
                      .set("class", class_of(workload, job))
                      .set("nodes", job.nodes)
                      .set("wait", d.wait)
                      .set("delay", d.by));
    }
    return Json::object()
        .set("delayed", static_cast<std::int64_t>(c.delayed.size()))
        .set("delayed_rigid", c.delayed_rigid)
        .set("sooner", c.sooner)
        .set("longest_delay", c.longest_delay)
        .set("jobs_delayed", jobs);
}

}  // namespace elastic::simulator

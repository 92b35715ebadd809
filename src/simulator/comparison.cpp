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
constexpr Duration kRounding = 1;  // seconds

// "  elastic                        -38.60 %          1234        7384.1 s ..."
std::string row(std::string_view name, const Comparison& c) {
    return fmt::format("  {:<26.26}{:>12.2f} %{:>14}{:>12.1f} s{:>12.1f} s{:>10}\n", name,
                       100 * (c.turnaround - 1), c.longer, c.mean_longer, c.longest_delay,
                       c.missed);
}

std::string gains(const Compared& c) {
    std::string text =
        fmt::format("{:<28}{:>14}{:>14}{:>14}{:>14}{:>10}\n", "against " + c.baseline, "turnaround",
                    "wait longer", "by, mean", "at most", "missed");
    text += row(c.policy, c.comparison);
    if (!c.order) return text;
    text += row(fmt::format("{} (order)", kOrderAlone), *c.order);
    return text + fmt::format("  {:<26.26}{:>12.2f} %\n", "the first by the second",
                              100 * (c.comparison.turnaround / c.order->turnaround - 1));
}

Json figures(const Comparison& c) {
    return Json::object()
        .set("turnaround", c.turnaround)
        .set("longer", c.longer)
        .set("mean_longer", c.mean_longer)
        .set("promised_starts_missed", c.missed)
        .set("delayed", static_cast<std::int64_t>(c.delayed.size()))
        .set("delayed_rigid", c.delayed_rigid)
        .set("sooner", c.sooner)
        .set("longest_delay", c.longest_delay);
}

}  // namespace

Comparison compare(const Workload& workload, const Outcome& outcome, const Outcome& baseline) {
    Comparison result;
    Duration turnarounds = 0, before = 0, longer = 0;  // sums
    for (std::uint32_t i = 0; i < workload.jobs.size(); ++i) {
        const Job& job = workload.jobs[i];
        if (outcome.jobs[i].nodes_start == 0 || baseline.jobs[i].nodes_start == 0) continue;
        const Duration now = wait(job, outcome.jobs[i]);
        const Duration by = now - wait(job, baseline.jobs[i]);
        turnarounds += turnaround(job, outcome.jobs[i]);
        before += turnaround(job, baseline.jobs[i]);
        result.missed += missed_its_promise(outcome.jobs[i]);
        result.longest_delay = std::max(result.longest_delay, by);
        if (by > kRounding) {
            ++result.longer;
            longer += by;
        }
        result.sooner += by < -kNoticed;
        if (by <= kNoticed) continue;
        result.delayed.push_back({i, now, by});
        result.delayed_rigid += job.elasticity < 0;
    }
    if (before > 0) result.turnaround = turnarounds / before;
    if (result.longer > 0) result.mean_longer = longer / static_cast<double>(result.longer);
    std::ranges::stable_sort(result.delayed, std::greater(), &Comparison::Delayed::by);
    return result;
}

std::string to_text(const Compared& compared, const Workload& workload) {
    const Comparison& c = compared.comparison;
    std::string text = gains(compared);
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

Json to_json(const Compared& c, const Workload& workload) {
    Json jobs = Json::array();
    for (const Comparison::Delayed& d : c.comparison.delayed) {
        const Job& job = workload.jobs[d.job];
        jobs.push(Json::object()
                      .set("job", job.id)
                      .set("class", class_of(workload, job))
                      .set("nodes", job.nodes)
                      .set("wait", d.wait)
                      .set("delay", d.by));
    }
    Json json = figures(c.comparison).set("policy", c.baseline).set("jobs_delayed", jobs);
    if (c.order) json.set("order_alone", figures(*c.order).set("policy", std::string(kOrderAlone)));
    return json;
}

}  // namespace elastic::simulator

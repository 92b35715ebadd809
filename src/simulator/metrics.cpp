// SPDX-License-Identifier: MIT
// Sums go over the jobs in the order of the log, so that the same outcome always gives the same
// digits.
#include "simulator/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <string_view>
#include <vector>

#include "simulator/median.hpp"

namespace elastic::simulator {
namespace {

Distribution distribution(std::vector<double>& values) {
    if (values.empty()) return {};
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    Distribution result;
    result.mean = sum / static_cast<double>(values.size());
    result.median = median(values);
    // Each of these is looked for among those that are no less than the one before.
    auto from = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    const auto percentile = [&](double share) {
        const double rank = std::ceil(share * static_cast<double>(values.size()));
        const auto place = values.begin() + static_cast<std::ptrdiff_t>(rank) - 1;
        std::nth_element(from, place, values.end());
        from = place;
        return *place;
    };
    result.p95 = percentile(0.95);
    result.p99 = percentile(0.99);
    result.max = *std::max_element(from, values.end());
    return result;
}

// Of the jobs that ran and that `counts` says yes to.
template <class Counts>
Experience experience(const Workload& workload, const Outcome& outcome, Counts counts) {
    std::vector<double> values;
    values.reserve(workload.jobs.size());
    const auto of = [&](auto measure) {
        values.clear();
        for (std::size_t i = 0; i < workload.jobs.size(); ++i)
            if (outcome.jobs[i].nodes_start > 0 && counts(workload.jobs[i]))
                values.push_back(measure(workload.jobs[i], outcome.jobs[i]));
        return distribution(values);
    };
    Experience result;
    result.wait = of(wait);
    result.turnaround = of(turnaround);
    result.slowdown = of(slowdown);
    result.bounded_slowdown = of(bounded_slowdown);
    result.jobs = static_cast<std::int64_t>(values.size());
    return result;
}

bool is_rigid(const Job& job) {
    return job.elasticity < 0;
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
    void share(std::string_view name, double value, std::string_view note = "") {
        put("  {:<24}{:>14.2f} %{}{}\n", name, 100 * value, note.empty() ? "" : "  ", note);
    }
    void seconds(std::string_view name, Duration value) {
        put("  {:<24}{:>14.1f} s  {}\n", name, value, format_duration(value));
    }
    void node_seconds(std::string_view name, double value) {
        put("  {:<24}{:>14.1f} node-seconds\n", name, value);
    }
    void cost(std::string_view name, double value, double node_seconds) {
        put("  {:<24}{:>14.2f}    {:.4f} a node and hour\n", name, value,
            value / node_seconds * 3600);
    }
    void distributions() {
        put("{:<26}{:>14}{:>14}{:>14}{:>14}{:>14}\n", "", "mean", "median", "95 %", "99 %",
            "maximum");
    }
    void distribution(std::string_view name, const Distribution& d, std::string_view unit) {
        put("  {:<24}{:>14.2f}{:>14.2f}{:>14.2f}{:>14.2f}{:>14.2f}  {}", name, d.mean, d.median,
            d.p95, d.p99, d.max, unit);
        while (text_.back() == ' ') text_.pop_back();
        text_ += '\n';
    }
    // `note` says of whom: ", rigid".
    void experience(const Experience& e, std::string_view note) {
        distribution(fmt::format("wait{}", note), e.wait, "s");
        distribution(fmt::format("turnaround{}", note), e.turnaround, "s");
        distribution(fmt::format("slowdown{}", note), e.slowdown, "");
        distribution(fmt::format("bounded slowdown{}", note), e.bounded_slowdown, "");
    }
    std::string take() { return std::move(text_); }

  private:
    template <class... Args>
    void put(fmt::format_string<Args...> format, Args&&... args) {
        fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    }
    std::string text_;
};

Json to_json(const Distribution& d) {
    return Json::object()
        .set("mean", d.mean)
        .set("median", d.median)
        .set("p95", d.p95)
        .set("p99", d.p99)
        .set("max", d.max);
}

Json to_json(const Experience& e) {
    return Json::object()
        .set("jobs", e.jobs)
        .set("wait", to_json(e.wait))
        .set("turnaround", to_json(e.turnaround))
        .set("slowdown", to_json(e.slowdown))
        .set("bounded_slowdown", to_json(e.bounded_slowdown));
}

}  // namespace

std::string class_of(const Workload& workload, const Job& job) {
    if (is_rigid(job)) return "rigid";
    return core::class_name(workload.elasticities[job.elasticity].annotation);
}

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

double work_asked_for(const Workload& workload, const Job& job) {
    double mean_nodes = job.nodes;
    if (!is_rigid(job)) {
        const core::EvolutionProfile& profile =
            workload.elasticities[job.elasticity].annotation.profile;
        double node_seconds = 0;
        for (const core::EvolutionStep& step : profile) node_seconds += step.nodes * step.duration;
        if (!profile.empty()) mean_nodes = node_seconds / core::length(profile);
    }
    return job.run * mean_nodes;
}

bool missed_its_promise(const JobResult& result) {
    constexpr Duration kRounding = 1;
    return result.nodes_start > 0 && result.promised < kNever &&
           result.start > result.promised + kRounding;
}

Summary summarise(const Workload& workload, const Outcome& outcome) {
    Summary summary;
    static_cast<Experience&>(summary) =
        experience(workload, outcome, [](const Job&) { return true; });
    summary.rigid = experience(workload, outcome, is_rigid);
    summary.nodes = workload.nodes;
    summary.skipped = workload.skipped;
    summary.malformed = workload.malformed;
    summary.rejected = workload.rejected;
    summary.lost = outcome.lost;
    summary.elastic = static_cast<std::int64_t>(workload.jobs.size()) -
                      std::ranges::count_if(workload.jobs, is_rigid);
    summary.heterogeneous = std::ssize(workload.heterogeneous);
    for (const auto& components : workload.heterogeneous)
        summary.components += std::ssize(components);
    std::vector<double> logged;
    std::ranges::copy_if(workload.logged_waits, std::back_inserter(logged),
                         [](Duration wait) { return wait >= 0; });
    summary.logged_wait = distribution(logged);
    summary.logged = std::ssize(logged);
    summary.makespan = makespan(workload, outcome);
    for (const JobResult& job : outcome.jobs) {
        if (job.promised >= kNever || job.nodes_start == 0) continue;
        ++summary.promised;
        summary.missed += missed_its_promise(job);
        summary.latest_start = std::max(summary.latest_start, job.start - job.promised);
    }
    summary.counters = outcome.counters;
    const double capacity = workload.nodes * summary.makespan;
    if (capacity > 0) {
        const Counters& c = outcome.counters;
        summary.utilisation = c.busy / capacity;
        summary.useful_utilisation = (c.busy - c.redistribution - c.negotiation) / capacity;
        for (std::size_t i = 0; i < workload.jobs.size(); ++i)
            if (outcome.jobs[i].nodes_start > 0)
                summary.work_done += work_asked_for(workload, workload.jobs[i]) / capacity;
    }
    return summary;
}

std::string to_text(const Summary& s) {
    Page page;
    const Counters& c = s.counters;
    page.heading("jobs");
    page.count("run", s.jobs, s.elastic > 0 ? fmt::format("{} of them elastic", s.elastic) : "");
    if (s.heterogeneous > 0)
        page.count("heterogeneous", s.heterogeneous,
                   fmt::format("whose {} components count as jobs", s.components));
    page.count("skipped", s.skipped, s.skipped > 0 ? "without a size or a run time" : "");
    if (s.malformed > 0) page.count("malformed", s.malformed, "left out");
    page.count("rejected", s.rejected, s.rejected > 0 ? "larger than the machine" : "");
    page.count("lost", s.lost);
    page.distributions();
    page.experience(s, "");
    if (s.elastic > 0 && s.rigid.jobs > 0) page.experience(s.rigid, ", rigid");
    if (s.logged > 0) page.distribution("wait in the log", s.logged_wait, "s");
    page.heading(fmt::format("machine ({} nodes)", s.nodes));
    page.seconds("makespan", s.makespan);
    page.share("useful utilisation", s.useful_utilisation);
    page.share("papers' utilisation", s.utilisation);
    page.share("work done", s.work_done, "what the jobs take at the sizes they asked for");
    page.heading("decisions");
    page.count("starts in order", c.in_order);
    page.count("backfills", c.backfilled);
    page.count("starts by shrinking", c.by_shrinking);
    if (s.promised > 0)
        page.count(
            "promised starts", s.promised,
            fmt::format("{} of them missed, the latest by {:.0f} s", s.missed, s.latest_start));
    page.count("shrinks", c.shrinks);
    page.count("expansions", c.expansions);
    if (c.preempted + c.spared > 0) {
        page.count("shrinks to spare jobs", c.spared, "that would have been preempted");
        page.count("preempted", c.preempted);
        page.node_seconds("lost by that", c.lost);
    }
    page.count("granted requests", c.granted);
    page.count("denied requests", c.denied);
    if (c.late_steps > 0) page.count("steps that waited", c.late_steps);
    if (c.late_steps > 0) page.seconds("mean wait of these", c.step_wait / c.late_steps);
    page.node_seconds("redistribution", c.redistribution);
    page.node_seconds("negotiation", c.negotiation);
    if (c.priced > 0) page.node_seconds("on priced nodes", c.priced);
    if (c.priced > 0) page.cost("cost", c.cost, c.priced);
    return page.take();
}

Json to_json(const Summary& s) {
    const Counters& c = s.counters;
    return Json::object()
        .set("nodes", s.nodes)
        .set("jobs", s.jobs)
        .set("elastic", s.elastic)
        .set("heterogeneous", s.heterogeneous)
        .set("components", s.components)
        .set("skipped", s.skipped)
        .set("malformed", s.malformed)
        .set("rejected", s.rejected)
        .set("lost", s.lost)
        .set("wait", to_json(s.wait))
        .set("turnaround", to_json(s.turnaround))
        .set("slowdown", to_json(s.slowdown))
        .set("bounded_slowdown", to_json(s.bounded_slowdown))
        .set("rigid", to_json(s.rigid))
        .set("logged_wait", to_json(s.logged_wait).set("jobs", s.logged))
        .set("makespan", s.makespan)
        .set("utilisation", s.utilisation)
        .set("useful_utilisation", s.useful_utilisation)
        .set("work_done", s.work_done)
        .set("starts_in_order", c.in_order)
        .set("backfills", c.backfilled)
        .set("starts_by_shrinking", c.by_shrinking)
        .set("promised_starts", s.promised)
        .set("promised_starts_missed", s.missed)
        .set("latest_start_after_promise", s.latest_start)
        .set("shrinks", c.shrinks)
        .set("expansions", c.expansions)
        .set("shrinks_to_spare", c.spared)
        .set("preempted", c.preempted)
        .set("lost_node_seconds", c.lost)
        .set("granted_requests", c.granted)
        .set("denied_requests", c.denied)
        .set("late_steps", c.late_steps)
        .set("step_wait_seconds", c.step_wait)
        .set("redistribution_node_seconds", c.redistribution)
        .set("negotiation_node_seconds", c.negotiation)
        .set("priced_node_seconds", c.priced)
        .set("cost", c.cost)
        .set("busy_node_seconds", c.busy);
}

}  // namespace elastic::simulator

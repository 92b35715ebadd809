// SPDX-License-Identifier: MIT
// First each job's two waits, then what is summed over them, at last the grade.
//
// Always holds: jobs of which the log does not say what they waited count nowhere; no wait of up to
// kNoWait counts as one.
#include "simulator/trust/trust.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <span>

#include "simulator/metrics.hpp"
#include "simulator/trust/missing.hpp"
#include "simulator/trust/rank_correlation.hpp"

namespace elastic::simulator {
namespace {

double counted(Duration wait) {
    return wait > kNoWait ? wait : 0;
}

std::vector<Waits> waits_of(const Workload& workload, const Outcome& easy) {
    std::vector<Waits> list;
    if (workload.logged_waits.empty()) return list;
    for (std::uint32_t i = 0; i < workload.jobs.size(); ++i) {
        if (workload.logged_waits[i] < 0 || easy.jobs[i].nodes_start == 0) continue;
        list.push_back(
            {i, counted(workload.logged_waits[i]), counted(wait(workload.jobs[i], easy.jobs[i]))});
    }
    std::ranges::stable_sort(list, {}, [&](const Waits& w) { return workload.jobs[w.job].submit; });
    return list;
}

double sum_of_unexplained(std::span<const Waits> waits) {
    double sum = 0;
    for (const Waits& w : waits) sum += w.unexplained();
    return sum;
}

Stretch stretch_of(const Workload& workload, std::span<const Waits> waits, double unexplained) {
    Stretch stretch;
    stretch.from = workload.jobs[waits.front().job].submit;
    stretch.to = workload.jobs[waits.back().job].submit;
    stretch.jobs = std::ssize(waits);
    std::vector<double> logged, simulated;
    for (const Waits& w : waits) {
        logged.push_back(w.logged);
        simulated.push_back(w.simulated);
        stretch.logged += w.logged / static_cast<double>(waits.size());
        stretch.simulated += w.simulated / static_cast<double>(waits.size());
    }
    stretch.correlation = rank_correlation(logged, simulated);
    if (unexplained > 0) stretch.unexplained = sum_of_unexplained(waits) / unexplained;
    return stretch;
}

std::vector<Stretch> tenths_of(const Workload& workload, std::span<const Waits> waits,
                               double unexplained) {
    std::vector<Stretch> tenths;
    for (std::size_t i = 0; i < kStretches; ++i) {
        const std::size_t begin = i * waits.size() / kStretches;
        const std::size_t end = (i + 1) * waits.size() / kStretches;
        tenths.push_back(stretch_of(workload, waits.subspan(begin, end - begin), unexplained));
    }
    return tenths;
}

bool is_within(const Stretch& stretch, double factor) {
    const auto ratio = stretch.ratio();
    return !ratio || (*ratio >= 1 / factor && *ratio <= factor);
}

double share_within(const std::vector<Stretch>& tenths) {
    const auto within = std::ranges::count_if(
        tenths, [](const Stretch& tenth) { return is_within(tenth, kTenthFactor); });
    return static_cast<double>(within) / static_cast<double>(tenths.size());
}

bool reaches(const Trust& trust, const GradeLimits& limits) {
    return is_within(trust.all, limits.factor) &&
           trust.all.correlation.value_or(0) >= limits.correlation &&
           share_within(trust.tenths) >= limits.tenths;
}

// In the words of the limits of the grade above, or of the grade itself where none is above.
std::vector<std::string> reasons_for(const Trust& trust) {
    const GradeLimits& next = kGradeLimits[trust.grade == Grade::low ? 1 : 0];
    std::vector<std::string> reasons;
    reasons.push_back(fmt::format(
        "mean waits: {:.2f} h simulated, {:.2f} h in the log{}; {} asks for a ratio of {:.2f} to "
        "{:.2f}",
        trust.all.simulated / 3600, trust.all.logged / 3600,
        trust.all.ratio() ? fmt::format(", a ratio of {:.2f}", *trust.all.ratio()) : "",
        to_string(next.grade), 1 / next.factor, next.factor));
    reasons.push_back(
        trust.all.correlation
            ? fmt::format("rank correlation job by job: {:.2f}; {} asks for {}",
                          *trust.all.correlation, to_string(next.grade), next.correlation)
            : "rank correlation job by job: none, since all jobs wait alike on one side");
    reasons.push_back(fmt::format(
        "over time: in {:.0f} tenths of the log mean waits are within a factor of {}; {} asks for "
        "{:.0f}",
        kStretches * share_within(trust.tenths), kTenthFactor, to_string(next.grade),
        kStretches * next.tenths));
    return reasons;
}

void give_grade(Trust& trust) {
    // Where nobody waits there is nothing to agree on, and the simulation says so.
    if (trust.all.logged <= kNoWait && trust.all.simulated <= kNoWait) {
        trust.grade = Grade::good;
        trust.reasons = {"jobs hardly wait, neither in the log nor in the simulation"};
        return;
    }
    trust.grade = Grade::low;
    for (const GradeLimits& limits : kGradeLimits)
        if (reaches(trust, limits)) trust.grade = std::max(trust.grade, limits.grade);
    trust.reasons = reasons_for(trust);
}

void count_waits(const std::vector<Waits>& waits, Trust& trust) {
    double logged = 0;
    for (const Waits& w : waits) {
        logged += w.logged;
        trust.waited += w.logged > 0;
        trust.at_once += w.logged > 0 && w.simulated == 0;
    }
    if (trust.waited > 0) trust.at_once /= static_cast<double>(trust.waited);
    if (logged > 0) trust.unexplained = sum_of_unexplained(waits) / logged;
}

}  // namespace

std::optional<double> Stretch::ratio() const {
    if (logged <= kNoWait && simulated <= kNoWait) return std::nullopt;
    return logged > 0 ? simulated / logged : std::numeric_limits<double>::infinity();
}

Trust judge_trust(const Workload& workload, const Outcome& easy,
                  const std::vector<Grouping>& groupings) {
    const std::vector<Waits> waits = waits_of(workload, easy);
    Trust trust;
    trust.all.jobs = std::ssize(waits);
    if (trust.all.jobs < kFewestLogged) {
        trust.reasons = {
            fmt::format("the log says what {} of its jobs waited, and a grade needs {}",
                        trust.all.jobs, kFewestLogged)};
        trust.to_do = {"export the start times (Start of sacct, field 3 of SWF) of more jobs"};
        return trust;
    }
    const double unexplained = sum_of_unexplained(waits);
    trust.all = stretch_of(workload, waits, unexplained);
    trust.tenths = tenths_of(workload, waits, unexplained);
    count_waits(waits, trust);
    give_grade(trust);
    find_missing(workload, waits, groupings, trust);
    return trust;
}

}  // namespace elastic::simulator

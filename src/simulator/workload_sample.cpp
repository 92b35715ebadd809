// SPDX-License-Identifier: MIT
// Stretches are chosen and not drawn, so that the same log gives the same sample whatever else is
// random; and by what is known of all jobs, since a few crowded weeks make most of what there is to
// wait.  There are few, and long ones: a queue that grows for weeks does not in one.
//
// Always holds: a heterogeneous job is in a sample with all of its components or not at all, since
// these are submitted at one time.
#include "simulator/workload_sample.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

namespace elastic::simulator {
namespace {

constexpr double kWanted = 10;  // stretches
constexpr std::size_t kFewest = 4;
constexpr double kMost = 1.5;        // times the jobs asked for, as stretches differ
constexpr double kMostOfAll = 0.34;  // more would be little faster than all

struct Unit {
    Duration length;
    const char* name;
};
constexpr std::array kUnits{Unit{7 * 86400.0, "week"}, Unit{86400, "day"}, Unit{3600, "hour"}};

// As long as wanted, in whole units if it is as long as one.
void set_length(Stretches& some, Duration wanted) {
    some.length = wanted;
    some.name = fmt::format("{:.0f} s", wanted);
    for (const Unit& unit : kUnits)
        if (const double units = std::floor(wanted / unit.length); units >= 1) {
            some.length = units * unit.length;
            some.name = fmt::format("{} {}{}", units, unit.name, units > 1 ? "s" : "");
            return;
        }
}

// By stretch.
struct Load {
    std::vector<std::int64_t> jobs;
    std::vector<double> weights;
};

Load load_of(const Workload& workload, const Stretches& some, const std::vector<double>& weights) {
    Load load{std::vector<std::int64_t>(some.of), std::vector<double>(some.of)};
    for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
        const std::size_t at = some.at(workload.jobs[i].submit);
        ++load.jobs[at];
        load.weights[at] += weights[i];
    }
    return load;
}

template <class Value>
Value sum(const std::vector<Value>& values, const std::vector<std::size_t>& chosen) {
    Value total = 0;
    for (const std::size_t at : chosen) total += values[at];
    return total;
}

// So many in equal steps, from each place on from which they can be; the nearest to `mean`.
void choose(Stretches& some, std::size_t count, const Load& load, double mean) {
    double nearest = std::numeric_limits<double>::infinity();
    for (std::size_t from = 0; from < std::max<std::size_t>(some.of / count, 1); ++from) {
        std::vector<std::size_t> chosen;
        for (std::size_t i = 0; i < count; ++i) chosen.push_back(i * some.of / count + from);
        const auto jobs = sum(load.jobs, chosen);
        if (jobs == 0) continue;
        const double off =
            std::abs(std::log(sum(load.weights, chosen) / static_cast<double>(jobs) / mean));
        if (!(off < nearest)) continue;
        nearest = off;
        some.chosen = std::move(chosen);
        some.jobs = jobs;
    }
}

// What is kept of a list by job.
template <class Value>
void keep(std::vector<Value>& values, const std::vector<std::uint32_t>& places) {
    if (values.empty()) return;
    std::vector<Value> kept;
    kept.reserve(places.size());
    for (const std::uint32_t place : places) kept.push_back(std::move(values[place]));
    values = std::move(kept);
}

void keep_elasticities(Workload& sample) {
    std::vector<Elasticity> kept;
    for (Job& job : sample.jobs) {
        if (job.elasticity < 0) continue;
        const auto from = static_cast<std::size_t>(job.elasticity);
        job.elasticity = static_cast<int>(kept.size());
        kept.push_back(std::move(sample.elasticities[from]));
    }
    sample.elasticities = std::move(kept);
}

void keep_components(Workload& sample, const std::vector<std::uint32_t>& places) {
    std::erase_if(sample.heterogeneous, [&](std::vector<std::uint32_t>& components) {
        if (!std::ranges::binary_search(places, components.front())) return true;
        for (std::uint32_t& place : components)
            place = static_cast<std::uint32_t>(std::ranges::lower_bound(places, place) -
                                               places.begin());
        return false;
    });
}

// What of the absences is in a stretch, each moved with it; calls put(number, absence) for each
// part, those of one stretch behind those of the one before.
template <class Absence, class Put>
void cut(const std::vector<Absence>& absences, const Stretches& stretches, double scale, Put put) {
    for (std::size_t turn = 0; turn < stretches.chosen.size(); ++turn) {
        const auto place = static_cast<double>(stretches.chosen[turn]);
        const Time from = scale * (stretches.begin + place * stretches.length);
        const Time to = from + scale * stretches.length;
        const Duration shift = from - scale * static_cast<double>(turn) * stretches.length;
        for (std::size_t i = 0; i < absences.size(); ++i) {
            Absence part = absences[i];
            part.from = std::max(part.from, from) - shift;
            part.to = std::min(part.to, to) - shift;
            if (part.from < part.to) put(turn, i, std::move(part));
        }
    }
}

// A job has the part of its reservation that is in its own stretch, if there is one.
void keep_absences(Workload& workload, const WorkloadSample& sample, double scale) {
    const Stretches& stretches = sample.stretches;
    std::vector<Outage> outages;
    cut(workload.outages, stretches, scale,
        [&](std::size_t, std::size_t, const Outage& part) { outages.push_back(part); });
    workload.outages = std::move(outages);
    std::vector<Reservation> reservations;
    std::map<std::pair<std::size_t, int>, int> numbers;  // by stretch and number before
    cut(workload.reservations, stretches, scale,
        [&](std::size_t turn, std::size_t number, Reservation&& part) {
            numbers[{turn, static_cast<int>(number)}] = static_cast<int>(reservations.size());
            reservations.push_back(std::move(part));
        });
    workload.reservations = std::move(reservations);
    if (workload.reservation_of.empty()) return;
    for (std::size_t i = 0; i < sample.places.size(); ++i) {
        int& number = workload.reservation_of[sample.places[i]];
        const auto turn = static_cast<std::size_t>(
            (workload.jobs[sample.places[i]].submit / scale - sample.shifts[i]) / stretches.length);
        const auto found = numbers.find({turn, number});
        number = found == numbers.end() ? -1 : found->second;
    }
    keep(workload.reservation_of, sample.places);
}

}  // namespace

std::optional<Stretches> choose_stretches(const Workload& workload, std::int64_t jobs,
                                          const std::vector<double>& weights) {
    const auto all = static_cast<double>(workload.jobs.size()), wanted = static_cast<double>(jobs);
    const auto [first, last] = std::ranges::minmax_element(workload.jobs, {}, &Job::submit);
    const Duration span = last->submit - first->submit;
    if (jobs <= 0 || wanted > kMostOfAll * all || span <= 0) return std::nullopt;
    Stretches some;
    some.begin = first->submit;
    set_length(some, span * wanted / all / kWanted);
    some.of = some.at(last->submit) + 1;
    const Load load = load_of(workload, some, weights);
    const double mean = std::accumulate(weights.begin(), weights.end(), 0.0) / all;
    const auto count = static_cast<std::size_t>(static_cast<double>(some.of) * wanted / all);
    for (std::size_t few = std::max(count, kFewest); few >= kFewest; few = few * 3 / 4) {
        choose(some, few, load, mean);
        if (static_cast<double>(some.jobs) <= kMost * wanted) break;
    }
    const bool is_part = some.jobs > 0 && static_cast<double>(some.jobs) <= kMostOfAll * all;
    return is_part ? std::optional(some) : std::nullopt;
}

WorkloadSample sample(const Workload& workload, Stretches stretches) {
    WorkloadSample sample{std::move(stretches), {}, {}};
    const Stretches& s = sample.stretches;
    for (std::uint32_t i = 0; i < workload.jobs.size(); ++i) {
        const std::size_t stretch = s.at(workload.jobs[i].submit);
        const auto chosen = std::ranges::lower_bound(s.chosen, stretch);
        if (chosen == s.chosen.end() || *chosen != stretch) continue;
        const auto turn = static_cast<std::size_t>(chosen - s.chosen.begin());
        sample.places.push_back(i);
        sample.shifts.push_back(s.begin + static_cast<double>(stretch - turn) * s.length);
    }
    return sample;
}

Workload take(Workload workload, const WorkloadSample& sample, double scale) {
    const std::vector<std::uint32_t>& places = sample.places;
    keep_absences(workload, sample, scale);
    keep(workload.jobs, places);
    keep(workload.ranks, places);
    keep(workload.parts, places);
    keep(workload.shares, places);
    keep(workload.limits_of, places);
    keep(workload.levels, places);
    keep(workload.logged_waits, places);
    keep_elasticities(workload);
    keep_components(workload, places);
    for (std::size_t i = 0; i < places.size(); ++i)
        workload.jobs[i].submit -= scale * sample.shifts[i];
    return workload;
}

}  // namespace elastic::simulator

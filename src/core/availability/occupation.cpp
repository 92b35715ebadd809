// SPDX-License-Identifier: MIT
// An evolution profile fits if its layers do, one beside the other.  Where one does not, the job is
// put off to the next time at which this one alone would fit, as line 7 of [evolving]'s algorithm 2
// goes on behind the maximum that was in the way; so the time only grows, and no time at which all
// fit is passed over.  Which pools a layer takes is chosen before those above it are looked at:
// with several pools a fit may be missed, but none is wrong.
//
// Always holds: what is returned is free in the availability profile.
#include "core/availability/occupation.hpp"

#include <algorithm>
#include <cmath>

namespace elastic::core {
namespace {

// Takes them from `start` on, up to the first that does not fit, which is returned.
const Layer* take_all(AvailabilityProfile& availability, const Eligibility& eligible,
                      const std::vector<Layer>& layers, Time start, Occupations& taken) {
    for (const Layer& layer : layers) {
        Occupation next{start + layer.from, start + layer.to, PoolCounts(availability.pools(), 0)};
        const auto free = [&](PoolId pool) {
            return availability.free_between(pool, next.from, next.to);
        };
        if (choose(eligible, layer.nodes, free, next.nodes) < layer.nodes) return &layer;
        availability.take(next.from, next.to, next.nodes);
        taken.push_back(std::move(next));
    }
    return nullptr;
}

// The nodes of `top` and the layers below it while `top` lasts: lower layers outlast it.
int height(const std::vector<Layer>& layers, const Layer& top) {
    int nodes = 0;
    for (const Layer* layer = layers.data(); layer <= &top; ++layer)
        if (layer->to > top.from) nodes += layer->nodes;
    return nodes;
}

// The next start at which this layer may fit with those below it.
Time next_start(AvailabilityProfile& availability, const Eligibility& eligible,
                const std::vector<Layer>& layers, const Layer& failed, Time start) {
    PoolCounts counts(availability.pools(), 0);
    const Time at = start + failed.from;
    Time next =
        availability
            .earliest_from(at, eligible, height(layers, failed), failed.to - failed.from, counts)
            .value_or(kNever);
    if (next <= at)
        next = availability.next_change(at);  // it is the choice of pools that is in the way
    return next >= kNever
               ? kNever
               : std::max(next - failed.from, start + (std::nextafter(next, kNever) - next));
}

}  // namespace

void take(AvailabilityProfile& availability, const Occupations& occupations) {
    for (const Occupation& one : occupations) availability.take(one.from, one.to, one.nodes);
}

void give_back(AvailabilityProfile& availability, const Occupations& occupations) {
    for (auto one = occupations.rbegin(); one != occupations.rend(); ++one)
        availability.give_back(one->from, one->to, one->nodes);
}

std::optional<Occupations> fit_at(AvailabilityProfile& availability, const Eligibility& eligible,
                                  const std::vector<Layer>& layers, Time start) {
    Occupations taken;
    const Layer* failed = take_all(availability, eligible, layers, start, taken);
    give_back(availability, taken);
    return failed ? std::nullopt : std::optional(std::move(taken));
}

std::optional<Occupations> fit(AvailabilityProfile& availability, const Eligibility& eligible,
                               const std::vector<Layer>& layers, Time from) {
    Time start = from;
    while (start < kNever) {
        Occupations taken;
        const Layer* failed = take_all(availability, eligible, layers, start, taken);
        give_back(availability, taken);
        if (!failed) return taken;
        start = next_start(availability, eligible, layers, *failed, start);
    }
    return std::nullopt;
}

Occupations take_in_turn(AvailabilityProfile& availability, const Eligibility& eligible,
                         const std::vector<Layer>& layers, Time start) {
    Occupations taken;
    Duration late = 0;
    for (const Layer& layer : layers) {
        Occupation next{0, 0, PoolCounts(availability.pools(), 0)};
        const Time due = start + layer.from + late;
        const auto from = availability.earliest_from(due, eligible, layer.nodes,
                                                     layer.to - layer.from, next.nodes);
        if (!from) continue;
        late += *from - due;
        next.from = *from;
        next.to = *from + (layer.to - layer.from);
        availability.take(next.from, next.to, next.nodes);
        taken.push_back(std::move(next));
    }
    return taken;
}

}  // namespace elastic::core

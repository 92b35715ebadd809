// SPDX-License-Identifier: MIT
// [evolving] algorithm 1.  The paper's resource profile of what is occupied is the availability
// profile of what is free.
//
// Always holds: at no time do the scheduled profiles together have more nodes than the machine.
#include "core/availability/list_schedule.hpp"

#include <algorithm>
#include <cassert>

namespace elastic::core {

std::vector<ScheduledEvolution> list_schedule(const std::vector<EvolutionProfile>& requested,
                                              int nodes, Expansion expansion) {
    const VacancyList none;
    AvailabilityProfile resources;
    resources.begin(0, {nodes}, none);
    std::vector<ScheduledEvolution> scheduled;
    scheduled.reserve(requested.size());
    for (const EvolutionProfile& profile : requested) {
        auto found = fit(profile, resources, expansion);
        assert(found);  // nobody stays for ever
        Time from = found->start;
        for (const EvolutionStep& step : found->steps) {
            resources.take(from, from + step.duration, {step.nodes});
            from += step.duration;
        }
        scheduled.push_back(std::move(*found));
    }
    return scheduled;
}

EvolutionProfile rigid(const EvolutionProfile& profile) {
    const auto most = std::ranges::max_element(profile, {}, &EvolutionStep::nodes);
    return {{most->nodes, length(profile)}};
}

}  // namespace elastic::core

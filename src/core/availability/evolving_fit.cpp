// SPDX-License-Identifier: MIT
// [evolving] algorithm 2 line by line, in its words: what the paper calls nodes less max(ep, t0,
// t1) and loc(ep, t0, t1) is the trough of the availability profile.  Two misprints are read as
// what the text says: the first step is delayed and all others are expanded (line 17 has i > 0),
// and times that fail are returned without an evolution profile.
//
// Compacting is the same function in a mirror: from the end that was found back to the start, over
// the same nodes, with the steps in reverse.  The schedule that was found first is a solution in
// the mirror, so there is one; a mirrored earliest end is a latest start.
//
// Always holds: what is returned is free in the availability profile, which is as it was before.
#include "core/availability/evolving_fit.hpp"

#include <algorithm>

namespace elastic::core {
namespace {

// The resources as time goes forward.
class Forward {
  public:
    explicit Forward(AvailabilityProfile& availability) : availability_(availability) {}
    Time begin() const { return availability_.now(); }
    AvailabilityProfile::Trough trough(Time from, Time to) const {
        return availability_.trough(0, from, to);
    }

  private:
    AvailabilityProfile& availability_;
};

// The resources seen from `end` backwards; before the present nothing is free.
class Mirror {
  public:
    Mirror(AvailabilityProfile& availability, Time end) : availability_(availability), end_(end) {}
    Time begin() const { return 0; }
    AvailabilityProfile::Trough trough(Time from, Time to) const {
        const Time before = availability_.now();
        if (end_ - to < before) return {-1, from, kNever};
        const AvailabilityProfile::Trough found = availability_.trough(0, end_ - to, end_ - from);
        return {found.free, end_ - found.end, end_ - found.begin};
    }

  private:
    AvailabilityProfile& availability_;
    Time end_;
};

// What a step has come to: a start and what follows, or the time from which to try again.
struct Placed {
    Time start = 0;
    std::optional<EvolutionProfile> steps;  // in reverse
};

template <class Resources>
class Fit {
  public:
    Fit(const EvolutionProfile& requested, const Resources& resources, double limit)
        : requested_(requested), resources_(resources), limit_(limit) {}

    // Algorithm 2 from step `i` on, not before `t0`.
    Placed from(std::size_t i, Time t0) const {
        if (i == requested_.size()) return {t0, EvolutionProfile{}};
        const auto [nodes, duration] = requested_[i];
        Time start = t0;
        while (start < kNever) {
            const AvailabilityProfile::Trough here = resources_.trough(start, start + duration);
            if (here.free < nodes) {
                start = here.end;
                continue;
            }
            if (i > 0)
                if (const auto again = forbidden(i - 1, t0, start)) return {*again, {}};
            Placed tail = from(i + 1, start + duration);
            if (!tail.steps) {
                start = tail.start;
                continue;
            }
            const bool first = i == 0;
            tail.steps->push_back({nodes, first ? duration : tail.start - start});
            return {first ? tail.start - duration : start, std::move(tail.steps)};
        }
        return {kNever, {}};
    }

  private:
    // Lines 8 to 13: the step before would have to last until `start` instead of `t0`.  If it may
    // not, the time from which it is to be tried again.
    std::optional<Time> forbidden(std::size_t before, Time t0, Time start) const {
        const auto [nodes, duration] = requested_[before];
        const Time earliest_allowed_start = start - limit_ * duration;
        if (earliest_allowed_start > t0 - duration) return earliest_allowed_start;
        if (start == t0) return {};
        const AvailabilityProfile::Trough wait = resources_.trough(t0, start);
        return wait.free < nodes ? std::optional(wait.end) : std::nullopt;
    }

    const EvolutionProfile& requested_;
    const Resources& resources_;
    double limit_;
};

template <class Resources>
std::optional<ScheduledEvolution> base_fit(const EvolutionProfile& requested,
                                           const Resources& resources, double limit) {
    Placed placed = Fit(requested, resources, limit).from(0, resources.begin());
    if (!placed.steps) return std::nullopt;
    std::ranges::reverse(*placed.steps);
    return ScheduledEvolution{placed.start, std::move(*placed.steps)};
}

// Rounding may let a mirrored solution begin a moment early or not be found; then the first stands.
ScheduledEvolution compact(const EvolutionProfile& requested, AvailabilityProfile& resources,
                           double limit, ScheduledEvolution found) {
    const EvolutionProfile reverse(requested.rbegin(), requested.rend());
    const Time end = found.end();
    auto mirrored = base_fit(reverse, Mirror(resources, end), limit);
    if (!mirrored) return found;
    std::ranges::reverse(mirrored->steps);
    const Time start = end - mirrored->end();
    return start < found.start ? found : ScheduledEvolution{start, std::move(mirrored->steps)};
}

}  // namespace

std::optional<ScheduledEvolution> fit(const EvolutionProfile& requested,
                                      AvailabilityProfile& resources, Expansion expansion) {
    auto found = base_fit(requested, Forward(resources), expansion.limit);
    if (!found || !expansion.compacting) return found;
    return compact(requested, resources, expansion.limit, std::move(*found));
}

}  // namespace elastic::core

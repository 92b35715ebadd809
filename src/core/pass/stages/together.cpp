// SPDX-License-Identifier: MIT
// Rectangles of nodes and time with one common start, beside each other in the availability
// profile.  Each is taken before the next one is looked for, since components may compete for the
// same nodes; whoever can have the fewest is first, so that the others leave it what it needs.
// Where one does not fit beside the others, all are put off to the next time at which it may.
//
// Which pools a component takes is chosen before the next one is looked at: where the pools of two
// overlap, and neither's are among the other's, a common start may be missed, but none is wrong.
//
// Always holds: all of them start in a pass, or none; reservations of theirs begin at one time.
#include "core/pass/stages/together.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace elastic::core {

std::uint32_t Together::end(const Snapshot& snapshot, std::uint32_t first) {
    const JobId together = snapshot.pending[first].together;
    std::uint32_t end = first + 1;
    while (together && end < snapshot.pending.size() && snapshot.pending[end].together == together)
        ++end;
    return end;
}

Together::Together(Schedule& schedule, std::uint32_t first)
    : schedule_(schedule),
      first_(first),
      end_(end(schedule.snapshot(), first)),
      components_(components()) {}

std::vector<Together::Component> Together::components() const {
    std::vector<Component> found;
    for (std::uint32_t place = first_; place < end_; ++place) {
        const auto same = std::ranges::find_if(found, [&](const Component& component) {
            return job(component.places.front()).id == job(place).id;
        });
        Component& component = same == found.end() ? found.emplace_back() : *same;
        component.places.push_back(place);
        component.eligible =
            std::max(component.eligible, schedule_.nodes().count(job(place).eligible));
    }
    std::ranges::stable_sort(found, {}, &Component::eligible);
    return found;
}

// Of the components that have no other place to start, what those need that may use these pools.
int Together::needed_of(EligibilityId id) const {
    int nodes = 0;
    for (const Component& component : components_)
        if (component.places.size() == 1 && job(component.places.front()).eligible == id)
            nodes += job(component.places.front()).requested_size();
    return nodes;
}

bool Together::may_start() const {
    if (job(first_).not_before >= kNever) return false;
    return std::ranges::all_of(components_, [&](const Component& component) {
        return std::ranges::any_of(component.places, [&](std::uint32_t place) {
            const int size = job(place).requested_size();
            const EligibilityId id = job(place).eligible;
            return size > 0 && std::max(size, needed_of(id)) <= schedule_.nodes().count(id);
        });
    });
}

bool Together::may_reserve() const {
    return may_start() && std::ranges::all_of(components_, [&](const Component& component) {
               return job(component.places.front()).reserves > 0;
           });
}

Duration Together::duration(std::uint32_t place) const {
    const PendingJob& of = job(place);
    return schedule_.times().end_of(of, of.requested_size()) - schedule_.snapshot().now;
}

// What the job at that place has if it starts then, as far as there are nodes.
Together::Part Together::most_at(std::uint32_t place, Time from) const {
    const PendingJob& of = job(place);
    const PoolCounts none(schedule_.pools(), 0);
    Part part{place, of.requested_size(), from, 0, none, none};
    part.to = from <= schedule_.snapshot().now
                  ? schedule_.times().end_of(of, part.size)
                  : std::max(from + duration(place), std::nextafter(from, kNever));
    AvailabilityProfile& availability = schedule_.availability();
    const auto free = [&](PoolId pool) {
        return availability.free_between(pool, part.from, part.to);
    };
    choose(schedule_.eligible(of.eligible), part.size, free, part.nodes);
    return part;
}

std::optional<Together::Part> Together::part_at(std::uint32_t place, Time from, On on,
                                                const std::vector<Part>& others) const {
    Part part = most_at(place, from);
    if (part.size < 1) return std::nullopt;
    if (total(part.nodes) == part.size) return part;
    if (on == On::idle || !job(place).shares_nodes || !add_shared(part, others))
        return std::nullopt;
    return part;
}

// They share nodes with other jobs, not with each other.
bool Together::add_shared(Part& part, const std::vector<Part>& others) const {
    const int missing = part.size - total(part.nodes);
    const auto left = [&](PoolId pool) {
        int nodes = schedule_.shareable(pool, part.nodes[pool], part.to);
        for (const Part& other : others) nodes -= other.shared[pool];
        return nodes;
    };
    const Eligibility& eligible = schedule_.eligible(job(part.place).eligible);
    return choose(eligible, missing, left, part.shared) == missing;
}

void Together::take(const Part& part) const {
    schedule_.availability().take(part.from, part.to, part.nodes);
}

void Together::give_back(const std::vector<Part>& parts) const {
    for (auto part = parts.rbegin(); part != parts.rend(); ++part)
        schedule_.availability().give_back(part->from, part->to, part->nodes);
}

const Together::Component* Together::take_all(Time from, On on, std::vector<Part>& parts) const {
    for (const Component& component : components_) {
        std::optional<Part> part;
        for (auto place = component.places.begin(); place != component.places.end() && !part;
             ++place)
            part = part_at(*place, from, on, parts);
        if (!part) return &component;
        take(*part);
        parts.push_back(*std::move(part));
    }
    return nullptr;
}

// In the order of the queue; none if not all of them fit.
std::vector<Together::Part> Together::parts_at(Time from, On on) const {
    std::vector<Part> parts;
    const bool fits = !take_all(from, on, parts);
    give_back(parts);
    if (!fits) parts.clear();
    std::ranges::sort(parts, {}, &Part::place);
    return parts;
}

bool Together::start(Reason reason) {
    const Time now = schedule_.snapshot().now;
    std::vector<Part> parts = parts_at(now, On::idle);
    if (parts.empty() && any([&](std::uint32_t place) { return job(place).shares_nodes; }))
        parts = parts_at(now, On::shared);
    for (const Part& part : parts) {
        schedule_.start(part.place, part.nodes, part.size, reason);
        if (total(part.shared) > 0) schedule_.share(part.shared, part.to);
    }
    return !parts.empty();
}

namespace {

// Those that may use the same pools are one, since a victim gives to one.
void add(const Beneficiary& next, std::vector<Beneficiary>& wanted) {
    const auto same = std::ranges::find(wanted, next.eligible, &Beneficiary::eligible);
    if (same == wanted.end()) return wanted.push_back(next);
    same->needed += next.needed;
    same->end = std::max(same->end, next.end);
    same->idle = sum(same->idle, next.idle);
}

}  // namespace

std::vector<Beneficiary> Together::missing(PoolCounts coming) const {
    std::vector<Part> parts;
    std::vector<Beneficiary> wanted;
    PoolCounts arriving(schedule_.pools(), 0);
    for (const Component& component : components_) {
        parts.push_back(most_at(component.places.front(), schedule_.snapshot().now));
        const Part& part = parts.back();
        take(part);
        const EligibilityId id = job(part.place).eligible;
        const auto left = [&](PoolId pool) { return coming[pool]; };
        const int lacking = part.size - total(part.nodes);
        const int needed = lacking - choose(schedule_.eligible(id), lacking, left, arriving);
        coming = difference(coming, arriving);
        if (needed > 0) add({id, needed, part.to, part.nodes}, wanted);
    }
    give_back(parts);
    return wanted;
}

// Alone it may fit not before then; with others that need the same nodes neither before these are
// there for all of them.
Time Together::next_start(const Component& failed, Time after) const {
    Time next = kNever;
    PoolCounts counts(schedule_.pools(), 0);
    AvailabilityProfile& availability = schedule_.availability();
    for (const std::uint32_t place : failed.places) {
        const EligibilityId id = job(place).eligible;
        const int own = job(place).requested_size();
        const bool is_only_place = failed.places.size() == 1;
        Duration shortest = duration(place);
        if (is_only_place)
            for (const Component& other : components_)
                if (other.places.size() == 1 && job(other.places.front()).eligible == id)
                    shortest = std::min(shortest, duration(other.places.front()));
        const auto found = availability.earliest_from(
            after, schedule_.eligible(id), is_only_place ? needed_of(id) : own, shortest, counts);
        next = std::min(next, found.value_or(kNever));
    }
    return next > after ? next : next_change(after);
}

// What has been taken and given back leaves times at which nothing changes.
Time Together::next_change(Time after) const {
    AvailabilityProfile& availability = schedule_.availability();
    const auto is_as_before = [&](Time time) {
        for (PoolId pool = 0; pool < schedule_.pools(); ++pool)
            if (availability.free_at(pool, time) != availability.free_at(pool, after)) return false;
        return true;
    };
    Time next = availability.next_change(after);
    while (next < kNever && is_as_before(next)) next = availability.next_change(next);
    return next;
}

std::vector<Reservation> Together::earliest(Time from) const {
    Time start = std::max({from, schedule_.snapshot().now, job(first_).not_before});
    while (start < kNever) {
        std::vector<Part> parts;
        const Component* failed = take_all(start, On::idle, parts);
        give_back(parts);
        if (failed) {
            start = next_start(*failed, start);
            continue;
        }
        std::ranges::sort(parts, {}, &Part::place);
        std::vector<Reservation> reservations;
        for (Part& part : parts)
            reservations.push_back({part.place, part.from, part.to, std::move(part.nodes), {}});
        return reservations;
    }
    return {};
}

}  // namespace elastic::core

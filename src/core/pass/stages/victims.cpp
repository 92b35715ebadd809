// SPDX-License-Identifier: MIT
// [lina] algorithms 5 to 8.  The jobs are sorted once a pass: a job is shrunk at
// most once in a plan, so its place in the order cannot change.  Most pending
// jobs cannot be helped, and `supply` says so without a walk over the victims.
//
// A victim gives whole nodes of any of its pools but never the node its batch
// script runs on, and ends on an allowed size; where that frees more than is
// needed, the rest becomes idle.
//
// Shrinking makes the victim run longer and lets its nodes come free later than
// a reservation may count on, so a victim with which a reservation would be
// delayed is passed over.
#include "core/pass/stages/victims.hpp"

#include <algorithm>

#include "core/model/search.hpp"
#include "core/pass/choices/choices.hpp"

namespace elastic::core {
namespace {

// What the job can give up of one pool.
int givable(const RunningJob& job, PoolId pool) {
    return job.held[pool] - (pool == job.batch_host_pool ? 1 : 0);
}

void take_from_victim(const RunningJob& job, PoolId pool, int& left, PoolCounts& nodes) {
    const int more = std::clamp(givable(job, pool) - nodes[pool], 0, left);
    nodes[pool] += more;
    left -= more;
}

}  // namespace

int shrinkable(const RunningJob& job, const Eligibility& eligible) {
    const int size = total(job.held);
    const int floor = job.elastic.sizes.smallest(job.elastic.min, size - 1);
    if (floor == 0) return 0;
    int nodes = 0;
    for (PoolId pool : eligible) nodes += std::max(0, givable(job, pool));
    return std::min(nodes, size - floor);
}

Shrinkage allocate_resource(const Outlook& outlook, std::uint32_t victim,
                            const Eligibility& eligible, int amount, int needed) {
    const RunningJob& job = outlook.snapshot().running[victim];
    const int size = total(job.held);
    Shrinkage part;
    part.victim = victim;
    part.size_after = job.elastic.sizes.largest(job.elastic.min, size - amount);
    part.nodes.assign(outlook.pools(), 0);
    int left = size - part.size_after;
    for (PoolId pool : eligible) take_from_victim(job, pool, left, part.nodes);
    for (PoolId pool = 0; pool < outlook.pools(); ++pool)
        take_from_victim(job, pool, left, part.nodes);
    part.used.assign(outlook.pools(), 0);
    choose(
        eligible, needed, [&](PoolId pool) { return part.nodes[pool]; }, part.used);
    return part;
}

namespace {

// The part of the victim that is best for both it and the job, which has `size` nodes with what is
// the victim's part so far.
Shrinkage most_beneficial(const Outlook& outlook, const PendingJob& job, int size,
                          const Shrinkage& part) {
    const RunningJob& victim = outlook.snapshot().running[part.victim];
    const Eligibility& eligible = outlook.eligible(job.eligible);
    const int used = total(part.used), kept = total(victim.held) - used;
    const int most = choices::shrink_amount(outlook, victim, used + job.elastic.max - size,
                                            shrinkable(victim, eligible)) -
                     used;
    const auto net = [&](int more, int victim_keeps) {
        return choices::net_saving(outlook, job, victim, {size, part.size_after},
                                   {size + more, victim_keeps});
    };
    const int best = least_at(0, std::clamp(most, 0, job.elastic.max - size), [&](int more) {
        return -net(more, std::min(part.size_after, kept - more));
    });
    const int more = job.elastic.sizes.largest(size + 1, size + best) - size;
    if (more <= 0) return part;
    Shrinkage larger = allocate_resource(outlook, part.victim, eligible, used + more, used + more);
    const bool is_better = net(more, larger.size_after) > 0 &&
                           choices::is_feasible(outlook, victim, larger.size_after);
    return is_better ? larger : part;
}

// How many fewer nodes are free at `time` if the victim is shrunk.
int lost_at(Time time, PoolId pool, const Shrinkage& part, Time beneficiary_end,
            const Holding& before, const Holding& after) {
    const int used = time < beneficiary_end ? part.used[pool] : 0;
    return before.free_at(pool, time) - after.free_at(pool, time) - (part.nodes[pool] - used);
}

}  // namespace

void Victims::begin() {
    found_ = admitted_ = false;
    order_.clear();
}

bool Victims::admitted(const Outlook& outlook, Rng& rng) {
    admitted_ = choices::may_shrink(outlook);
    if (!admitted_) return false;
    if (!found_) find(outlook, rng);
    found_ = true;
    return !order_.empty();
}

void Victims::find(const Outlook& outlook, Rng& rng) {
    order_.clear();
    ranked_.clear();
    supply_.assign(outlook.snapshot().eligibilities.size(), -1);
    const std::vector<RunningJob>& running = outlook.snapshot().running;
    for (std::uint32_t i = 0; i < running.size(); ++i)
        if (outlook.may_resize(i) && total(running[i].held) > running[i].elastic.min &&
            choices::may_be_victim(outlook, running[i]))
            ranked_.push_back({choices::victim_rank(outlook, running[i], rng), running[i].id, i});
    std::sort(ranked_.begin(), ranked_.end());
    for (const auto& [rank, id, index] : ranked_) order_.push_back(index);
}

int Victims::supply(const Outlook& outlook, EligibilityId id) {
    if (!admitted_) return 0;
    if (supply_[id] < 0) {
        supply_[id] = 0;
        for (std::uint32_t victim : order_)
            supply_[id] += shrinkable(outlook.snapshot().running[victim], outlook.eligible(id));
    }
    return supply_[id];
}

int Victims::supply_without(const Outlook& outlook, EligibilityId id, std::uint32_t running) {
    if (!admitted_) return 0;
    const bool is_victim = std::find(order_.begin(), order_.end(), running) != order_.end();
    const int own =
        is_victim ? shrinkable(outlook.snapshot().running[running], outlook.eligible(id)) : 0;
    return supply(outlook, id) - own;
}

// The idle nodes that the beneficiary takes are none that a reservation needs, but together with
// its victims' nodes they might be.
void Victims::begin_losses(const Outlook& outlook, const Beneficiary& who) {
    lost_.clear();
    for (const Time fall : outlook.falls())
        for (int nodes : who.idle) lost_.push_back(fall < who.end ? nodes : 0);
}

// Whether a reservation lacks nodes however soon the victim ends: if it ends before the reservation
// begins and the beneficiary behind that, what this uses of it is lost.  Most victims are passed
// over for that, and to see it takes no search for when they would end.
bool Victims::uses_reserved_nodes(const Outlook& outlook, const Shrinkage& part,
                                  Time beneficiary_end) const {
    const Time victim_end = outlook.end_of(outlook.snapshot().running[part.victim]);
    std::size_t i = 0;
    for (const Time fall : outlook.falls())
        for (PoolId pool = 0; pool < outlook.pools(); ++pool, ++i)
            if (victim_end <= fall && fall < beneficiary_end &&
                outlook.availability().free_at(pool, fall) < lost_[i] + part.used[pool])
                return true;
    return false;
}

// Between falls nodes only come free, so where all have theirs when they begin, they keep them.
bool Victims::respects_reservations(const Outlook& outlook, const Shrinkage& part,
                                    Time beneficiary_end) {
    if (outlook.falls().empty()) return true;
    if (uses_reserved_nodes(outlook, part, beneficiary_end)) return false;
    const Holding before = outlook.holding(part.victim), after = outlook.holding_after(part);
    lost_with_ = lost_;
    std::size_t i = 0;
    for (const Time fall : outlook.falls())
        for (PoolId pool = 0; pool < outlook.pools(); ++pool, ++i) {
            lost_with_[i] += lost_at(fall, pool, part, beneficiary_end, before, after);
            if (outlook.availability().free_at(pool, fall) < lost_with_[i]) return false;
        }
    lost_.swap(lost_with_);
    return true;
}

std::vector<Shrinkage> Victims::select(const Outlook& outlook, const Beneficiary& who) {
    if (!admitted_) return {};
    if (!choices::has_first_floor(outlook.policy())) return select_above(outlook, who, {});
    const auto floor = choices::first_floor(outlook, order_, who.needed);
    std::vector<Shrinkage> selected = select_above(outlook, who, floor);
    return selected.empty() && who.is_least ? select_above(outlook, who, {}) : selected;
}

std::vector<Shrinkage> Victims::select_above(const Outlook& outlook, const Beneficiary& who,
                                             const choices::Floor& floor) {
    std::vector<Shrinkage> selected;
    const Eligibility& eligible = outlook.eligible(who.eligible);
    begin_losses(outlook, who);
    int needed = who.needed, left = supply(outlook, who.eligible);
    for (std::uint32_t victim : order_) {
        if (left < needed) return {};  // all from here on together have too little
        const RunningJob& job = outlook.snapshot().running[victim];
        const int most = shrinkable(job, eligible);
        left -= most;
        if (job.id == who.self) continue;
        const int above = std::max(0, total(job.held) - choices::size_at(floor, job));
        const int amount = choices::shrink_amount(outlook, job, needed, std::min(above, most));
        if (amount == 0) continue;
        Shrinkage part = allocate_resource(outlook, victim, eligible, amount, needed);
        if (!choices::is_feasible(outlook, job, part.size_after)) continue;
        if (!respects_reservations(outlook, part, who.end)) continue;
        needed -= total(part.used);
        selected.push_back(std::move(part));
        if (needed == 0) return selected;
    }
    return {};
}

std::vector<Shrinkage> Victims::select_all(const Outlook& outlook, EligibilityId id) {
    std::vector<Shrinkage> selected;
    const Eligibility& eligible = outlook.eligible(id);
    const Time now = outlook.snapshot().now;
    begin_losses(outlook, {.eligible = id, .end = now, .idle = PoolCounts(outlook.pools(), 0)});
    for (std::uint32_t victim : order_) {
        const RunningJob& job = outlook.snapshot().running[victim];
        const int amount =
            choices::shrink_amount(outlook, job, outlook.nodes(), shrinkable(job, eligible));
        if (amount == 0) continue;
        Shrinkage part = allocate_resource(outlook, victim, eligible, amount, 0);
        if (!choices::is_feasible(outlook, job, part.size_after)) continue;
        if (respects_reservations(outlook, part, now)) selected.push_back(std::move(part));
    }
    return selected;
}

bool Victims::all_respect_reservations(const Outlook& outlook, const Beneficiary& who,
                                       const std::vector<Shrinkage>& selected) {
    begin_losses(outlook, who);
    return std::all_of(selected.begin(), selected.end(), [&](const Shrinkage& part) {
        return respects_reservations(outlook, part, who.end);
    });
}

int Victims::take_more(const Outlook& outlook, const PendingJob& job, const Beneficiary& who,
                       int size, std::vector<Shrinkage>& selected) {
    const Shrinkage least = selected.back();
    selected.back() = most_beneficial(outlook, job, size, least);
    if (!all_respect_reservations(outlook, who, selected)) selected.back() = least;
    return size + total(selected.back().used) - total(least.used);
}

void Victims::remove(const Outlook& outlook, const std::vector<Shrinkage>& done) {
    for (const Shrinkage& part : done) remove(outlook, part.victim);
}

void Victims::remove(const Outlook& outlook, std::uint32_t running) {
    const auto place = std::find(order_.begin(), order_.end(), running);
    if (place == order_.end()) return;
    order_.erase(place);
    const RunningJob& job = outlook.snapshot().running[running];
    for (EligibilityId id = 0; id < supply_.size(); ++id)
        if (supply_[id] >= 0) supply_[id] -= shrinkable(job, outlook.eligible(id));
}

}  // namespace elastic::core

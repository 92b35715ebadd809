// SPDX-License-Identifier: MIT
// [lina] algorithms 5 to 8.  The jobs are sorted once a pass: a job is shrunk at most once in a
// plan, so its place in the order cannot change.  Most pending jobs cannot be helped, and `supply`
// says so without a walk over the victims.
//
// A victim gives whole nodes of any of its pools but never the node its batch script runs on, and
// ends on an allowed size; where that frees more than is needed, the rest becomes idle.
//
// Shrinking makes the victim run longer and lets its nodes come free later than a reservation may
// count on, so a victim with which a reservation would be delayed is passed over.
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

Shrinkage allocate_resource(const SystemState& state, std::uint32_t victim,
                            const Eligibility& eligible, int amount, int needed) {
    const RunningJob& job = state.snapshot().running[victim];
    const int size = total(job.held);
    Shrinkage part;
    part.victim = victim;
    part.size_after = job.elastic.sizes.largest(job.elastic.min, size - amount);
    part.nodes.assign(state.pools(), 0);
    int left = size - part.size_after;
    for (PoolId pool : eligible) take_from_victim(job, pool, left, part.nodes);
    for (PoolId pool = 0; pool < state.pools(); ++pool)
        take_from_victim(job, pool, left, part.nodes);
    part.used.assign(state.pools(), 0);
    choose(
        eligible, needed, [&](PoolId pool) { return part.nodes[pool]; }, part.used);
    return part;
}

namespace {

// The victim's part that is best for victim and job together; with `part` the job has `size` nodes.
Shrinkage most_beneficial(const SystemState& state, const PendingJob& job, int size,
                          const Shrinkage& part) {
    const RunningJob& victim = state.snapshot().running[part.victim];
    const Eligibility& eligible = state.eligible(job.eligible);
    const int used = total(part.used), kept = total(victim.held) - used;
    const int room = choices::room_at_start(state.policy(), job, size);
    const int most =
        choices::shrink_amount(state, victim, used + room, shrinkable(victim, eligible)) - used;
    const auto net = [&](int more, int victim_keeps) {
        return choices::net_saving(state.times(), job, victim, {size, part.size_after},
                                   {size + more, victim_keeps});
    };
    const int best = least_at(0, std::clamp(most, 0, room), [&](int more) {
        return -net(more, std::min(part.size_after, kept - more));
    });
    const int more = job.elastic.sizes.largest(size + 1, size + best) - size;
    if (more <= 0) return part;
    Shrinkage larger = allocate_resource(state, part.victim, eligible, used + more, used + more);
    const bool is_better =
        net(more, larger.size_after) > 0 &&
        choices::is_feasible(state.policy(), state.times(), victim, larger.size_after);
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

bool Victims::admitted(const SystemState& state, Rng& rng) {
    admitted_ = choices::may_shrink(state);
    if (!admitted_) return false;
    if (!found_) find(state, rng);
    found_ = true;
    return !order_.empty();
}

void Victims::find(const SystemState& state, Rng& rng) {
    ranked_.clear();
    supply_.assign(state.snapshot().eligibilities.size(), -1);
    const std::vector<RunningJob>& running = state.snapshot().running;
    for (std::uint32_t i = 0; i < running.size(); ++i)
        if (state.running().may_resize(i) && total(running[i].held) > running[i].elastic.min &&
            choices::may_be_victim(state.policy(), state.times(), running[i]))
            rank(state, rng, i);
    put_in_order();
}

void Victims::rank(const SystemState& state, Rng& rng, std::uint32_t running) {
    const RunningJob& job = state.snapshot().running[running];
    ranked_.push_back(
        {choices::victim_rank(state.policy(), state.times(), job, rng), job.id, running});
}

void Victims::put_in_order() {
    order_.clear();
    std::sort(ranked_.begin(), ranked_.end());
    for (const auto& [rank, id, index] : ranked_) order_.push_back(index);
}

bool Victims::admitted(const SystemState& state, Rng& rng,
                       const std::vector<std::uint32_t>& candidates) {
    admitted_ = true;
    ranked_.clear();
    supply_.assign(state.snapshot().eligibilities.size(), -1);
    for (std::uint32_t i : candidates)
        if (state.running().may_be_asked(i)) rank(state, rng, i);
    put_in_order();
    return !order_.empty();
}

int Victims::supply(const SystemState& state, EligibilityId id) {
    if (!admitted_) return 0;
    if (supply_[id] < 0) {
        supply_[id] = 0;
        for (std::uint32_t victim : order_)
            supply_[id] += shrinkable(state.snapshot().running[victim], state.eligible(id));
    }
    return supply_[id];
}

int Victims::supply_without(const SystemState& state, EligibilityId id, std::uint32_t running) {
    if (!admitted_) return 0;
    const bool is_victim = std::find(order_.begin(), order_.end(), running) != order_.end();
    const int own =
        is_victim ? shrinkable(state.snapshot().running[running], state.eligible(id)) : 0;
    return supply(state, id) - own;
}

// The idle nodes that the beneficiary takes are none that a reservation needs, but together with
// its victims' nodes they might be.
void Victims::begin_losses(const SystemState& state, const Beneficiary& who) {
    lost_.clear();
    for (const Time fall : state.reservations().falls())
        for (int nodes : who.idle) lost_.push_back(fall < who.end ? nodes : 0);
}

// Whether a reservation lacks nodes however soon the victim ends: if the victim ends before the
// reservation begins and the beneficiary after that, the nodes that the beneficiary uses are lost.
// Most victims are passed over for that, which takes no search for when they would end.
bool Victims::uses_reserved_nodes(const SystemState& state, const Shrinkage& part,
                                  Time beneficiary_end) const {
    const Time victim_end = state.times().end_of(state.snapshot().running[part.victim]);
    std::size_t i = 0;
    for (const Time fall : state.reservations().falls())
        for (PoolId pool = 0; pool < state.pools(); ++pool, ++i)
            if (victim_end <= fall && fall < beneficiary_end &&
                state.availability().free_at(pool, fall) < lost_[i] + part.used[pool])
                return true;
    return false;
}

// Between falls nodes only come free, so where all have theirs when they begin, they keep them.
bool Victims::respects_reservations(const SystemState& state, const Shrinkage& part,
                                    Time beneficiary_end) {
    if (state.reservations().falls().empty()) return true;
    if (uses_reserved_nodes(state, part, beneficiary_end)) return false;
    const Holding before = state.running().holding(part.victim),
                  after = state.running().holding_after(part);
    lost_with_ = lost_;
    std::size_t i = 0;
    for (const Time fall : state.reservations().falls())
        for (PoolId pool = 0; pool < state.pools(); ++pool, ++i) {
            lost_with_[i] += lost_at(fall, pool, part, beneficiary_end, before, after);
            if (state.availability().free_at(pool, fall) < lost_with_[i]) return false;
        }
    lost_.swap(lost_with_);
    return true;
}

std::vector<Shrinkage> Victims::select(const SystemState& state, const Beneficiary& who) {
    if (!admitted_) return {};
    if (who.preempts || !choices::has_first_floor(state.policy()))
        return select_above(state, who, {});
    const auto floor = choices::first_floor(state, order_, who.needed);
    std::vector<Shrinkage> selected = select_above(state, who, floor);
    return selected.empty() && who.is_least ? select_above(state, who, {}) : selected;
}

std::vector<Shrinkage> Victims::select_above(const SystemState& state, const Beneficiary& who,
                                             const choices::Floor& floor) {
    std::vector<Shrinkage> selected;
    const Eligibility& eligible = state.eligible(who.eligible);
    begin_losses(state, who);
    const bool asks_all = choices::asks_every_victim(state.policy()) && !who.preempts;
    const int whole = who.needed + total(who.idle);
    int needed = who.needed, left = supply(state, who.eligible);
    for (std::uint32_t victim : order_) {
        if (left < needed) return {};  // all from here on together have too little
        const RunningJob& job = state.snapshot().running[victim];
        const int most = shrinkable(job, eligible);
        left -= most;
        if (job.id == who.self) continue;
        const int above = std::max(0, total(job.held) - choices::size_at(floor, job));
        const int amount = who.preempts
                               ? std::min(needed, most)
                               : choices::shrink_amount(state, job, asks_all ? whole : needed,
                                                        std::min(above, most));
        if (amount == 0) continue;
        Shrinkage part = allocate_resource(state, victim, eligible, amount, needed);
        if (!who.preempts &&
            !choices::is_feasible(state.policy(), state.times(), job, part.size_after))
            continue;
        if (!respects_reservations(state, part, who.end)) continue;
        needed -= total(part.used);
        selected.push_back(std::move(part));
        if (needed == 0 && !asks_all) return selected;
    }
    return needed == 0 ? selected : std::vector<Shrinkage>{};
}

std::vector<Shrinkage> Victims::select_all(const SystemState& state, EligibilityId id) {
    std::vector<Shrinkage> selected;
    const Eligibility& eligible = state.eligible(id);
    const Time now = state.snapshot().now;
    begin_losses(state, {.eligible = id, .end = now, .idle = PoolCounts(state.pools(), 0)});
    for (std::uint32_t victim : order_) {
        const RunningJob& job = state.snapshot().running[victim];
        const int amount =
            choices::shrink_amount(state, job, state.nodes().count(), shrinkable(job, eligible));
        if (amount == 0) continue;
        Shrinkage part = allocate_resource(state, victim, eligible, amount, 0);
        if (!choices::is_feasible(state.policy(), state.times(), job, part.size_after)) continue;
        if (respects_reservations(state, part, now)) selected.push_back(std::move(part));
    }
    return selected;
}

bool Victims::all_respect_reservations(const SystemState& state, const Beneficiary& who,
                                       const std::vector<Shrinkage>& selected) {
    begin_losses(state, who);
    return std::all_of(selected.begin(), selected.end(), [&](const Shrinkage& part) {
        return respects_reservations(state, part, who.end);
    });
}

int Victims::take_more(const SystemState& state, const PendingJob& job, const Beneficiary& who,
                       int size, std::vector<Shrinkage>& selected) {
    const Shrinkage least = selected.back();
    selected.back() = most_beneficial(state, job, size, least);
    if (!all_respect_reservations(state, who, selected)) selected.back() = least;
    return size + total(selected.back().used) - total(least.used);
}

void Victims::remove(const SystemState& state, const std::vector<Shrinkage>& done) {
    for (const Shrinkage& part : done) remove(state, part.victim);
}

void Victims::remove(const SystemState& state, std::uint32_t running) {
    const auto victim = std::find(order_.begin(), order_.end(), running);
    if (victim == order_.end()) return;
    order_.erase(victim);
    const RunningJob& job = state.snapshot().running[running];
    for (EligibilityId id = 0; id < supply_.size(); ++id)
        if (supply_[id] >= 0) supply_[id] -= shrinkable(job, state.eligible(id));
}

}  // namespace elastic::core

// SPDX-License-Identifier: MIT
// What a job can give back for a reservation counts as free from then on (holding.hpp), so whether
// a resize delays one is a matter of the job's holding before and after.
//
// Always holds: no question changes an answer to another.
#include "core/pass/state/outlook.hpp"

#include <algorithm>

#include "core/pass/state/equal_share.hpp"
#include "core/pass/state/even_use.hpp"

namespace elastic::core {

Time Outlook::end_of(const RunningJob& job) const {
    return std::max(job.estimated_end, availability_.soon());
}

Time Outlook::end_of(const PendingJob& job, int size) const {
    const Duration slower = size < job.elastic.pref
                                ? rescale(job.duration, job.elastic.pref, size, job.elastic)
                                : job.duration_at(size);
    return std::max(snapshot_->now + std::max(slower, job.duration_at(size)), availability_.soon());
}

Time Outlook::end_after_resize(const RunningJob& job, int size_after) const {
    const int size = total(job.held);
    const Time end = end_of(job);
    if (end >= kNever || size_after == size || size_after < 1) return end;
    return snapshot_->now + rescale(end - snapshot_->now, size, size_after, job.elastic) +
           job.elastic.cost.seconds(size, size_after);
}

Time Outlook::end_after_shrink(const RunningJob& job, int size_after) const {
    return std::max(end_of(job), end_after_resize(job, size_after));
}

bool Outlook::may_resize(std::uint32_t running) const {
    const RunningJob& job = snapshot_->running[running];
    return may_be_asked(running) && job.last_resize + resize_gap(job) <= snapshot_->now;
}

bool Outlook::may_be_asked(std::uint32_t running) const {
    const RunningJob& job = snapshot_->running[running];
    return job.elastic.malleable && job.resizable && !touched_[running] && !asks_[running] &&
           job.not_before <= snapshot_->now;
}

// T_gap_rescale of [gupta] section V, the least time between two actions (start included) on one
// job, so that the work done in between pays for the resize: the job's own, else the policy's, or
// what makes its resizes, as measured, a small share of its time (section IV: T_gap >> T_rescale).
Duration Outlook::resize_gap(const RunningJob& job) const {
    constexpr double kMuchMore = 10;
    if (job.elastic.gap >= 0) return job.elastic.gap;
    if (policy_->resize_gap <= 0) return 0;
    return std::max(policy_->resize_gap, kMuchMore * job.rescale_time);
}

Time Outlook::may_resize_from(const RunningJob& job, Time resized) const {
    return std::max(resized + resize_gap(job), availability_.soon());
}

Time Outlook::returns_at(std::uint32_t running) const {
    const RunningJob& job = snapshot_->running[running];
    if (!returns_[running]) return end_of(job);
    return std::min(end_of(job), may_resize_from(job, snapshot_->now));
}

Holding Outlook::holding(std::uint32_t running) const {
    const RunningJob& job = snapshot_->running[running];
    return hold(running, job.held, end_of(job), job.last_resize);
}

Holding Outlook::holding_after(const Shrinkage& part) const {
    const RunningJob& job = snapshot_->running[part.victim];
    return hold(part.victim, difference(job.held, part.nodes),
                end_after_shrink(job, part.size_after), snapshot_->now);
}

Holding Outlook::holding_after(std::uint32_t running, const PoolCounts& more) const {
    const RunningJob& job = snapshot_->running[running];
    return hold(running, sum(job.held, more), end_of(job), snapshot_->now);
}

Holding Outlook::hold(std::uint32_t running, const PoolCounts& nodes, Time end,
                      Time resized) const {
    const RunningJob& job = snapshot_->running[running];
    Holding holding{end, std::min(end, may_resize_from(job, resized)), nodes,
                    PoolCounts(pools(), 0)};
    if (returns_[running]) returnable(job, nodes, holding.returnable);
    return holding;
}

bool Outlook::may_grow(std::uint32_t running, const PoolCounts& more) const {
    for (PoolId pool = 0; pool < pools(); ++pool)
        if (more[pool] > availability_.free_now(pool)) return false;
    if (falls_.empty()) return true;
    const Holding before = holding(running), after = holding_after(running, more);
    for (const Time from : falls_)
        for (PoolId pool = 0; pool < pools(); ++pool) {
            const int lost = before.free_at(pool, from) + more[pool] - after.free_at(pool, from);
            if (availability_.free_at(pool, from) < lost) return false;
        }
    return true;
}

FreeNodes Outlook::available(EligibilityId id, int nodes, Time end) const {
    FreeNodes found{0, PoolCounts(pools(), 0)};
    found.count = choose(
        eligible(id), nodes, [&](PoolId pool) { return availability_.free_until(pool, end); },
        found.by_pool);
    return found;
}

int Outlook::free_now(EligibilityId id) const {
    int nodes = 0;
    for (PoolId pool : eligible(id)) nodes += availability_.free_now(pool);
    return nodes;
}

int Outlook::nodes_in(EligibilityId id) const {
    int nodes = 0;
    for (PoolId pool : eligible(id)) nodes += snapshot_->pools[pool].nodes;
    return nodes;
}

int Outlook::idle() const {
    int nodes = 0;
    for (PoolId pool = 0; pool < pools(); ++pool) nodes += availability_.free_now(pool);
    return nodes;
}

int Outlook::nodes() const {
    int nodes = 0;
    for (const Pool& pool : snapshot_->pools) nodes += pool.nodes;
    return nodes;
}

Time Outlook::next_end() const {
    const std::vector<Vacancy>& vacancies = index_->vacancies.entries();
    return vacancies.empty() ? kNever : std::max(vacancies.front().at, availability_.soon());
}

Time Outlook::free_without_shrinking(EligibilityId id, int nodes) const {
    int missing = nodes - free_now(id);
    if (missing <= 0) return snapshot_->now;
    const Eligibility& pools = eligible(id);
    for (const Vacancy& vacancy : index_->vacancies.entries()) {
        if (vacancy.at < snapshot_->now) continue;
        if (std::find(pools.begin(), pools.end(), vacancy.pool) == pools.end()) continue;
        missing -= vacancy.nodes;
        if (missing <= 0) return std::max(vacancy.at, availability_.soon());
    }
    return kNever;
}

double Outlook::even_use() const {
    if (even_use_ < 0) even_use_ = even_use_of_growing(*this);
    return even_use_;
}

int Outlook::equal_share() const {
    if (equal_share_ < 0) equal_share_ = core::equal_share(*this, ranges_);
    return equal_share_;
}

Time Outlook::first_fall() const {
    Time first = kNever;
    for (const Time fall : falls_) first = std::min(first, fall);
    return first;
}

Time Outlook::end_of_growth(const RunningJob& job) const {
    const Time now = snapshot_->now, end = end_of(job);
    Time until = now;
    for (const Layer& lack : steps_ahead(job.elastic.profile, total(job.held), end - now).gains)
        if (lack.from <= 0) until = std::max(until, std::min(end, now + lack.to));
    return until > now ? until : end;
}

int Outlook::undecided_copies(std::uint32_t pending) const {
    if (decided_[pending]) return 0;
    const auto some = decided_copies_.find(pending);
    return snapshot_->pending[pending].copies - (some == decided_copies_.end() ? 0 : some->second);
}

std::ptrdiff_t Outlook::reservations_of(std::uint32_t pending) const {
    return reserved_[pending] ? std::ranges::count(reservations_, pending, &Reservation::job) : 0;
}

bool Outlook::has_claim(JobId id) const {
    return std::ranges::find(claimants_, id) != claimants_.end();
}

std::uint32_t Outlook::find_running(JobId id) const {
    const auto found =
        std::lower_bound(running_by_id_.begin(), running_by_id_.end(), std::pair(id, 0U));
    return found != running_by_id_.end() && found->first == id ? found->second
                                                               : snapshot_->running.size();
}

}  // namespace elastic::core

// SPDX-License-Identifier: MIT
// A job that leaves the queue leaves a hole: places are what the index counts by, and closing each
// hole would cost as much as the queue is long.  When most places are holes the queue is made anew.
#include "core/availability/cluster.hpp"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <numeric>

#include "core/model/pools.hpp"

namespace elastic::core {
namespace {

constexpr std::uint32_t kNowhere = UINT32_MAX;
constexpr std::size_t kFewPlaces = 64;  // not worth the trouble

// Whether a job that runs may want more nodes; as for slurmctld, where others want none of them
// counts then.
bool may_want_more(const Sizing& elastic) {
    return elastic.malleable || elastic.evolving;
}

}  // namespace

Cluster::Cluster(const PoolCounts& nodes) {
    begin(nodes);
    Eligibility& all = snapshot_.eligibilities.emplace_back(nodes.size());
    std::iota(all.begin(), all.end(), 0);
}

Cluster::Cluster(const PoolCounts& nodes, std::vector<Eligibility> eligibilities,
                 std::vector<std::uint32_t> weights)
    : given_(std::move(eligibilities)), jobs_of_(given_.size(), 0), weights_(std::move(weights)) {
    begin(nodes);
    order_pools();
}

void Cluster::begin(const PoolCounts& nodes) {
    for (const int count : nodes) snapshot_.pools.push_back({count, count});
}

// So many jobs of this eligibility come or go.
void Cluster::count(EligibilityId id, int jobs) {
    if (given_.empty()) return;
    const bool was_present = jobs_of_[id] > 0;
    jobs_of_[id] += jobs;
    if (was_present != (jobs_of_[id] > 0)) order_pools();
}

void Cluster::order_pools() {
    std::vector<Eligibility> present;
    for (EligibilityId id = 0; id < given_.size(); ++id)
        if (jobs_of_[id] > 0) present.push_back(given_[id]);
    const std::vector<int> demand = core::demand(present, snapshot_.pools.size());
    const std::vector<bool> is_named(snapshot_.pools.size());
    snapshot_.eligibilities = given_;
    for (Eligibility& eligible : snapshot_.eligibilities)
        core::order_pools(eligible, snapshot_.pools, is_named, weights_, demand);
}

void Cluster::add_eligibility(const Eligibility& pools) {
    given_.push_back(pools);
    jobs_of_.push_back(0);
    snapshot_.eligibilities.push_back(pools);
}

void Cluster::set_eligible(JobId id, EligibilityId eligible) {
    const std::uint32_t place = place_[id];
    const bool runs = place < snapshot_.running.size() && snapshot_.running[place].id == id;
    EligibilityId& own =
        runs ? snapshot_.running[place].eligible : snapshot_.pending[place].eligible;
    if (!runs || may_want_more(snapshot_.running[place].elastic)) {
        count(eligible, +1);
        count(own, -1);
    }
    own = eligible;
    // What they need together depends on whether it is of the same pools.
    if (runs || !snapshot_.pending[place].together) return;
    drop_holes();
    index_.load_queue(snapshot_.pending);
}

void Cluster::add_nodes(PoolId pool, int nodes) {
    snapshot_.pools[pool].nodes += nodes;
    snapshot_.pools[pool].idle += nodes;
    assert(snapshot_.pools[pool].idle >= 0);
}

void Cluster::set_supply(const std::vector<double>& prices, std::vector<Budget> budgets) {
    has_prices_ = false;
    for (PoolId pool = 0; pool < prices.size(); ++pool) {
        snapshot_.pools[pool].price = prices[pool];
        has_prices_ = has_prices_ || prices[pool] > 0;
    }
    snapshot_.budgets = std::move(budgets);
    snapshot_.eligibilities.resize(1);
    for (RunningJob& job : snapshot_.running) job.eligible = 0;
    for (PendingJob& job : snapshot_.pending) job.eligible = 0;
    apply_prices(snapshot_);
}

void Cluster::arrive(PendingJob&& job) {
    compact();
    if (place_.size() <= job.id)
        place_.resize(std::max<std::size_t>(job.id + 1, 2 * place_.size()), kNowhere);
    auto& queue = snapshot_.pending;
    count(job.eligible, +1);
    place_[job.id] = static_cast<std::uint32_t>(queue.size());
    queue.push_back(std::move(job));
    index_.add(queue);
    if (has_prices_) apply_prices(snapshot_);
}

void Cluster::compact() {
    auto& queue = snapshot_.pending;
    if (queue.size() < kFewPlaces || queue.size() < 2 * static_cast<std::size_t>(waiting())) return;
    drop_holes();
    index_.load_queue(queue);
}

void Cluster::drop_holes() {
    auto& queue = snapshot_.pending;
    std::uint32_t kept = 0;
    for (std::uint32_t i = index_.queue.next(0); i < index_.queue.end();
         i = index_.queue.next(i + 1)) {
        place_[queue[i].id] = kept;
        if (kept != i) queue[kept] = std::move(queue[i]);
        ++kept;
    }
    queue.resize(kept);
}

void Cluster::arrive(PendingJob&& job, const std::function<bool(JobId)>& comes_before) {
    auto& queue = snapshot_.pending;
    std::uint32_t next = index_.queue.next(0);
    while (next < index_.queue.end() && !comes_before(queue[next].id))
        next = index_.queue.next(next + 1);
    if (next >= index_.queue.end()) return arrive(std::move(job));
    const JobId behind = queue[next].id;
    drop_holes();
    if (place_.size() <= job.id) place_.resize(2 * job.id + 1, kNowhere);
    const std::uint32_t place = place_[behind];
    count(job.eligible, +1);
    queue.insert(queue.begin() + place, std::move(job));
    for (std::uint32_t i = place; i < queue.size(); ++i) place_[queue[i].id] = i;
    index_.load_queue(queue);
    if (has_prices_) apply_prices(snapshot_);
}

void Cluster::arrive(std::vector<PendingJob>&& jobs,
                     const std::function<bool(JobId, JobId)>& comes_before) {
    drop_holes();
    std::vector<PendingJob> old = std::move(snapshot_.pending);
    auto& queue = snapshot_.pending;
    queue.clear();
    for (const PendingJob& job : jobs) {
        if (place_.size() <= job.id) place_.resize(2 * job.id + 1, kNowhere);
        count(job.eligible, +1);
    }
    std::merge(std::make_move_iterator(old.begin()), std::make_move_iterator(old.end()),
               std::make_move_iterator(jobs.begin()), std::make_move_iterator(jobs.end()),
               std::back_inserter(queue), [&](const PendingJob& job, const PendingJob& other) {
                   return comes_before(job.id, other.id);
               });
    for (std::uint32_t i = 0; i < queue.size(); ++i) place_[queue[i].id] = i;
    index_.load_queue(queue);
    if (has_prices_) apply_prices(snapshot_);
}

void Cluster::promise(JobId id, Time start, bool anew) {
    PendingJob& job = snapshot_.pending[place_[id]];
    const bool is_promised = job.promised < kNever;
    if (is_promised && !anew) return;
    job.promised = start;
    if (!is_promised) index_.promise(place_[id]);
}

// What is left of it there.
PendingJob& Cluster::leave_queue(JobId id) {
    const std::uint32_t place = place_[id];
    PendingJob& left = snapshot_.pending[place];
    index_.remove(place, left);
    left.together = 0;  // the hole is of nobody that comes back
    return left;
}

void Cluster::withdraw(JobId id) {
    count(leave_queue(id).eligible, -1);
    place_[id] = kNowhere;
}

void Cluster::add_shared(PoolId pool, Time until, int nodes) {
    PoolCounts counts(snapshot_.pools.size(), 0);
    counts[pool] = 1;
    nodes > 0 ? index_.vacancies.insert(until, counts) : index_.vacancies.remove(until, counts);
    auto& shared = snapshot_.shared_until;
    const auto found = std::ranges::find_if(shared, [&](const SharedNodes& entry) {
        return entry.pool == pool && entry.until == until;
    });
    if (found == shared.end()) return shared.push_back({pool, nodes, until});
    found->nodes += nodes;
    if (found->nodes > 0) return;
    *found = shared.back();
    shared.pop_back();
}

void Cluster::share(PoolId pool, std::optional<Time> before, std::optional<Time> after) {
    if (before == after) return;
    if (before) add_shared(pool, *before, -1);
    if (after) add_shared(pool, *after, +1);
    snapshot_.pools[pool].idle += static_cast<int>(!after) - static_cast<int>(!before);
    assert(snapshot_.pools[pool].idle >= 0);
}

void Cluster::start(JobId id, const PoolCounts& nodes, Time estimated_end) {
    PendingJob& pending = leave_queue(id);
    RunningJob running;
    running.id = id;
    running.elastic = std::move(pending.elastic);
    if (!has_prices_) running.eligible = pending.eligible;
    if (!may_want_more(running.elastic)) count(running.eligible, -1);
    running.held = nodes;
    running.start = running.last_resize = snapshot_.now;
    running.estimated_end = estimated_end;
    running.duration = pending.duration;
    running.resizable = true;
    place_[id] = static_cast<std::uint32_t>(snapshot_.running.size());
    for (PoolId pool = 0; pool < nodes.size(); ++pool) {
        snapshot_.pools[pool].idle -= nodes[pool];
        assert(snapshot_.pools[pool].idle >= 0);
        if (nodes[pool] > 0 && nodes[running.batch_host_pool] == 0) running.batch_host_pool = pool;
    }
    index_.vacancies.insert(estimated_end, running.held);
    index_.count(running, +1);
    snapshot_.running.push_back(std::move(running));
    if (has_prices_) apply_prices(snapshot_);
}

void Cluster::resize(JobId id, const PoolCounts& held, Time estimated_end) {
    RunningJob& job = snapshot_.running[place_[id]];
    const int more = total(held) - total(job.held);
    index_.vacancies.remove(job.estimated_end, job.held);
    index_.count(job, -1);
    for (PoolId pool = 0; pool < held.size(); ++pool) {
        snapshot_.pools[pool].idle -= held[pool] - job.held[pool];
        assert(snapshot_.pools[pool].idle >= 0);
    }
    job.held = held;
    job.gain += more;
    if (more > 0) ++job.expansions;
    if (more < 0) ++job.shrinks;
    job.last_resize = snapshot_.now;
    job.estimated_end = estimated_end;
    index_.vacancies.insert(estimated_end, job.held);
    index_.count(job, +1);
}

void Cluster::bound(JobId id, int most, int pref) {
    RunningJob& job = snapshot_.running[place_[id]];
    if (job.elastic.max == most) return;
    index_.count(job, -1);
    job.elastic.max = most;
    job.elastic.pref = std::clamp(pref, job.elastic.min, most);
    index_.count(job, +1);
}

void Cluster::follow_profile(JobId id, EvolutionProfile&& left, Time estimated_end) {
    RunningJob& job = snapshot_.running[place_[id]];
    job.elastic.profile = std::move(left);
    if (job.estimated_end == estimated_end) return;
    index_.vacancies.remove(job.estimated_end, job.held);
    job.estimated_end = estimated_end;
    index_.vacancies.insert(job.estimated_end, job.held);
}

void Cluster::end(JobId id) {
    auto& running = snapshot_.running;
    const std::uint32_t place = place_[id];
    index_.vacancies.remove(running[place].estimated_end, running[place].held);
    index_.count(running[place], -1);
    for (PoolId pool = 0; pool < running[place].held.size(); ++pool)
        snapshot_.pools[pool].idle += running[place].held[pool];
    if (may_want_more(running[place].elastic)) count(running[place].eligible, -1);
    place_[id] = kNowhere;
    if (place + 1 != running.size()) {
        running[place] = std::move(running.back());
        place_[running[place].id] = place;
    }
    running.pop_back();
}

}  // namespace elastic::core

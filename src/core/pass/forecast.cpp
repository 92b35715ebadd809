// SPDX-License-Identifier: MIT
// The stages of a pass that say what is spoken for, and then the queue in its order, with another
// policy: conservative backfilling, and no resizes.
#include "core/pass/forecast.hpp"

#include <algorithm>

#include "core/pass/stages/stages.hpp"

namespace elastic::core {

namespace {

Policy without_resizes(Policy policy) {
    policy.backfill = Backfill::conservative;
    policy.backfill_order = BackfillOrder::queue;
    policy.shrink_guard = ShrinkGuard::never;
    policy.expand_trigger = ExpandTrigger::never;
    policy.starts_on = StartsOn::idle;
    policy.reserved_nodes = ReservedNodes::kept;
    policy.head_delay = kNever;
    return policy;
}

// The nodes that a job waits for which others give up, and those that are kept for it besides.
PoolCounts promised_to(JobId job, const Snapshot& snapshot) {
    PoolCounts nodes(snapshot.pools.size(), 0);
    for (const Promise& promise : snapshot.promises)
        if (promise.kind == ResizeKind::shrink && promise.beneficiary == job)
            nodes = sum(nodes, promise.nodes);
    for (const Claim& claim : snapshot.claims)
        if (claim.job == job) nodes = sum(nodes, claim.nodes);
    return nodes;
}

}  // namespace

struct Forecast::Scratch {
    Policy policy;
    Pass pass;
    SnapshotIndex index;
    std::uint32_t next = 0;
    std::vector<ExpectedStart> starts;

    const Schedule& schedule() const { return pass.schedule; }
    const PendingJob& job(std::uint32_t place) const {
        return schedule().snapshot().pending[place];
    }
    void add_claimed();
    void add_start(std::uint32_t place, const Action& start);
    bool add_reservation(std::uint32_t place);
    void add_unreserved(std::uint32_t place, int size);
    void look_at(std::uint32_t place);
    void look_at_together(std::uint32_t first);
};

void Forecast::Scratch::add_claimed() {
    const Snapshot& snapshot = schedule().snapshot();
    for (const std::uint32_t place : index.claimed) {
        const PoolCounts nodes = promised_to(job(place).id, snapshot);
        const Time end = schedule().times().end_of(job(place), std::max(total(nodes), 1));
        starts.push_back({place, snapshot.now, end, nodes, true});
    }
}

void Forecast::Scratch::add_start(std::uint32_t place, const Action& start) {
    starts.push_back({place, schedule().snapshot().now,
                      schedule().times().end_of(job(place), start.size_after), start.nodes, true});
}

// The one that begins first; false if there is none.
bool Forecast::Scratch::add_reservation(std::uint32_t place) {
    const auto& all = schedule().reservations().all();
    const Reservation* first = nullptr;
    for (auto own = all.rbegin(); own != all.rend() && own->job == place; ++own)
        if (!first || own->from < first->from) first = &*own;
    if (first) starts.push_back({place, first->from, first->to, first->nodes, true});
    return first != nullptr;
}

// It may have no reservation, or not so late, but will start.
void Forecast::Scratch::add_unreserved(std::uint32_t place, int size) {
    if (size > schedule().nodes().count(job(place).eligible)) return;
    if (job(place).not_before >= kNever) return;
    if (auto found = QueueFront::earliest(pass.schedule, place, size))
        starts.push_back({place, found->from, found->to, std::move(found->nodes), false});
}

void Forecast::Scratch::look_at_together(std::uint32_t first) {
    const std::size_t before = schedule().plan().actions.size();
    if (!start_on_idle_nodes(pass, first)) pass.front.block(pass.schedule, first, 1);
    const auto& actions = schedule().plan().actions;
    for (std::size_t i = before; i < actions.size(); ++i) add_start(actions[i].place, actions[i]);
    if (actions.size() > before) return;
    bool is_reserved = false;
    for (const Reservation& one : schedule().reservations().all()) {
        if (one.job < first || one.job >= Together::end(schedule().snapshot(), first)) continue;
        starts.push_back({one.job, one.from, one.to, one.nodes, true});
        is_reserved = true;
    }
    const Together jobs(pass.schedule, first);
    if (is_reserved || !jobs.may_start()) return;
    for (Reservation& one : jobs.earliest(schedule().snapshot().now))
        starts.push_back({one.job, one.from, one.to, std::move(one.nodes), false});
}

void Forecast::Scratch::look_at(std::uint32_t place) {
    if (job(place).together && !schedule().queue().decided(place)) return look_at_together(place);
    const std::size_t before = schedule().plan().actions.size();
    while (!schedule().queue().decided(place) && start_on_idle_nodes(pass, place)) {
    }
    const auto& actions = schedule().plan().actions;
    const bool starts_now = actions.size() > before;
    if (starts_now) add_start(place, actions[before]);
    if (schedule().queue().decided(place)) return;
    const int size = choices::initial_size(schedule(), job(place));
    pass.front.block(pass.schedule, place, size);
    if (!starts_now && !add_reservation(place)) add_unreserved(place, size);
}

Forecast::Forecast() : scratch_(std::make_unique<Scratch>()) {}
Forecast::~Forecast() = default;

void Forecast::begin(const Snapshot& snapshot, const Policy& policy) {
    Scratch& scratch = *scratch_;
    scratch.policy = without_resizes(policy);
    scratch.index.load(snapshot);
    Pass& pass = scratch.pass;
    pass.schedule.begin(snapshot, scratch.index, scratch.policy);
    pass.victims.begin();
    book_agreements(pass);
    keep_within_budgets(pass);
    plan_later_steps(pass);
    pass.front.begin(pass.schedule);
    scratch.starts.clear();
    scratch.add_claimed();
    scratch.next = scratch.index.queue.next(0);
}

bool Forecast::step() {
    Scratch& scratch = *scratch_;
    if (scratch.next >= scratch.index.queue.end()) return false;
    scratch.look_at(scratch.next);
    scratch.next = scratch.index.queue.next(scratch.next + 1);
    return true;
}

const std::vector<ExpectedStart>& Forecast::starts() const {
    return scratch_->starts;
}

}  // namespace elastic::core

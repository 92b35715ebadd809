// SPDX-License-Identifier: MIT
// A preemptor is asked about one victim after another, in each round of Slurm's loops; the answer
// is the same for all of them, so that no rigid job is preempted in place of one that is being
// asked.
//
// It asks at any time, also while a plan is made of what was read before; such a plan says nothing
// of it.
//
// Always holds: no job asks for longer than the patience; who has asked in vain may preempt for
// some minutes, in which Slurm's slowest loop comes round, before it asks again.
#include "controller/preemption_gate.hpp"

#include <algorithm>
#include <ranges>

namespace elastic::controller {

namespace {

constexpr Duration kAdmitted = 300;   // after it was asked in vain
constexpr Duration kNobodyThere = 1;  // and where there was nobody to ask

}  // namespace

bool PreemptionGate::admits(Waiting preemptor, Time now, const MayPreempt& may_preempt) {
    {
        std::lock_guard guard(mutex_);
        if (!is_open_) return false;
        if (patience_ <= 0) return true;
        Preemptor& known = preemptors_[preemptor.job];
        if (known.asks && known.elements != preemptor.elements) known = begun(preemptor, now);
        if (known.asks) return false;
        if (now < known.since + (known.in_vain ? kAdmitted : kNobodyThere)) return true;
        known = begun(preemptor, now);
        known.asks = is_any_askable(may_preempt);
        if (!known.asks) return true;
    }
    on_asks_();
    return false;
}

PreemptionGate::Preemptor PreemptionGate::begun(Waiting preemptor, Time now) {
    return {.asks = true, .since = now, .elements = preemptor.elements};
}

bool PreemptionGate::is_any_askable(const MayPreempt& may_preempt) const {
    return std::ranges::any_of(askable_, may_preempt);
}

void PreemptionGate::open(Duration patience) {
    std::lock_guard guard(mutex_);
    is_open_ = true;
    patience_ = patience;
}

bool PreemptionGate::asks() const {
    std::lock_guard guard(mutex_);
    return patience_ > 0;
}

void PreemptionGate::set_askable(std::unordered_set<JobId> askable) {
    std::lock_guard guard(mutex_);
    askable_ = std::move(askable);
}

void PreemptionGate::begin_look() {
    std::lock_guard guard(mutex_);
    for (auto& [id, preemptor] : preemptors_) preemptor.is_seen = preemptor.asks;
}

bool PreemptionGate::is_asking(JobId preemptor) const {
    std::lock_guard guard(mutex_);
    const auto found = preemptors_.find(preemptor);
    return found != preemptors_.end() && found->second.asks;
}

std::vector<JobId> PreemptionGate::asking() const {
    std::lock_guard guard(mutex_);
    std::vector<JobId> ids;
    for (const auto& [id, preemptor] : preemptors_)
        if (preemptor.asks && preemptor.is_seen) ids.push_back(id);
    return ids;
}

std::vector<JobId> PreemptionGate::overdue(Time now) const {
    std::lock_guard guard(mutex_);
    std::vector<JobId> ids;
    for (const auto& [id, preemptor] : preemptors_)
        if (preemptor.asks && preemptor.since + patience_ <= now) ids.push_back(id);
    return ids;
}

Time PreemptionGate::next_deadline() const {
    std::lock_guard guard(mutex_);
    Time next = kNever;
    for (const auto& [id, preemptor] : preemptors_)
        if (preemptor.asks) next = std::min(next, preemptor.since + patience_);
    return next;
}

bool PreemptionGate::let_go(JobId id, Time now) {
    std::lock_guard guard(mutex_);
    const auto found = preemptors_.find(id);
    if (found == preemptors_.end() || !found->second.asks) return false;
    found->second = {.since = now, .in_vain = true};
    return true;
}

void PreemptionGate::retain(const std::function<bool(JobId)>& waits) {
    std::lock_guard guard(mutex_);
    std::erase_if(preemptors_, [&](const auto& entry) { return !waits(entry.first); });
}

}  // namespace elastic::controller

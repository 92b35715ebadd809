// SPDX-License-Identifier: MIT
// SatisfyEvolvingRequest, [lina] algorithm 2.
//
// Evolving requests come before pending jobs: a job in the middle of its run
// that lacks nodes wastes those it has.  So a growth may use nodes that a
// reservation of the last pass counted on; all later stages respect the
// reservations that are made after it.  Shrinks that a job asks for are granted
// by whoever makes the snapshot, since nothing can stand against them.
//
// A request gets its full wish, from idle nodes or else from victims, or as much
// as there is if that is not less than what it takes at least; otherwise it waits
// for its deadline.  A job's own request is not subject to the resize gap.
#include <algorithm>

#include "core/pass/stages/stages.hpp"

namespace elastic::core {
namespace {

// Sizes after the growth; low > high never holds.
struct Wish {
    int size = 0, low = 0, high = 0;
};

void wait_or_deny(Pass& pass, const GrowthRequest& request) {
    if (request.deadline <= pass.state.snapshot().now) pass.state.deny(request, Reason::no_nodes);
}

// What victims could give to this job.
int supply_for(Pass& pass, std::uint32_t running) {
    const RunningJob& job = pass.state.snapshot().running[running];
    return pass.victims.supply_without(pass.state, job.eligible, running);
}

void satisfy_wish(Pass& pass, const GrowthRequest& request, std::uint32_t running,
                  const Wish& wish) {
    SystemState& state = pass.state;
    const RunningJob& job = state.snapshot().running[running];
    const SizeRule& sizes = job.elastic.sizes;
    const int idle =
        state.available(job.eligible, wish.high - wish.size, state.snapshot().now, pass.counts);
    // Victims need time to leave, which a request at its deadline has not.
    const bool may_wait = request.deadline > state.snapshot().now;
    const int reach = idle + (may_wait ? supply_for(pass, running) : 0);
    const int target = sizes.largest(wish.low, std::min(wish.high, wish.size + reach));
    if (target == 0) return wait_or_deny(pass, request);
    const int more = target - wish.size;
    const int found = state.available(job.eligible, more, state.snapshot().now, pass.counts);
    pass.selected.clear();
    if (found < more) {
        const Beneficiary who{job.eligible, more - found, state.end_of(job), pass.counts, job.id};
        if (!pass.victims.select(state, who, pass.selected)) return wait_or_deny(pass, request);
    }
    state.grant(request, running, pass.counts, pass.selected);
    pass.victims.remove(state, pass.selected);
    pass.victims.remove(state, running);
}

void satisfy(Pass& pass, const GrowthRequest& request) {
    SystemState& state = pass.state;
    const std::uint32_t running = state.find_running(request.job);
    if (running == state.snapshot().running.size()) return;  // it has ended
    const RunningJob& job = state.snapshot().running[running];
    Wish wish;
    wish.size = total(job.held);
    wish.low = wish.size + std::clamp(request.least, 1, request.nodes);
    wish.high = std::min(wish.size + request.nodes, job.elastic.max);
    if (wish.low > wish.high) return state.deny(request, Reason::beyond_maximum);
    if (job.elastic.sizes.largest(wish.low, wish.high) == 0)
        return state.deny(request, Reason::not_allowed_size);
    if (!job.resizable || state.touched(running)) return wait_or_deny(pass, request);
    satisfy_wish(pass, request, running, wish);
}

}  // namespace

void satisfy_evolving_requests(Pass& pass) {
    if (pass.state.snapshot().requests.empty()) return;
    pass.victims.admitted(pass.state);
    for (const GrowthRequest& request : pass.state.snapshot().requests) satisfy(pass, request);
}

}  // namespace elastic::core

// SPDX-License-Identifier: MIT
// SatisfyEvolvingRequest, [lina] algorithm 2.
//
// Evolving requests come before pending jobs: a job in the middle of its run
// that lacks nodes wastes those it has.  So a growth may use nodes that a
// reservation of the last pass counted on; all later stages respect the
// reservations that are made after it.  Shrinks that a job asks for are granted
// by whoever makes the snapshot, since nothing can stand against them.
//
// A request gets all it asks for, from idle nodes or else from victims, or as much
// as there is if that is not less than what it takes at least; otherwise it waits
// for its deadline.  A job's own request is not subject to the resize gap.
#include <algorithm>

#include "core/pass/stages/kept_promises.hpp"
#include "core/pass/stages/stages.hpp"

namespace elastic::core {
namespace {

// Sizes after the growth; low > high never holds.
struct SizeRange {
    int size = 0, low = 0, high = 0;
};

void wait_or_deny(Pass& pass, const GrowthRequest& request) {
    if (request.deadline <= pass.books.snapshot().now) pass.books.deny(request, Reason::no_nodes);
}

// What victims could give to this job.
int supply_for(Pass& pass, std::uint32_t running) {
    const RunningJob& job = pass.books.snapshot().running[running];
    return pass.victims.supply_without(pass.books, job.eligible, running);
}

// `until`: to when the nodes must be free, so that nobody who has been promised a start waits for
// them.
void satisfy_within(Pass& pass, const GrowthRequest& request, std::uint32_t running,
                    const SizeRange& asked, Time until) {
    Books& books = pass.books;
    const RunningJob& job = books.snapshot().running[running];
    const SizeRule& sizes = job.elastic.sizes;
    const Time now = books.snapshot().now;
    const int idle = books.available(job.eligible, asked.high - asked.size, until).count;
    // Victims need time to leave, which a request at its deadline has not.
    const bool may_wait = request.deadline > now;
    const int reach = idle + (may_wait ? supply_for(pass, running) : 0);
    const int target = sizes.largest(asked.low, std::min(asked.high, asked.size + reach));
    if (target == 0) return wait_or_deny(pass, request);
    const int more = target - asked.size;
    const FreeNodes found = books.available(job.eligible, more, until);
    std::vector<Shrinkage> victims;
    if (found.count < more) {
        const Beneficiary who{job.eligible, more - found.count, books.end_of(job), found.by_pool,
                              job.id};
        victims = pass.victims.select(books, who);
        const Duration saved = books.end_of(job) - books.end_after_resize(job, target);
        if (victims.empty() || !choices::is_worth_shrinking(books, saved, victims))
            return wait_or_deny(pass, request);
    }
    books.grant(request, running, found.by_pool, victims);
    pass.victims.remove(books, victims);
    pass.victims.remove(books, running);
}

void satisfy(Pass& pass, const GrowthRequest& request, const KeptPromises& promises) {
    Books& books = pass.books;
    const std::uint32_t running = books.find_running(request.job);
    if (running == books.snapshot().running.size()) return;  // it has ended
    const RunningJob& job = books.snapshot().running[running];
    SizeRange asked;
    asked.size = total(job.held);
    asked.low = asked.size + std::clamp(request.least, 1, request.nodes);
    asked.high = std::min(asked.size + request.nodes, job.elastic.max);
    if (asked.low > asked.high) return books.deny(request, Reason::beyond_maximum);
    if (job.elastic.sizes.largest(asked.low, asked.high) == 0)
        return books.deny(request, Reason::not_allowed_size);
    if (!job.resizable || books.touched(running)) return wait_or_deny(pass, request);
    const Time until = promises.any() ? books.end_of(job) : books.snapshot().now;
    satisfy_within(pass, request, running, asked, until);
}

}  // namespace

void satisfy_evolving_requests(Pass& pass) {
    if (pass.books.snapshot().requests.empty()) return;
    pass.victims.admitted(pass.books, *pass.rng);
    const KeptPromises promises(pass.books);
    for (const GrowthRequest& request : pass.books.snapshot().requests)
        satisfy(pass, request, promises);
}

}  // namespace elastic::core

// SPDX-License-Identifier: MIT
// ExpandRunningMalleableJobs of [lina] algorithm 1: "jobs with the highest
// runtime are chosen for expansion".
//
// Over nodes that nobody can use: free now, and not needed by a reservation before
// the job ends by its estimate, which with more nodes can only come sooner, or, where
// reserved nodes are lent, before it can give them back.  Where
// the cost of the resize eats that up, the job ends later than the reservations
// have been told, so it is left as it is unless there are none.
// Evolving requests that still wait are no obstacle: they wait because these
// nodes do not suffice or are not theirs.
#include <algorithm>

#include "core/pass/choices/choices.hpp"
#include "core/pass/stages/stages.hpp"

namespace elastic::core {
namespace {

bool any_idle(const Outlook& outlook) {
    for (PoolId pool = 0; pool < outlook.pools(); ++pool)
        if (outlook.profile().free_now(pool) > 0) return true;
    return false;
}

// The size to which it can be expanded over nodes that are free until `until`; 0 if it is
// to stay as it is.
int size_on_nodes_until(const Outlook& outlook, const RunningJob& job, Time until) {
    const int room = job.elastic.max - total(job.held);
    const int found = outlook.available(job.eligible, room, until).count;
    const int wanted = choices::expanded_size(outlook, job, found);
    const int size = wanted > 0 ? choices::feasible_expansion(outlook, job, wanted) : 0;
    if (size == 0) return 0;
    const bool is_later = outlook.end_after_resize(job, size) > outlook.end_of(job);
    return is_later && !outlook.falls().empty() ? 0 : size;
}

bool expand_until(Books& books, std::uint32_t running, Time until, Reason reason) {
    const RunningJob& job = books.snapshot().running[running];
    const int size = size_on_nodes_until(books, job, until);
    if (size == 0) return false;
    const PoolCounts more = books.available(job.eligible, size - total(job.held), until).by_pool;
    if (!books.may_grow(running, more)) return false;
    books.expand(running, more, size, reason);
    return true;
}

// Over nodes that it has to give back, if that makes it larger than those it can keep.
bool expand_by_loan(Books& books, std::uint32_t running) {
    const RunningJob& job = books.snapshot().running[running];
    const Time returned = books.returns_at(running);
    if (returned == books.end_of(job) || books.falls().empty()) return false;
    const int kept = size_on_nodes_until(books, job, books.end_of(job));
    const int lent = size_on_nodes_until(books, job, returned);
    return lent > kept && choices::is_worth_lending(books, job, lent) &&
           expand_until(books, running, returned, Reason::lent);
}

void expand(Books& books, std::uint32_t running) {
    const Time end = books.end_of(books.snapshot().running[running]);
    if (!expand_by_loan(books, running)) expand_until(books, running, end, Reason::nobody_can_use);
}

}  // namespace

void expand_running_malleable_jobs(Pass& pass) {
    Books& books = pass.books;
    if (books.index().expandable == 0 || !choices::may_expand(books) || !any_idle(books)) return;
    const std::vector<RunningJob>& running = books.snapshot().running;
    auto& order = pass.expandable;
    order.clear();
    for (std::uint32_t i = 0; i < running.size(); ++i)
        if (total(running[i].held) < running[i].elastic.max && books.may_resize(i))
            order.emplace_back(choices::expand_rank(books, running[i]), running[i].id, i);
    std::sort(order.begin(), order.end());
    for (const auto& [rank, id, job] : order) {
        if (!any_idle(books)) return;
        expand(books, job);
    }
}

}  // namespace elastic::core

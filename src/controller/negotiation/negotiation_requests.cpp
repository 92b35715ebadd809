// SPDX-License-Identifier: MIT
// What an application wants of itself: more nodes, to give some back, to be known to be so far.
//
// Always holds: a job has one operation at a time; a request waits for a planning pass, a release
// needs nobody's leave but that the batch script's node stays and the size that is left is one that
// the job said it can have.
#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "common/hostlist.hpp"
#include "controller/negotiation/negotiation.hpp"

namespace elastic::controller {

using protocol::FailureCode;

// A job asks for one thing at a time, and only while it holds nodes.
bool Negotiation::may_ask(const Job& job, std::int64_t token) {
    if (!job.running) {
        fail(job, token, FailureCode::state, fmt::format("job {} is suspended", job.id));
        return false;
    }
    const Agreement* open = state_.book.of_job(job.id);
    if (!open) return true;
    fail(job, token, FailureCode::state,
         fmt::format("operation {} of job {} is in flight ({}, {})", open->op, job.id,
                     to_string(open->kind), to_string(open->state)));
    return false;
}

Result<void> Negotiation::may_ask_again(Job& job, Time now) const {
    const Duration wait = job.participation.rate_limit.wait(now);
    if (wait <= 0) return {};
    return error(
        "too much was asked for job {} and denied, declined or cancelled; ask again in {:.0f} s",
        job.id, std::ceil(wait));
}

bool Negotiation::on(Job& job, const protocol::Request& request, Time now) {
    if (!job.annotation.evolving) {
        fail(job, request.token, FailureCode::denied,
             fmt::format(
                 "job {} is not evolving: submit it with --elastic=evolving to ask for nodes",
                 job.id));
        return false;
    }
    if (!may_ask(job, request.token)) return false;
    if (auto may = may_ask_again(job, now); !may) {
        fail(job, request.token, FailureCode::limit, may.error().message);
        return false;
    }
    job.participation.grow_after = 0;  // what refused it more nodes may be over
    Agreement agreement;
    agreement.job = job.id;
    agreement.kind = ResizeKind::expand;
    agreement.state = AgreementState::queued;
    agreement.requested = true;
    agreement.nodes = request.nodes;
    agreement.least = std::clamp(request.least, 1, request.nodes);
    agreement.created = now;
    agreement.deadline = now + request.timeout;
    agreement.reason = "asked for by the application";
    Agreement& opened = state_.book.open(std::move(agreement));
    outbox_.note(
        now, journal::Request{job.id, opened.op, ResizeKind::expand, opened.nodes, opened.least});
    tell(job, protocol::Queued{request.token, opened.op});
    return true;
}

Result<std::string> Negotiation::nodes_to_release(const Job& job,
                                                  const protocol::Release& release) const {
    auto held = job.kept_nodes();
    if (!held) return held.error();
    std::vector<std::string> leaving;
    if (!release.node_list.empty()) {
        auto named = expand_hostlist(release.node_list, held->size());
        if (!named) return named.error();
        leaving = *named;
        const std::unordered_set<std::string_view> own(held->begin(), held->end());
        for (const std::string& node : leaving)
            if (!own.contains(node)) return error("job {} does not hold {}", job.id, node);
    } else {
        leaving = last_hosts(*held, job.batch_host, release.nodes);
        if (static_cast<int>(leaving.size()) < release.nodes)
            return error("job {} has {} nodes and cannot give up {}", job.id, job.nodes,
                         release.nodes);
    }
    if (std::find(leaving.begin(), leaving.end(), job.batch_host) != leaving.end())
        return error("job {} cannot give up {}: its batch script runs there", job.id,
                     job.batch_host);
    std::string list = compress_hostlist(leaving);
    int left = job.nodes - static_cast<int>(expand_hostlist(list)->size());
    if (!job.annotation.allows(left))
        return error("job {} would have {} nodes left ({})", job.id, left,
                     core::size_names(job.annotation));
    return list;
}

bool Negotiation::on(Job& job, const protocol::Release& release, Time now) {
    if (!may_ask(job, release.token)) return false;
    auto list = nodes_to_release(job, release);
    if (!list) {
        fail(job, release.token, FailureCode::denied, list.error().message);
        return false;
    }
    Agreement agreement;
    agreement.job = job.id;
    agreement.kind = ResizeKind::shrink;
    agreement.state = AgreementState::released;
    agreement.requested = true;
    agreement.node_list = *list;
    agreement.nodes = static_cast<int>(expand_hostlist(*list)->size());
    agreement.created = now;
    agreement.reason = "given back by the application";
    Agreement& opened = state_.book.open(std::move(agreement));
    outbox_.note(now, journal::Release{job.id, opened.op});
    tell(job, protocol::Queued{release.token, opened.op});
    return true;
}

bool Negotiation::on(Job& job, const protocol::Progress& progress, Time now) {
    job.time.say_progress(now, progress.remaining);
    // Nodes that have come are of no use before the application says that it uses them.
    const Agreement* open = state_.book.of_job(job.id);
    const bool is_spreading =
        open && (open->state == AgreementState::joined || open->state == AgreementState::applied);
    if (!is_spreading) job.scaling.say_progress(now, job.nodes, progress.remaining);
    return false;
}

}  // namespace elastic::controller

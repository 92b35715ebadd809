// SPDX-License-Identifier: MIT
// More nodes are the controller's to give, so the program computes on meanwhile.  Fewer are not: a
// smaller world is made first, and the nodes are released when they are empty.  Whether the job may
// be so small is looked at before, since after it the program would have been resized in vain.
//
// Always holds: at most one request is under way.
#include "selastic-run/requests.hpp"

#include <utility>

#include "common/hostlist.hpp"

namespace elastic::tools {
namespace {

constexpr Duration kAsLongAsItTakes = 1e9;

}  // namespace

Result<void> Requests::ask_for(int nodes, int least) {
    if (elastic_request(job_, nodes, least, kAsLongAsItTakes) < 0)
        return Error{elastic_detail(job_)};
    op_ = 0;
    return {};
}

Result<std::string> Requests::leaving(int nodes) const {
    const int left = elastic_nodes(job_) - nodes;
    if (!elastic_allows(job_, left))
        return error("the job would have {} nodes left (min={}, max={}, sizes={})", left,
                     elastic_min(job_), elastic_max(job_), elastic_sizes(job_));
    const auto names = expand_hostlist(elastic_nodelist(job_));
    if (!names) return Error{"the job's nodes are not known"};
    return compress_hostlist(last_hosts(*names, elastic_batch_host(job_), nodes));
}

void Requests::withdraw() {
    if (op_) elastic_cancel(job_, 0);
}

std::optional<int> Requests::take_put_off() {
    return std::exchange(put_off_, std::nullopt);
}

void Requests::overtaken_by(std::int64_t op) {
    if (op_ && *op_ != op) elastic_cancel(job_, 0);
    op_.reset();
    put_off_.reset();
}

void Requests::queued(const JobEvent& event) {
    if (op_ && event.kind == ELASTIC_EXPAND) op_ = event.op;
}

bool Requests::ended(const JobEvent& event) {
    if (!op_ || event.kind != ELASTIC_EXPAND || (event.op != 0 && event.op != *op_)) return false;
    op_.reset();
    return true;
}

}  // namespace elastic::tools

// SPDX-License-Identifier: MIT
// A release is denied as a whole if one of its nodes has left the job, so it is of those that have
// not.  It is denied too while something else is agreed on, so it is made again: nodes that nobody
// uses must not stay.
#include "selastic-run/nodes.hpp"

#include "common/hostlist.hpp"
#include "common/text.hpp"
#include "program.hpp"
#include "selastic-run/job_step.hpp"

namespace elastic::tools {
namespace {

constexpr Duration kAgain = 2;

}  // namespace

std::vector<std::string> host_names(const std::string& list) {
    const auto names = expand_hostlist(list);
    return names ? *names : std::vector<std::string>();
}

std::string common_hosts(const std::string& one, const std::string& other) {
    return without_hosts(one, without_hosts(one, other));
}

void release_nodes(elastic_handle* job, const std::string& nodes) {
    const std::string held = common_hosts(nodes, elastic_nodelist(job));
    if (held.empty()) return;
    if (elastic_release(job, 0, held.c_str()) < 0)
        note("{} cannot be given back: {}", held, elastic_detail(job));
}

void GivenBack::leave(const std::string& nodes) {
    nodes_ = common_hosts(nodes, elastic_nodelist(job_));
    was_refused_ = false;
    again_at_ = kNever;
}

void GivenBack::give(const std::string& nodes) {
    leave(nodes);
    release_nodes(job_, nodes_);
}

void GivenBack::gone() {
    nodes_ = common_hosts(nodes_, elastic_nodelist(job_));
    if (nodes_.empty()) again_at_ = kNever;
}

void GivenBack::refused(const std::string& reason) {
    if (nodes_.empty()) return;
    if (!was_refused_) note("{} cannot be given back yet: {}", nodes_, printable(reason, 200));
    was_refused_ = true;
    again_at_ = steady_now() + kAgain;
}

void GivenBack::try_again() {
    if (steady_now() < again_at_) return;
    again_at_ = kNever;
    release_nodes(job_, nodes_);
}

}  // namespace elastic::tools

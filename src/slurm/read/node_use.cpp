// SPDX-License-Identifier: GPL-2.0-or-later
// Estimates may lie in the past, of jobs that should have ended: what is in use comes free later
// than now all the same.
#include "slurm/read/node_use.hpp"

#include <cmath>

namespace elastic::slurm {

namespace {

Time after(Time now) {
    return std::nextafter(now, kNever);
}

}  // namespace

NodeUse::NodeUse()
    : shared_until_(index(node_record_count), -1),
      owned_until_(index(node_record_count), -1),
      held_until_(index(node_record_count), -1) {}

void NodeUse::share(bitstr_t* nodes, Time end) {
    for_each_node(nodes, [&](int node) {
        Time& until = shared_until_[index(node)];
        until = std::max(until, end);
    });
}

void NodeUse::hold(bitstr_t* nodes, Time end, bool may_yield) {
    for_each_node(nodes, [&](int node) { held_until_[index(node)] = end; });
    bit_or(held_.get(), nodes);
    if (may_yield) bit_or(yielding_.get(), nodes);
}

void NodeUse::own(const NodeSet& nodes, Time end) {
    nodes.for_each([&](int node) { owned_until_[index(node)] = end; });
}

Time NodeUse::required_from(bitstr_t* required, bool shares, Time now) const {
    Time from = 0;
    for_each_node(required, [&](int node) {
        const bool is_held = held_.has(node) && !yielding_.has(node);
        const bool is_shared = !shares && shared_until_[index(node)] >= 0;
        if (is_held || is_shared) from = std::max({from, until(node), after(now)});
    });
    return from;
}

Time NodeUse::next_coming_free(const NodeSet& nodes, Time now) const {
    Time next = kNever;
    nodes.for_each([&](int node) {
        if (until(node) >= 0) next = std::min(next, std::max(until(node), after(now)));
    });
    return next;
}

}  // namespace elastic::slurm

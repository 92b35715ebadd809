// SPDX-License-Identifier: MIT
#include "core/cluster.hpp"

#include <algorithm>
#include <cassert>

namespace elastic::core {

Cluster::Cluster(int nodes) {
    snapshot_.pools.push_back({"nodes", nodes, nodes});
    snapshot_.eligibilities.push_back({0});
}

void Cluster::arrive(PendingJob&& job) {
    snapshot_.pending.push_back(std::move(job));
}

void Cluster::start(JobId id, int nodes, Time estimated_end) {
    auto& queue = snapshot_.pending;
    const auto job = std::find_if(queue.begin(), queue.end(),
                                  [&](const PendingJob& other) { return other.id == id; });
    assert(job != queue.end() && nodes <= idle());
    RunningJob running;
    running.id = id;
    running.elastic = std::move(job->elastic);
    running.held.assign(1, nodes);
    running.start = running.last_resize = snapshot_.now;
    running.estimated_end = estimated_end;
    running.resizable = true;
    queue.erase(job);
    if (place_.size() <= id) place_.resize(id + 1, UINT32_MAX);
    place_[id] = static_cast<std::uint32_t>(snapshot_.running.size());
    snapshot_.running.push_back(std::move(running));
    snapshot_.pools[0].idle -= nodes;
}

void Cluster::resize(JobId id, int nodes, Time estimated_end) {
    RunningJob& job = snapshot_.running[place_[id]];
    const int more = nodes - job.held[0];
    assert(more <= idle());
    snapshot_.pools[0].idle -= more;
    job.held[0] = nodes;
    job.gain += more;
    if (more > 0) ++job.expansions;
    job.last_resize = snapshot_.now;
    job.estimated_end = estimated_end;
}

void Cluster::set_estimated_end(JobId id, Time end) {
    snapshot_.running[place_[id]].estimated_end = end;
}

void Cluster::end(JobId id) {
    auto& running = snapshot_.running;
    const std::uint32_t place = place_[id];
    snapshot_.pools[0].idle += running[place].held[0];
    place_[id] = UINT32_MAX;
    if (place + 1 != running.size()) {
        running[place] = std::move(running.back());
        place_[running[place].id] = place;
    }
    running.pop_back();
}

bool Cluster::is_running(JobId id) const {
    return id < place_.size() && place_[id] != UINT32_MAX;
}

const RunningJob& Cluster::running(JobId id) const {
    return snapshot_.running[place_[id]];
}

}  // namespace elastic::core

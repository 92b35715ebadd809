// SPDX-License-Identifier: MIT
// A signal reaches a step only when Slurm has it and its tasks run, so it is kept until then: what
// is sent while they are being started is lost, and nobody says so.
//
// Always holds: at most one worker a node.
#include "selastic-run/workers.hpp"

#include <signal.h>

#include <algorithm>

namespace elastic::tools {
namespace {

constexpr Duration kSettling = 1;  // from when Slurm has a step until its tasks can take a signal

}  // namespace

void Workers::start(const Nodes& nodes) {
    for (const std::string& node : nodes)
        if (!workers_.contains(node))
            workers_.emplace(node, Worker{JobStep(options_, options_.program, {node, 1}, -1)});
}

bool Workers::all_seen(const Nodes& nodes) {
    return std::ranges::all_of(nodes, [&](const std::string& node) {
        const auto found = workers_.find(node);
        return found == workers_.end() || found->second.step.seen() < kNever;
    });
}

bool Workers::any_on(const Nodes& nodes) const {
    return std::ranges::any_of(nodes,
                               [&](const std::string& node) { return workers_.contains(node); });
}

void Workers::expect_ends(const Nodes& nodes) {
    for (const std::string& node : nodes)
        if (const auto found = workers_.find(node); found != workers_.end())
            found->second.leaves = true;
}

void Workers::signal(const Nodes& nodes, const std::string& name) {
    expect_ends(nodes);
    for (const std::string& node : nodes)
        if (const auto found = workers_.find(node); found != workers_.end())
            found->second.signal = name;
}

Time Workers::send_signals() {
    Time again = kNever;
    for (auto& [node, worker] : workers_) {
        if (worker.signal.empty()) continue;
        if (worker.signal == "TERM" && steady_now() < worker.step.seen() + kSettling) {
            again = steady_now() + kLook;
            continue;
        }
        if (worker.step.signal(worker.signal)) {
            worker.signal.clear();
            continue;
        }
        if (worker.signal == "KILL") ::kill(worker.step.pid(), SIGTERM);  // srun waits for the step
        again = steady_now() + kLook;
    }
    return again;
}

void Workers::pass_on(int number) const {
    for (const auto& [node, worker] : workers_) ::kill(worker.step.pid(), number);
}

void Workers::ended(pid_t process, int status) {
    const auto found = std::ranges::find_if(
        workers_, [&](const auto& entry) { return entry.second.step.pid() == process; });
    if (found == workers_.end()) return;
    if (!found->second.leaves) status_ = std::max(status_, status);
    workers_.erase(found);
}

}  // namespace elastic::tools

// SPDX-License-Identifier: MIT
// A worker is a step on one node, so a resize starts or ends steps and leaves the others alone. The
// changes of the job's nodes are taken one after the other, each in stages, so that the commands of
// two of them never run at once.
//
// Always holds: at most one worker a node; a node is given back when nothing of ours runs on it, by
// the agreement or, if that is over, by a release; a worker that has ended is not started again.
#include "selastic-run/workers_run.hpp"

#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <map>

#include "common/hostlist.hpp"
#include "common/text.hpp"
#include "program.hpp"
#include "selastic-run/job_loop.hpp"
#include "selastic-run/nodes.hpp"
#include "selastic-run/step.hpp"

namespace elastic::tools {
namespace {

constexpr Duration kLook = 0.1;  // for steps that have been started
// Slurm may look only a second later, then two, whether all of a killed step is gone
// (proctrack/cgroup).
constexpr Duration kToBeKilled = 3;

// How long workers may take to leave by themselves, of the time that a shrink has.
Duration patience(Duration deadline) {
    return std::max(deadline / 2, std::min(0.9 * deadline, deadline - kToBeKilled));
}

struct Worker {
    Step step;
    bool leaves = false;
    std::string signal;  // that it has still to be sent; "": none
};

enum class Stage { kWaiting, kStarting, kCommand, kStopping, kDone };

// Nodes that have come or are to leave.
struct Change {
    std::int64_t op = 0;  // 0: there is no agreement, or none any more
    int kind = 0, from = 0, to = 0;
    std::vector<std::string> nodes;
    Time patient_until = kNever;
    Stage stage = Stage::kWaiting;
    Time begun = 0, command_begun = 0, command_ended = 0;

    std::string node_list() const { return compress_hostlist(nodes); }
};

std::vector<std::string> names(const std::string& list) {
    const auto found = expand_hostlist(list);
    return found ? *found : std::vector<std::string>();
}

class WorkersRun : public JobUser {
  public:
    WorkersRun(elastic_handle* job, const RunOptions& options) : job_(job), options_(options) {}

    int run() {
        start(names(elastic_nodelist(job_)));
        run_loop(job_, *this);
        return status_;
    }

    void on_end(pid_t process, int wait_status) override;
    void on_signal(int number) override;
    void on_time() override;
    Duration wake_after() const override { return wake_at_ - steady_now(); }
    bool over() const override { return over_; }

  private:
    void offered(const JobEvent& event) override;
    void accepted(const JobEvent& event) override;
    void resized(const JobEvent& event) override;
    void ended(const JobEvent& event) override;

    void start(const std::vector<std::string>& nodes);
    void start_command(const std::string& command);
    bool advance(Change& change);
    bool begin(Change& change);
    bool end_command(Change& change);
    bool end_stop(Change& change);
    void lose_patience(Change& change);
    void signal_workers(const Change& change, const std::string& name);
    void send_signals();
    bool all_seen(const Change& change);
    void wake(Time when) { wake_at_ = std::min(wake_at_, when); }

    elastic_handle* job_;
    const RunOptions& options_;
    std::map<std::string, Worker> workers_;  // by node
    std::deque<Change> changes_;             // the first is under way
    pid_t command_ = -1;                     // that runs; -1: none
    Time wake_at_ = kNever;
    int resizes_ = 0;
    bool ending_ = false;  // by a signal: no resizes any more
    bool over_ = false;
    int status_ = 0;
};

void WorkersRun::offered(const JobEvent& event) {
    if (ending_)
        elastic_decline(job_, event.op, "the workers are being stopped");
    else
        elastic_accept(job_, event.op);
}

void WorkersRun::accepted(const JobEvent& event) {
    if (event.kind != ELASTIC_SHRINK) return;
    Change change{event.op, event.kind, event.size + event.nodes, event.size,
                  names(event.node_list)};
    change.patient_until = steady_now() + patience(event.deadline);
    changes_.push_back(std::move(change));
}

void WorkersRun::resized(const JobEvent& event) {
    if (event.kind == ELASTIC_EXPAND) {
        changes_.push_back(
            {event.op, event.kind, event.size - event.nodes, event.size, names(event.node_list)});
        return;
    }
    for (const std::string& node : names(event.node_list))
        if (const auto found = workers_.find(node); found != workers_.end())
            found->second.leaves = true;
    std::erase_if(changes_, [&](const Change& change) {
        return change.op == event.op && change.stage == Stage::kDone;
    });
}

// What is over at its deadline has still stopped workers, or will: then the nodes go back.
void WorkersRun::ended(const JobEvent& event) {
    const auto found = std::find_if(changes_.begin(), changes_.end(), [&](const Change& change) {
        return event.op > 0 && change.op == event.op && change.kind == ELASTIC_SHRINK;
    });
    if (found == changes_.end()) {
        if (event.kind == ELASTIC_SHRINK) note("the nodes stay: {}", printable(event.reason));
        return;
    }
    note("the shrink is over before its time: {}; {} given back all the same",
         printable(event.reason), found->node_list());
    found->op = 0;
    if (found->stage == Stage::kDone) found->stage = Stage::kStopping;
}

void WorkersRun::start(const std::vector<std::string>& nodes) {
    for (const std::string& node : nodes)
        if (!workers_.contains(node))
            workers_.emplace(node,
                             Worker{Step(options_, options_.program, {node, 1}, -1), false, ""});
}

// For the nodes of the change under way.
void WorkersRun::start_command(const std::string& command) {
    if (command.empty()) return;
    set_environment(options_, {elastic_nodelist(job_), elastic_nodes(job_)});
    ::setenv("ELASTIC_NODELIST", changes_.front().node_list().c_str(), 1);
    command_ = start_process({"/bin/sh", "-c", command});
    ::unsetenv("ELASTIC_NODELIST");
}

void WorkersRun::on_time() {
    wake_at_ = kNever;
    while (!changes_.empty() && advance(changes_.front())) {
    }
    send_signals();
    over_ = workers_.empty() && command_ < 0;
}

// Whether there is more to do at once.
bool WorkersRun::advance(Change& change) {
    switch (change.stage) {
        case Stage::kWaiting:
            return begin(change);
        case Stage::kStarting:
            if (!all_seen(change)) return false;
            change.stage = Stage::kCommand;
            change.command_begun = steady_now();
            start_command(options_.join);
            return true;
        case Stage::kCommand:
            lose_patience(change);
            return command_ < 0 && end_command(change);
        case Stage::kStopping:
            lose_patience(change);
            return end_stop(change);
        case Stage::kDone:
            return false;
    }
    return false;
}

bool WorkersRun::begin(Change& change) {
    change.begun = change.command_begun = steady_now();
    if (change.kind == ELASTIC_EXPAND) {
        change.stage = Stage::kStarting;
        if (!ending_) start(change.nodes);
    } else {
        change.stage = Stage::kCommand;
        start_command(options_.leave);
    }
    return true;
}

bool WorkersRun::end_command(Change& change) {
    change.command_ended = steady_now();
    if (change.kind == ELASTIC_EXPAND) {
        note("resize {}: {} -> {} nodes: start {:.2f} s, join {:.2f} s", ++resizes_, change.from,
             change.to, change.command_begun - change.begun,
             change.command_ended - change.command_begun);
        if (change.op > 0) elastic_done(job_, change.op);
        changes_.pop_front();
        return true;
    }
    change.stage = Stage::kStopping;
    signal_workers(change, "TERM");
    return true;
}

bool WorkersRun::end_stop(Change& change) {
    if (std::any_of(change.nodes.begin(), change.nodes.end(),
                    [&](const std::string& node) { return workers_.contains(node); }))
        return false;
    if (change.op == 0) {
        release_nodes(job_, change.node_list());
        changes_.pop_front();
        return true;
    }
    note("resize {}: {} -> {} nodes: leave {:.2f} s, stop {:.2f} s", ++resizes_, change.from,
         change.to, change.command_ended - change.begun, steady_now() - change.command_ended);
    elastic_done(job_, change.op);
    change.stage = Stage::kDone;
    return false;
}

// The command and the workers of a shrink whose time is nearly over.
void WorkersRun::lose_patience(Change& change) {
    if (steady_now() < change.patient_until) return wake(change.patient_until);
    change.patient_until = kNever;
    if (command_ > 0) ::kill(command_, SIGKILL);
    signal_workers(change, "KILL");
}

void WorkersRun::signal_workers(const Change& change, const std::string& name) {
    for (const std::string& node : change.nodes)
        if (const auto found = workers_.find(node); found != workers_.end()) {
            found->second.leaves = true;
            found->second.signal = name;
        }
}

void WorkersRun::send_signals() {
    for (auto& [node, worker] : workers_) {
        if (worker.signal.empty()) continue;
        if (worker.step.signal(worker.signal)) {
            worker.signal.clear();
            continue;
        }
        if (worker.signal == "KILL") ::kill(worker.step.pid(), SIGTERM);  // srun waits for the step
        wake(steady_now() + kLook);
    }
}

bool WorkersRun::all_seen(const Change& change) {
    for (const std::string& node : change.nodes) {
        const auto found = workers_.find(node);
        if (found == workers_.end() || found->second.step.seen() < kNever) continue;
        wake(steady_now() + kLook);
        return false;
    }
    return true;
}

void WorkersRun::on_end(pid_t process, int wait_status) {
    const int status = shell_status(wait_status);
    if (process == command_) {
        command_ = -1;
        if (status != 0) note("the command for a resize has ended with status {}", status);
        return;
    }
    const auto found = std::find_if(workers_.begin(), workers_.end(), [&](const auto& entry) {
        return entry.second.step.pid() == process;
    });
    if (found == workers_.end()) return;
    if (!found->second.leaves) status_ = std::max(status_, status);
    workers_.erase(found);
}

void WorkersRun::on_signal(int number) {
    if (number != SIGUSR1 && number != SIGUSR2) ending_ = true;
    for (const auto& [node, worker] : workers_) ::kill(worker.step.pid(), number);
    if (ending_ && command_ > 0) ::kill(command_, number);
}

}  // namespace

int run_workers(elastic_handle* job, const RunOptions& options) {
    return WorkersRun(job, options).run();
}

}  // namespace elastic::tools

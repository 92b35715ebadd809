// SPDX-License-Identifier: MIT
// A worker is a step on one node, so a resize starts or ends steps and leaves the others alone. The
// changes of the job's nodes are taken one after the other, each in stages, so that the commands of
// two of them never run at once.
//
// A program that has started this one may ask for nodes and give some back (control.hpp); what it
// gives back is a change as any other, without an agreement.
//
// Always holds: at most one worker a node; a node is given back when nothing of ours runs on it, by
// the agreement or, if that is over, by a release; a worker that has ended is not started again.
#include "selastic-run/workers_run.hpp"

#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <deque>

#include "common/hostlist.hpp"
#include "common/text.hpp"
#include "program.hpp"
#include "selastic-run/control.hpp"
#include "selastic-run/elastic_run.hpp"
#include "selastic-run/nodes.hpp"
#include "selastic-run/requests.hpp"
#include "selastic-run/workers.hpp"

namespace elastic::tools {
namespace {

// Slurm may look only a second later, then two, whether all of a killed step is gone
// (proctrack/cgroup).
constexpr Duration kToBeKilled = 3;

// How long workers may take to leave whose nodes nobody waits for.
constexpr Duration kNobodyWaits = 300;

constexpr std::int64_t kMostNodes = 1'000'000;

// How long workers may take to leave by themselves, of the time that a shrink has.
Duration patience(Duration deadline) {
    return std::max(deadline / 2, std::min(0.9 * deadline, deadline - kToBeKilled));
}

// Nodes that have come or are to leave.
struct Change {
    enum class State { kWaiting, kStarting, kCommand, kStopping, kDone };

    std::int64_t op = 0;  // 0: there is no agreement, or none any more
    int kind = 0, from = 0, to = 0;
    std::vector<std::string> nodes;
    Time patient_until = kNever;
    State state = State::kWaiting;
    Time begun = 0, command_begun = 0, command_ended = 0;

    std::string node_list() const { return compress_hostlist(nodes); }
};

class WorkersRun : public ElasticRun {
  public:
    WorkersRun(elastic_handle* job, const RunOptions& options)
        : ElasticRun(job),
          options_(options),
          workers_(options),
          control_(options.control),
          requests_(job),
          given_back_(job) {}

  private:
    void start() override;
    void offered(const JobEvent& event) override;
    void accepted(const JobEvent& event) override;
    void queued(const JobEvent& event) override { requests_.queued(event); }
    void resized(const JobEvent& event) override;
    void ended(const JobEvent& event) override;
    void on_end(pid_t process, int status) override;
    void on_signal(int number) override;
    void look() override;
    int descriptor() const override { return control_.fd(); }

    void take_wishes();
    Result<void> take_wish(const std::string& wish);
    Result<void> give_back(const std::string& node_list);
    void tell_nodes() { control_.tell(fmt::format("nodes {}", elastic_nodelist(job()))); }
    void deny(const std::string& why);
    bool waits_for_command() const { return command_ >= 0 || (asked_to_leave_ && control_.open()); }

    void start_command(const std::string& command);
    bool advance(Change& change);
    bool begin(Change& change);
    bool end_start(Change& change);
    bool end_command(Change& change);
    bool end_stop(Change& change);
    void lose_patience(Change& change);

    const RunOptions& options_;
    Workers workers_;
    Control control_;
    Requests requests_;
    GivenBack given_back_;
    bool asked_to_leave_ = false;  // the program saves what is on nodes that leave
    std::deque<Change> changes_;   // the first is under way
    pid_t command_ = -1;           // that runs; -1: none
    int resizes_ = 0;
};

void WorkersRun::start() {
    workers_.start(host_names(elastic_nodelist(job())));
    tell_nodes();
}

void WorkersRun::offered(const JobEvent& event) {
    if (ending()) return decline(event, "the workers are being stopped");
    accept(event);
}

void WorkersRun::accepted(const JobEvent& event) {
    if (event.kind != ELASTIC_SHRINK) return;
    Change change{event.op, event.kind, event.size + event.nodes, event.size,
                  host_names(event.node_list)};
    change.patient_until = steady_now() + patience(event.deadline);
    changes_.push_back(std::move(change));
}

void WorkersRun::resized(const JobEvent& event) {
    if (event.kind == ELASTIC_EXPAND) {
        requests_.overtaken_by(event.op);
        changes_.push_back({event.op, event.kind, event.size - event.nodes, event.size,
                            host_names(event.node_list)});
        return;
    }
    tell_nodes();
    given_back_.gone();
    workers_.expect_ends(host_names(event.node_list));
    std::erase_if(changes_, [&](const Change& change) {
        return change.op == event.op && change.state == Change::State::kDone;
    });
}

// What is over at its deadline has still stopped workers, or will: then the nodes go back.
void WorkersRun::ended(const JobEvent& event) {
    if (requests_.ended(event)) return deny(event.reason);
    const auto found = std::find_if(changes_.begin(), changes_.end(), [&](const Change& change) {
        return event.op > 0 && change.op == event.op && change.kind == ELASTIC_SHRINK;
    });
    if (found == changes_.end()) {
        if (event.kind != ELASTIC_SHRINK) return;
        if (!given_back_.nodes().empty()) return given_back_.refused(event.reason);
        note("the nodes stay: {}", printable(event.reason));
        return deny(event.reason);
    }
    note("the shrink is over before its time: {}; {} given back all the same",
         printable(event.reason), found->node_list());
    found->op = 0;
    if (found->state == Change::State::kDone) found->state = Change::State::kStopping;
}

void WorkersRun::deny(const std::string& why) {
    control_.tell("denied " + printable(why, 1000));
}

void WorkersRun::take_wishes() {
    for (const std::string& wish : control_.lines())
        if (const auto done = take_wish(wish); !done) deny(done.error().message);
}

Result<void> WorkersRun::take_wish(const std::string& wish) {
    const auto words = split(wish, ' ');
    if (words[0] == "left") asked_to_leave_ = false;
    if (words[0] == "withdraw") requests_.withdraw();
    if (words[0] == "shrink" && words.size() == 2) return give_back(std::string(words[1]));
    if (words[0] != "expand" || words.size() != 3) return {};
    const auto nodes = parse_integer(words[1]), least = parse_integer(words[2]);
    if (!nodes || !least || *nodes < 1 || *nodes > kMostNodes || *least < 1 || *least > *nodes)
        return error("{} is no number of nodes", printable(wish));
    if (requests_.under_way()) return Error{"nodes are asked for already"};
    return requests_.ask_for(static_cast<int>(*nodes), static_cast<int>(*least));
}

Result<void> WorkersRun::give_back(const std::string& node_list) {
    const auto names = host_names(node_list);
    const std::string held = elastic_nodelist(job()), batch_host = elastic_batch_host(job());
    const auto left = host_names(without_hosts(held, node_list));
    if (!elastic_evolving(job())) return Error{"the job is not evolving"};
    if (names.empty() || !host_names(without_hosts(node_list, held)).empty())
        return error("{} are not nodes of the job", printable(node_list));
    if (std::ranges::find(names, batch_host) != names.end())
        return error("{} has the batch script", printable(batch_host));
    if (!elastic_allows(job(), static_cast<int>(left.size())))
        return error("the job may not have {} nodes", left.size());
    Change change{0, ELASTIC_SHRINK, elastic_nodes(job()), static_cast<int>(left.size()), names};
    change.patient_until = steady_now() + kNobodyWaits;
    changes_.push_back(std::move(change));
    return {};
}

// For the nodes of the change under way.
void WorkersRun::start_command(const std::string& command) {
    if (command.empty()) return;
    set_environment(options_, {elastic_nodelist(job()), elastic_nodes(job())});
    ::setenv("ELASTIC_NODELIST", changes_.front().node_list().c_str(), 1);
    command_ = start_process({"/bin/sh", "-c", command});
    ::unsetenv("ELASTIC_NODELIST");
}

void WorkersRun::look() {
    take_wishes();
    given_back_.try_again();
    wake(given_back_.again_at());
    while (!changes_.empty() && advance(changes_.front())) {
    }
    wake(workers_.send_signals());
    if (workers_.empty() && command_ < 0) finish(workers_.status());
}

// Whether there is more to do at once.
bool WorkersRun::advance(Change& change) {
    switch (change.state) {
        case Change::State::kWaiting:
            return begin(change);
        case Change::State::kStarting:
            return end_start(change);
        case Change::State::kCommand:
            lose_patience(change);
            return !waits_for_command() && end_command(change);
        case Change::State::kStopping:
            lose_patience(change);
            return end_stop(change);
        case Change::State::kDone:
            return false;
    }
    return false;
}

bool WorkersRun::begin(Change& change) {
    change.begun = change.command_begun = steady_now();
    if (change.kind == ELASTIC_EXPAND) {
        change.state = Change::State::kStarting;
        if (!ending()) workers_.start(change.nodes);
    } else {
        change.state = Change::State::kCommand;
        asked_to_leave_ = true;
        control_.tell("leave " + change.node_list());
        start_command(options_.leave);
    }
    return true;
}

bool WorkersRun::end_start(Change& change) {
    if (!workers_.all_seen(change.nodes)) {
        wake(steady_now() + Workers::kLook);
        return false;
    }
    change.state = Change::State::kCommand;
    change.command_begun = steady_now();
    start_command(options_.join);
    return true;
}

bool WorkersRun::end_command(Change& change) {
    change.command_ended = steady_now();
    asked_to_leave_ = false;
    if (change.kind == ELASTIC_EXPAND) {
        note("resize {}: {} -> {} nodes: start {:.2f} s, join {:.2f} s", ++resizes_, change.from,
             change.to, change.command_begun - change.begun,
             change.command_ended - change.command_begun);
        if (change.op > 0) elastic_done(job(), change.op);
        tell_nodes();  // no sooner: while it is not done nothing else is agreed on
        changes_.pop_front();
        return true;
    }
    change.state = Change::State::kStopping;
    workers_.signal(change.nodes, "TERM");
    return true;
}

bool WorkersRun::end_stop(Change& change) {
    if (workers_.any_on(change.nodes)) return false;
    if (change.op == 0) {
        const std::string before = given_back_.nodes();
        given_back_.give(before + (before.empty() ? "" : ",") + change.node_list());
        changes_.pop_front();
        return true;
    }
    note("resize {}: {} -> {} nodes: leave {:.2f} s, stop {:.2f} s", ++resizes_, change.from,
         change.to, change.command_ended - change.begun, steady_now() - change.command_ended);
    elastic_done(job(), change.op);
    change.state = Change::State::kDone;
    return false;
}

// The command and the workers of a shrink whose time is nearly over.
void WorkersRun::lose_patience(Change& change) {
    if (steady_now() < change.patient_until) return wake(change.patient_until);
    change.patient_until = kNever;
    asked_to_leave_ = false;
    if (command_ > 0) ::kill(command_, SIGKILL);
    workers_.signal(change.nodes, "KILL");
}

void WorkersRun::on_end(pid_t process, int status) {
    if (process != command_) return workers_.ended(process, status);
    command_ = -1;
    if (status != 0) note("the command for a resize has ended with status {}", status);
}

void WorkersRun::on_signal(int number) {
    workers_.pass_on(number);
    if (ending() && command_ > 0) ::kill(command_, number);
}

}  // namespace

int run_workers(elastic_handle* job, const RunOptions& options) {
    return WorkersRun(job, options).run();
}

}  // namespace elastic::tools

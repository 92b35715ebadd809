// SPDX-License-Identifier: MIT
// A program with restart files knows nothing of its job, so a resize is a stop and a start.  A
// shrink is accepted first, since it is its acceptance that gives time to stop; for an expansion
// the program goes on until the nodes are there.  After a stop it starts at once on the nodes that
// stay: those that leave need not have left, which may take as long as others need for theirs.
//
// Always holds: at most one step runs; the program is stopped only to run on other nodes than it
// does; the nodes of a shrink are given back as soon as nothing of ours runs on them, by the
// agreement or, if that is over, by a release.
#include "selastic-run/checkpoint_run.hpp"

#include <signal.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "common/hostlist.hpp"
#include "common/text.hpp"
#include "program.hpp"
#include "selastic-run/elastic_run.hpp"
#include "selastic-run/job_step.hpp"
#include "selastic-run/nodes.hpp"
#include "selastic-run/program_settings.hpp"
#include "selastic-run/stopping.hpp"

namespace elastic::tools {
namespace {

constexpr Duration kFirstLook = 0.1;  // for a step that has been started
constexpr Duration kSettling = 1;     // from a step's start until its program can take a signal
constexpr Duration kEarly = 30;       // a program that dies in it has died of its start

// What the controller and we have agreed on.
struct Agreed {
    std::int64_t op = 0;
    int kind = 0;
    std::string nodes;     // those that leave, or have come
    bool applied = false;  // an expansion: they are there
    bool done = false;     // a shrink: they are empty
};

// One line for people.
struct Report {
    int from = 0;
    Duration negotiation = 0, stop = 0;
};

class CheckpointRun : public ElasticRun {
  public:
    CheckpointRun(elastic_handle* job, const RunOptions& options, Words restart)
        : ElasticRun(job), options_(options), restart_(std::move(restart)), stopping_(options_) {}

  private:
    void start() override;
    void offered(const JobEvent& event) override;
    void accepted(const JobEvent& event) override;
    void resized(const JobEvent& event) override;
    void ended(const JobEvent& event) override;
    void on_end(pid_t process, int status) override;
    void on_signal(int number) override;
    void look() override;

    StepPlace place() const;
    void stop();
    void look_for_step(Time now);
    void give_up_stop();
    void restart();
    bool may_start_again(int status);
    void end(int status);
    void confirm();
    void report();

    RunOptions options_;
    const Words restart_;
    Stopping stopping_;
    std::unique_ptr<JobStep> step_;
    std::int64_t last_step_ = -1;
    Time next_look_ = kNever;  // for the step
    std::optional<Agreed> agreement_;
    std::string leaving_;  // nodes that are to be given back when the step has ended
    Report report_;
    std::optional<Report> due_;  // of the step that Slurm is to have first
    int resizes_ = 0;
    bool is_restart_ = false;  // the step was started by us after a resize
    bool tried_again_ = false;
    bool lost_nodes_ = false;  // some of the step's have left
};

void CheckpointRun::offered(const JobEvent& event) {
    const bool expands = event.type == ELASTIC_EVENT_OFFER_EXPAND;
    if (ending() || (expands && stopping_.under_way()))
        return decline(event, "the program is being stopped");
    accept(event);
}

void CheckpointRun::accepted(const JobEvent& event) {
    agreement_ = Agreed{event.op, event.kind, event.node_list};
    if (event.kind != ELASTIC_SHRINK) return;
    report_.negotiation = negotiated();
    leaving_ = event.node_list;
    stop();
}

void CheckpointRun::resized(const JobEvent& event) {
    const bool ours = agreement_ && agreement_->op == event.op;
    if (event.kind == ELASTIC_EXPAND) {
        agreement_ = Agreed{event.op, event.kind, event.node_list, true};
        report_.negotiation = ours ? negotiated() : 0;
        stop();
        return;
    }
    leaving_ = common_hosts(leaving_, elastic_nodelist(job()));
    if (step_ && !common_hosts(step_->place().node_list, event.node_list).empty())
        lost_nodes_ = true;
    if (ours) agreement_.reset();
}

// What is over at its deadline has still stopped the program, or will: then the nodes go back.
void CheckpointRun::ended(const JobEvent& event) {
    if (!agreement_ || agreement_->op != event.op) {
        if (event.kind == ELASTIC_SHRINK) note("the nodes stay: {}", printable(event.reason));
        return;
    }
    const Agreed agreement = *agreement_;
    agreement_.reset();
    if (agreement.kind != ELASTIC_SHRINK) return;
    note("the shrink is over before its time: {}; {} given back {}", printable(event.reason),
         agreement.nodes, agreement.done ? "all the same" : "when the program has stopped");
    if (agreement.done) release_nodes(job(), agreement.nodes);
}

StepPlace CheckpointRun::place() const {
    return place_on(without_hosts(elastic_nodelist(job()), leaving_));
}

void CheckpointRun::start() {
    stopping_.remove_file();
    const bool resumes = is_restart_ && stopping_.has_checkpoint();
    stopping_.program_starts();
    options_.goes_on = is_restart_;
    step_ = std::make_unique<JobStep>(options_, resumes ? restart_ : options_.program, place(),
                                      last_step_);
    next_look_ = step_->began() + kFirstLook;
    lost_nodes_ = false;
}

void CheckpointRun::stop() {
    if (!step_ || stopping_.under_way() || step_->place().node_list == place().node_list) return;
    const Time now = steady_now();
    stopping_.begin(now);
    report_.from = step_->place().nodes;
    next_look_ = std::min(next_look_, now);
}

// It goes on as it is; a shrink is over at its deadline, and an expansion now.
void CheckpointRun::give_up_stop() {
    stopping_.lose_patience();
    note("the program has not stopped within {:g} s and goes on", options_.stop_seconds);
    if (!agreement_ || !agreement_->applied) return;
    leaving_ = without_hosts(elastic_nodelist(job()), step_->place().node_list);
    confirm();
    release_nodes(job(), leaving_);
}

void CheckpointRun::look() {
    const Time now = steady_now();
    if (step_ && now >= next_look_) look_for_step(now);
    if (step_ && now >= stopping_.patient_until()) give_up_stop();
    wake(std::min(next_look_, stopping_.patient_until()));
}

// Until Slurm has the step, and until its program has been told to stop if it is to.
void CheckpointRun::look_for_step(Time now) {
    const Time seen = step_->seen();
    next_look_ = seen < kNever ? kNever : now + kFirstLook;
    if (seen == kNever) return;
    last_step_ = step_->number();
    if (due_) report();
    if (stopping_.is_to_be_sent() && now >= seen + kSettling)
        stopping_.send([&](const std::string& signal) { return step_->signal(signal); });
    if (stopping_.is_to_be_sent()) next_look_ = std::max(now + kFirstLook, seen + kSettling);
}

void CheckpointRun::on_signal(int number) {
    if (step_) ::kill(step_->pid(), number);
}

// A program that died in a resize, of its stop, of its start, or since its nodes went.
bool CheckpointRun::may_start_again(int status) {
    const bool of_start =
        is_restart_ && steady_now() - step_->began() < kEarly && !stopping_.checkpoint_changed();
    const bool of_resize = stopping_.under_way() || lost_nodes_ || of_start;
    if (status == 0 || ending() || tried_again_ || !of_resize) return false;
    tried_again_ = true;
    note("the program has died in a resize with status {}: it is started again", status);
    return true;
}

void CheckpointRun::on_end(pid_t process, int status) {
    if (!step_ || process != step_->pid()) return;
    const bool as_wanted = stopping_.has_worked(status) && !ending();
    if (as_wanted) tried_again_ = false;
    if (!as_wanted && !may_start_again(status)) return end(status);
    restart();
}

void CheckpointRun::restart() {
    if (stopping_.under_way()) {
        report_.stop = stopping_.end(steady_now());
        due_ = report_;
    }
    step_.reset();
    is_restart_ = true;
    start();
    confirm();
}

// Nothing of ours runs on nodes that leave, and something will on those that have come.
void CheckpointRun::confirm() {
    if (!agreement_) {
        if (!leaving_.empty()) release_nodes(job(), leaving_);
    } else if (agreement_->kind == ELASTIC_SHRINK) {
        elastic_done(job(), agreement_->op);
        agreement_->done = true;
    } else if (agreement_->applied) {
        if (agreement_->op > 0) elastic_done(job(), agreement_->op);
        agreement_.reset();
    }
}

void CheckpointRun::end(int status) {
    finish(status);
    step_.reset();
    stopping_.remove_file();
    confirm();
}

void CheckpointRun::report() {
    const int to = step_->place().nodes;
    note("resize {}: {} -> {} nodes: negotiation {:.2f} s, stop {:.2f} s, start {:.2f} s",
         ++resizes_, due_->from, to, due_->negotiation, due_->stop, step_->seen() - step_->began());
    due_.reset();
}

}  // namespace

int run_with_checkpoints(elastic_handle* job, const RunOptions& options) {
    const auto restart = restart_words(options);
    if (!restart) return fail(restart.error());
    return CheckpointRun(job, options, *restart).run();
}

}  // namespace elastic::tools

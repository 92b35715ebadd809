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

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <tuple>

#include "common/hostlist.hpp"
#include "common/text.hpp"
#include "program.hpp"
#include "selastic-run/job_loop.hpp"
#include "selastic-run/nodes.hpp"
#include "selastic-run/profile.hpp"
#include "selastic-run/step.hpp"

namespace elastic::tools {
namespace {

constexpr Duration kFirstLook = 0.1;  // for a step that has been started
constexpr Duration kSettling = 1;     // from a step's start until its program can take a signal
constexpr Duration kEarly = 30;       // a program that dies in it has died of its start

std::set<std::string> names(const std::string& list) {
    const auto found = expand_hostlist(list);
    return found ? std::set<std::string>(found->begin(), found->end()) : std::set<std::string>();
}

// A file's identity and age: another one, or one that was written meanwhile, is unequal.
using FileState = std::tuple<ino_t, off_t, std::int64_t, std::int64_t>;

std::optional<FileState> state_of(const std::string& path) {
    struct stat found {};
    if (path.empty() || ::stat(path.c_str(), &found) != 0) return std::nullopt;
    return FileState(found.st_ino, found.st_size, found.st_mtim.tv_sec, found.st_mtim.tv_nsec);
}

// What the controller and we have agreed on.
struct Agreement {
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

class CheckpointRun : public JobUser {
  public:
    CheckpointRun(elastic_handle* job, const RunOptions& options, Words restart)
        : job_(job), options_(options), restart_(std::move(restart)) {}

    int run() {
        remove_stop_file();
        start();
        run_loop(job_, *this);
        return status_;
    }

    void on_end(pid_t process, int wait_status) override;
    void on_signal(int number) override;
    void on_time() override;
    Duration wake_after() const override;
    bool over() const override { return over_; }

  private:
    void offered(const JobEvent& event) override;
    void accepted(const JobEvent& event) override;
    void resized(const JobEvent& event) override;
    void ended(const JobEvent& event) override;

    StepPlace place() const;
    void start();
    void stop();
    void send_stop();
    void give_up_stop();
    void stopped();
    bool is_stopped(int status) const;
    bool may_start_again(int status);
    void finish(int status);
    void confirm();
    void report();
    void remove_stop_file() const {
        if (!options_.stop_file.empty()) ::unlink(options_.stop_file.c_str());
    }
    bool stopping() const { return stop_begun_ < kNever; }

    elastic_handle* job_;
    RunOptions options_;
    Words restart_;
    std::unique_ptr<Step> step_;
    std::int64_t last_step_ = -1;
    Time next_look_ = kNever;  // for the step
    std::optional<Agreement> agreement_;
    std::string leaving_;  // nodes that are to be given back when the step has ended
    Report report_;
    std::optional<Report> due_;  // of the step that Slurm is to have first
    Time offered_at_ = 0;
    int resizes_ = 0;

    Time stop_begun_ = kNever, stop_ends_ = kNever;
    bool stop_tried_ = false, stop_sent_ = false;  // may have been heard, was
    std::optional<FileState>
        checkpoint_;           // as it was when the program was started, or told to stop
    bool is_restart_ = false;  // the step was started by us after a resize
    bool tried_again_ = false;
    bool lost_nodes_ = false;  // some of the step's have left
    bool ending_ = false;      // by a signal: no resizes any more
    bool over_ = false;
    int status_ = 0;
};

void CheckpointRun::offered(const JobEvent& event) {
    const bool expands = event.type == ELASTIC_EVENT_OFFER_EXPAND;
    if (ending_ || (expands && stopping())) {
        elastic_decline(job_, event.op, "the program is being stopped");
        return;
    }
    offered_at_ = steady_now();
    elastic_accept(job_, event.op);
}

void CheckpointRun::accepted(const JobEvent& event) {
    agreement_ = Agreement{event.op, event.kind, event.node_list};
    if (event.kind != ELASTIC_SHRINK) return;
    report_.negotiation = offered_at_ > 0 ? steady_now() - offered_at_ : 0;
    leaving_ = event.node_list;
    stop();
}

void CheckpointRun::resized(const JobEvent& event) {
    const bool ours = agreement_ && agreement_->op == event.op;
    if (event.kind == ELASTIC_EXPAND) {
        agreement_ = Agreement{event.op, event.kind, event.node_list, true};
        report_.negotiation = ours && offered_at_ > 0 ? steady_now() - offered_at_ : 0;
        stop();
        return;
    }
    leaving_ = common_hosts(leaving_, elastic_nodelist(job_));
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
    const Agreement agreement = *agreement_;
    agreement_.reset();
    if (agreement.kind != ELASTIC_SHRINK) return;
    note("the shrink is over before its time: {}; {} given back {}", printable(event.reason),
         agreement.nodes, agreement.done ? "all the same" : "when the program has stopped");
    if (agreement.done) release_nodes(job_, agreement.nodes);
}

StepPlace CheckpointRun::place() const {
    StepPlace place{without_hosts(elastic_nodelist(job_), leaving_), elastic_nodes(job_)};
    if (const auto kept = names(place.node_list); !kept.empty())
        place.nodes = static_cast<int>(kept.size());
    return place;
}

void CheckpointRun::start() {
    const bool resumes =
        is_restart_ && (options_.checkpoint.empty() || state_of(options_.checkpoint));
    checkpoint_ = state_of(options_.checkpoint);
    options_.goes_on = is_restart_;
    step_ = std::make_unique<Step>(options_, resumes ? restart_ : options_.program, place(),
                                   last_step_);
    next_look_ = step_->began() + kFirstLook;
    lost_nodes_ = false;
}

void CheckpointRun::stop() {
    if (!step_ || stopping() || step_->place().node_list == place().node_list) return;
    stop_begun_ = steady_now();
    stop_ends_ = stop_begun_ + options_.stop_seconds;
    stop_tried_ = stop_sent_ = false;
    report_.from = step_->place().nodes;
    next_look_ = std::min(next_look_, stop_begun_);
}

void CheckpointRun::send_stop() {
    if (!stop_tried_) checkpoint_ = state_of(options_.checkpoint);
    stop_tried_ = true;
    if (!options_.stop_file.empty()) {
        const int fd = ::open(options_.stop_file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
        if (fd >= 0) ::close(fd);
        stop_sent_ = fd >= 0;
    }
    if (!options_.stop_signal.empty()) stop_sent_ = step_->signal(options_.stop_signal);
}

// It goes on as it is; a shrink is over at its deadline, and an expansion now.
void CheckpointRun::give_up_stop() {
    stop_ends_ = kNever;
    note("the program has not stopped within {:g} s and goes on", options_.stop_seconds);
    if (!agreement_ || !agreement_->applied) return;
    leaving_ = without_hosts(elastic_nodelist(job_), step_->place().node_list);
    confirm();
    release_nodes(job_, leaving_);
}

void CheckpointRun::on_time() {
    const Time now = steady_now();
    if (step_ && now >= next_look_) {
        const Time seen = step_->seen();
        next_look_ = seen < kNever ? kNever : now + kFirstLook;
        if (seen < kNever) {
            last_step_ = step_->number();
            if (due_) report();
            if (stopping() && !stop_sent_ && now >= seen + kSettling) send_stop();
            if (stopping() && !stop_sent_)
                next_look_ = std::max(now + kFirstLook, seen + kSettling);
        }
    }
    if (step_ && now >= stop_ends_) give_up_stop();
}

Duration CheckpointRun::wake_after() const {
    return std::min(next_look_, stop_ends_) - steady_now();
}

void CheckpointRun::on_signal(int number) {
    if (number != SIGUSR1 && number != SIGUSR2) ending_ = true;
    if (step_) ::kill(step_->pid(), number);
}

bool CheckpointRun::is_stopped(int status) const {
    if (!stopping() || !stop_tried_) return false;
    if (options_.stopped_status >= 0) return status == options_.stopped_status;
    return options_.checkpoint.empty() || state_of(options_.checkpoint) != checkpoint_;
}

// A program that died in a resize, of its stop, of its start, or since its nodes went.
bool CheckpointRun::may_start_again(int status) {
    const bool of_start = is_restart_ && steady_now() - step_->began() < kEarly &&
                          state_of(options_.checkpoint) == checkpoint_;
    if (status == 0 || ending_ || tried_again_ || !(stopping() || lost_nodes_ || of_start))
        return false;
    tried_again_ = true;
    note("the program has died in a resize with status {}: it is started again", status);
    return true;
}

void CheckpointRun::on_end(pid_t process, int wait_status) {
    if (!step_ || process != step_->pid()) return;
    const int status = shell_status(wait_status);
    const bool as_wanted = is_stopped(status) && !ending_;
    if (as_wanted) tried_again_ = false;
    if (!as_wanted && !may_start_again(status)) return finish(status);
    stopped();
}

void CheckpointRun::stopped() {
    if (stopping()) {
        report_.stop = steady_now() - stop_begun_;
        due_ = report_;
    }
    stop_begun_ = stop_ends_ = kNever;
    step_.reset();
    remove_stop_file();
    is_restart_ = true;
    start();
    confirm();
}

// Nothing of ours runs on nodes that leave, and something will on those that have come.
void CheckpointRun::confirm() {
    if (!agreement_) {
        if (!leaving_.empty()) release_nodes(job_, leaving_);
    } else if (agreement_->kind == ELASTIC_SHRINK) {
        elastic_done(job_, agreement_->op);
        agreement_->done = true;
    } else if (agreement_->applied) {
        if (agreement_->op > 0) elastic_done(job_, agreement_->op);
        agreement_.reset();
    }
}

void CheckpointRun::finish(int status) {
    status_ = status;
    over_ = true;
    step_.reset();
    remove_stop_file();
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

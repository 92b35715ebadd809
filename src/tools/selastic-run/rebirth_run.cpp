// SPDX-License-Identifier: MIT
// A program with libelastic-mpi leaves its data in shared memory and is started again as a new
// world.  That is started beside the one which computes, and is ready before it takes over; where
// that does not work or is not wanted, one after the other.
//
// A program may ask for nodes, or to leave some.  Nodes that come while it is being resized wait
// for the end of that, and become a resize of their own.
//
// Always holds: one world computes; the old one leaves when the new one has confirmed that it has
// everything, and goes on if it does not come to that; nodes are given back when nothing of ours
// runs on them, by the agreement or, if that is over, by a release; at the end nothing is left in
// shared memory.  Where we are killed, the epilog of spank_elastic frees it.
#include "selastic-run/rebirth_run.hpp"

#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include "common/hostlist.hpp"
#include "common/text.hpp"
#include "program.hpp"
#include "runtime/channel.hpp"
#include "runtime/store.hpp"
#include "selastic-run/job_loop.hpp"
#include "selastic-run/listener.hpp"
#include "selastic-run/nodes.hpp"
#include "selastic-run/step.hpp"

namespace elastic::tools {
namespace {

using runtime::Message;
using runtime::Verb;

constexpr Duration kBesides = 20;  // within which a world starts beside another, or it never does
constexpr int kAttempts = 2;       // of a world to be born
constexpr Duration kAsLongAsItTakes = 1e9;
constexpr int kNobody = -1;

// The processes of one start of the program.
struct World {
    std::unique_ptr<Step> step;
    int connection = kNobody;  // of its process 0, once that has said hello
    int attempt = 0;
    Time greeted = kNever;  // when it did
};

enum class Stage {
    kSteady,      // nothing is to be done
    kStarting,    // a world starts beside the one that computes
    kEvacuating,  // that one is to leave a checkpoint when it can
    kLeaving,     // it is to end before the next one starts
    kRestoring,   // the next one is to confirm
    kEnding,      // the old one is to end
};

struct Resize {
    std::int64_t op = 0;             // 0: there is no agreement, or none any more
    int kind = 0, from = 0, to = 0;  // nodes
    std::string leaving = {};        // nodes
    bool beside = true;              // the new world starts before the old one has left
    Duration negotiation = 0, start = 0, stop = 0;
    Time asked = 0, checkpointed = 0, told_to_leave = 0, ended = 0;
    runtime::Phases phases = {};
    Duration pause = 0;
};

class RebirthRun : public JobUser {
  public:
    RebirthRun(elastic_handle* job, const RunOptions& options)
        : job_(job), options_(rebirth_options(options)), id_(runtime::new_run_id()) {}

    int run() {
        start(world_, {elastic_nodelist(job_), elastic_nodes(job_)});
        run_loop(job_, *this);
        return status_;
    }

    void on_end(pid_t process, int wait_status) override;
    void on_signal(int number) override;
    void on_time() override;
    Duration wake_after() const override { return patient_until_ - steady_now(); }
    bool over() const override { return over_; }
    int descriptor() const override { return listener_.fd(); }

  private:
    void offered(const JobEvent& event) override;
    void accepted(const JobEvent& event) override;
    void queued(const JobEvent& event) override;
    void resized(const JobEvent& event) override;
    void ended(const JobEvent& event) override;

    void start(World& world, const StepPlace& place);
    void start_next();
    void begin(const JobEvent& event);
    StepPlace target() const;
    void tell(const World& world, Verb verb) { listener_.send(world.connection, {.word = verb}); }
    void received(int from, const Message& message);
    void requested(int change);
    void ask_for(int nodes);
    void give(int nodes);
    void answer(const std::string& why);
    void next_resize();
    void give_back(const std::string& nodes);
    void greeted(int from, const Message& message);
    void refuse_world(int from, World& world, const Message& message);
    void ask_for_checkpoint();
    void checkpointed(const Message& message);
    void confirmed(const Message& message);
    void next_died(int status);
    void give_up(const std::string& why);
    void kill(World& world);
    void complete();
    void report();
    void clean(const std::string& nodes);
    void finish(int status);

    elastic_handle* job_;
    RunOptions options_;
    const std::string id_;
    Listener listener_;
    World world_, next_, old_;
    std::int64_t generation_ = 0;  // of the newest world
    Stage stage_ = Stage::kSteady;
    std::optional<Resize> resize_;
    std::int64_t promised_ = 0;            // the offer that was accepted and is to come; 0: none
    std::optional<std::int64_t> request_;  // the op of what the program asks for, 0: not known yet
    std::string given_back_;               // nodes, of which the job may still have some
    std::optional<int> wish_;              // what it asks for when the resize is over
    std::optional<JobEvent> granted_;      // nodes that wait for the end of another resize
    std::string spill_ = "/tmp";
    Time offered_at_ = 0, patient_until_ = kNever;
    bool closed_ = false;       // nothing is left in shared memory
    std::optional<int> ended_;  // with this status, but the world before it has not
    bool ending_ = false;       // by a signal: no resizes any more
    bool over_ = false;
    int resizes_ = 0, status_ = 0;
};

void RebirthRun::offered(const JobEvent& event) {
    const char* why = nullptr;
    if (world_.connection == kNobody) why = "the program has not opened libelastic-mpi";
    if (stage_ != Stage::kSteady) why = "the program is being resized";
    if (ending_ || closed_) why = "the program ends";
    if (why) {
        elastic_decline(job_, event.op, why);
        return;
    }
    offered_at_ = steady_now();
    if (elastic_accept(job_, event.op) == ELASTIC_OK) promised_ = event.op;
}

void RebirthRun::accepted(const JobEvent& event) {
    if (event.kind == ELASTIC_SHRINK) begin(event);
}

void RebirthRun::queued(const JobEvent& event) {
    if (request_ && event.kind == ELASTIC_EXPAND) request_ = event.op;
}

void RebirthRun::resized(const JobEvent& event) {
    if (event.kind == ELASTIC_SHRINK) given_back_.clear();
    if (event.kind != ELASTIC_EXPAND || ending_) return;
    if (stage_ == Stage::kSteady) return begin(event);
    granted_ = event;
}

// The shrink is over, but the program may be about to leave the nodes: they go back all the same.
void RebirthRun::ended(const JobEvent& event) {
    if (request_ && event.kind == ELASTIC_EXPAND && (event.op == 0 || event.op == *request_)) {
        request_.reset();
        return answer(event.reason);
    }
    if (promised_ > 0 && event.op == promised_) {
        promised_ = 0;
        return next_resize();
    }
    if (!resize_ || resize_->op != event.op) return;
    note("the agreement is over before the resize: {}", printable(event.reason));
    resize_->op = 0;
}

StepPlace RebirthRun::target() const {
    std::string nodes = without_hosts(elastic_nodelist(job_), resize_->leaving);
    if (granted_) nodes = without_hosts(nodes, granted_->node_list);
    const auto names = expand_hostlist(nodes);
    return {nodes,
            names && !names->empty() ? static_cast<int>(names->size()) : elastic_nodes(job_)};
}

void RebirthRun::start(World& world, const StepPlace& place) {
    const runtime::Meeting meeting{listener_.port(), id_, listener_.secret(), generation_,
                                   world.attempt};
    ::setenv(runtime::kMeetingVariable, runtime::to_string(meeting).c_str(), 1);
    options_.birth = generation_ > 0 ? fmt::format("+{}.{}", generation_, world.attempt) : "";
    world.connection = kNobody;
    world.greeted = kNever;
    world.step = std::make_unique<Step>(options_, options_.program, place, -1);
}

void RebirthRun::start_next() {
    ++next_.attempt;
    start(next_, target());
    if (stage_ == Stage::kStarting) patient_until_ = next_.step->began() + kBesides;
}

void RebirthRun::begin(const JobEvent& event) {
    resize_ = Resize{.op = event.op, .kind = event.kind, .from = world_.step->place().nodes};
    if (event.kind == ELASTIC_SHRINK) resize_->leaving = event.node_list;
    if (request_ && *request_ != event.op) elastic_cancel(job_, 0);
    request_.reset();
    wish_.reset();
    promised_ = 0;
    if (offered_at_ > 0) resize_->negotiation = steady_now() - offered_at_;
    ++generation_;
    next_ = {};
    resize_->beside = !options_.stop_first;
    if (!resize_->beside) return ask_for_checkpoint();
    stage_ = Stage::kStarting;
    start_next();
}

void RebirthRun::on_time() {
    for (const auto& [from, message] : listener_.receive()) received(from, message);
    if (steady_now() < patient_until_) return;
    if (ended_) return finish(*ended_);
    if (stage_ != Stage::kStarting) return;
    note("no world starts beside the other within {:g} s: one after the other", kBesides);
    resize_->beside = false;
    kill(next_);
    ask_for_checkpoint();
}

void RebirthRun::received(int from, const Message& message) {
    if (message.word == Verb::hello) return greeted(from, message);
    if (message.word == Verb::closed && from == world_.connection) closed_ = true;
    if (message.word == Verb::checkpointed && from == world_.connection) checkpointed(message);
    if (message.word == Verb::refused && from == world_.connection) give_up(message.reason);
    if (message.word == Verb::refused && from == next_.connection)
        note("the new world has not all it needs: {}", printable(message.reason, 200));
    if (message.word == Verb::confirmed && from == next_.connection) confirmed(message);
    if (message.word == Verb::request && from == world_.connection) requested(message.change);
}

// While the program is being resized it gets no answer: the resize is one, and what it waits for in
// that must not be taken for another.  A new world may ask before the old one has ended.
void RebirthRun::requested(int change) {
    if (stage_ == Stage::kEnding || promised_ > 0) wish_ = change;
    if (stage_ != Stage::kSteady || promised_ > 0 || ending_) return;
    offered_at_ = steady_now();
    if (change > 0) return ask_for(change);
    if (change < 0) return give(-change);
    if (request_) elastic_cancel(job_, 0);
}

void RebirthRun::ask_for(int nodes) {
    if (elastic_request(job_, nodes, nodes, kAsLongAsItTakes) < 0)
        return answer(elastic_detail(job_));
    request_ = 0;
}

void RebirthRun::give(int nodes) {
    if (elastic_nodes(job_) - nodes < std::max(1, elastic_min(job_)))
        return answer(fmt::format("the job has at least {} nodes", elastic_min(job_)));
    const auto names = expand_hostlist(elastic_nodelist(job_));
    if (!names) return answer("the job's nodes are not known");
    JobEvent shrink{};
    shrink.kind = ELASTIC_SHRINK;
    shrink.node_list = compress_hostlist(last_hosts(*names, elastic_batch_host(job_), nodes));
    begin(shrink);
}

void RebirthRun::answer(const std::string& why) {
    Message message{.word = Verb::answered};
    message.reason = why;
    listener_.send(world_.connection, message);
}

void RebirthRun::give_back(const std::string& nodes) {
    given_back_ = nodes;
    release_nodes(job_, nodes);
}

void RebirthRun::next_resize() {
    if (granted_) return begin(*std::exchange(granted_, std::nullopt));
    if (wish_) requested(*std::exchange(wish_, std::nullopt));
}

void RebirthRun::greeted(int from, const Message& message) {
    const bool is_next = next_.step && message.generation == generation_ &&
                         message.attempt == next_.attempt && generation_ > 0;
    World& world = is_next ? next_ : world_;
    if (!world.step || world.connection != kNobody || (!is_next && message.generation != 0))
        return listener_.close(from);
    const int tasks = world.step->place().nodes * tasks_per_node(options_);
    if (message.size != tasks) return refuse_world(from, world, message);
    world.connection = from;
    world.greeted = steady_now();
    if (!message.spill.empty()) spill_ = message.spill;
    if (!is_next) return tell(world, Verb::go);
    resize_->start = world.greeted - world.step->began();
    if (stage_ == Stage::kStarting) return ask_for_checkpoint();
    if (stage_ == Stage::kRestoring) tell(next_, Verb::go);
}

void RebirthRun::refuse_world(int from, World& world, const Message& message) {
    note(
        "the program is worlds of {} processes, not one of {}: is it of another MPI than srun's"
        " --mpi?",
        message.size, world.step->place().nodes * tasks_per_node(options_));
    listener_.close(from);
    kill(world);
    if (&world == &world_) status_ = kExitError;
    ending_ = true;
}

void RebirthRun::ask_for_checkpoint() {
    stage_ = Stage::kEvacuating;
    patient_until_ = kNever;
    Message message{.word = Verb::resize};
    message.generation = generation_;
    message.node_list = target().node_list;
    message.tasks_per_node = tasks_per_node(options_);
    listener_.send(world_.connection, message);
}

void RebirthRun::checkpointed(const Message& message) {
    if (stage_ != Stage::kEvacuating) return;
    resize_->phases = message.phases;
    resize_->checkpointed = steady_now();
    if (!resize_->beside) {
        stage_ = Stage::kLeaving;
        resize_->told_to_leave = steady_now();
        return tell(world_, Verb::leave);
    }
    stage_ = Stage::kRestoring;
    if (!next_.step) return start_next();  // it has died meanwhile
    if (next_.connection != kNobody) tell(next_, Verb::go);
}

void RebirthRun::confirmed(const Message& message) {
    if (stage_ != Stage::kRestoring) return;
    runtime::Phases& phases = resize_->phases;
    phases.reconnect = message.phases.reconnect;
    phases.rebalance = message.phases.rebalance;
    phases.restore = message.phases.restore;
    resize_->pause = steady_now() - resize_->checkpointed + phases.evacuation + phases.checkpoint;
    if (resize_->beside) {
        resize_->told_to_leave = steady_now();
        tell(world_, Verb::leave);
    }
    resize_->to = next_.step->place().nodes;
    tell(next_, Verb::ok);
    old_ = std::move(world_);
    world_ = std::move(next_);
    next_ = {};
    if (old_.step) {
        stage_ = Stage::kEnding;
    } else {
        complete();
    }
}

// It is not listened to any more, but stays connected: it would take the loss for an error and say
// so before it is killed.
void RebirthRun::kill(World& world) {
    if (!world.step) return;
    world.connection = kNobody;
    if (!world.step->signal("KILL")) ::kill(world.step->pid(), SIGTERM);
}

void RebirthRun::on_end(pid_t process, int wait_status) {
    // What a world has sent before it ended is still to be read.
    for (const auto& [from, message] : listener_.receive()) received(from, message);
    const int status = shell_status(wait_status);
    if (over_) return;
    if (old_.step && process == old_.step->pid()) {
        old_ = {};
        resize_->stop = steady_now() - resize_->told_to_leave;
        return complete();
    }
    if (next_.step && process == next_.step->pid()) return next_died(status);
    if (!world_.step || process != world_.step->pid()) return;
    world_.step.reset();
    world_.connection = kNobody;
    if (stage_ == Stage::kLeaving) {
        resize_->stop = steady_now() - resize_->told_to_leave;
        stage_ = Stage::kRestoring;
        next_ = {};
        return start_next();
    }
    if (stage_ == Stage::kRestoring) return;  // the checkpoint is complete
    kill(next_);
    ended_ = status_ != 0 ? status_ : status;
    if (stage_ != Stage::kEnding) return finish(*ended_);
    patient_until_ = steady_now() + kBesides;
}

void RebirthRun::next_died(int status) {
    const int attempt = next_.attempt;
    next_ = {};
    next_.attempt = attempt;
    if (stage_ != Stage::kStarting && stage_ != Stage::kRestoring) return;
    if (!ending_ && attempt < kAttempts) {
        note("the program has died in a resize with status {}: it is started again", status);
        return start_next();
    }
    if (!world_.step) return finish(status);
    give_up(fmt::format("the new world has died with status {}", status));
}

// The world that computes goes on.
void RebirthRun::give_up(const std::string& why) {
    note("no resize: {}", printable(why, 200));
    if (stage_ == Stage::kRestoring) {
        Message message{.word = Verb::proceed};
        message.reason = why;
        listener_.send(world_.connection, message);
    } else {
        answer(why);
    }
    kill(next_);
    patient_until_ = kNever;
    stage_ = Stage::kSteady;
    const Resize resize = *resize_;
    resize_.reset();
    // The agreement of a shrink is over at its deadline.
    if (resize.kind != ELASTIC_EXPAND) return next_resize();
    if (granted_ && granted_->op > 0) elastic_done(job_, granted_->op);
    granted_.reset();
    const std::string unused =
        without_hosts(elastic_nodelist(job_), world_.step->place().node_list);
    clean(unused);
    if (resize.op > 0) elastic_done(job_, resize.op);
    give_back(unused);
}

void RebirthRun::complete() {
    stage_ = Stage::kSteady;
    report();
    const Resize resize = *resize_;
    resize_.reset();
    if (resize.op > 0)
        elastic_done(job_, resize.op);
    else if (!resize.leaving.empty())
        give_back(resize.leaving);
    if (ended_) return finish(*ended_);
    next_resize();
}

void RebirthRun::report() {
    const runtime::Phases& phases = resize_->phases;
    note(
        "resize {}: {} -> {} nodes: negotiation {:.3f} s, start {:.3f} s, evacuation {:.3f} s, "
        "checkpoint {:.3f} s, stop {:.3f} s, reconnect {:.3f} s, rebalance {:.3f} s, restore "
        "{:.3f} s; pause {:.3f} s",
        ++resizes_, resize_->from, resize_->to, resize_->negotiation, resize_->start,
        phases.evacuation, phases.checkpoint, resize_->stop, phases.reconnect, phases.rebalance,
        phases.restore, resize_->pause);
}

void RebirthRun::on_signal(int number) {
    if (number != SIGUSR1 && number != SIGUSR2) ending_ = true;
    for (const World* world : {&world_, &next_})
        if (world->step) ::kill(world->step->pid(), number);
}

// Removes what worlds that died have left in shared memory.
void RebirthRun::clean(const std::string& nodes) {
    const auto names = expand_hostlist(nodes);
    if (!names || names->empty()) return;
    RunOptions options = options_;
    options.tasks_per_node = 1;
    options.srun_options = {"--overlap", "--quiet", "--mpi=none"};
    const StepPlace place{nodes, static_cast<int>(names->size())};
    ::unsetenv(runtime::kMeetingVariable);
    set_environment(place);
    const Words remove{"rm", "-rf", "--", runtime::store_folder("", id_),
                       runtime::store_folder(spill_, id_)};
    if (!output_of(srun_words(options, remove, place)))
        note("shared memory of {} may not be free: {}", nodes, runtime::store_folder("", id_));
}

void RebirthRun::finish(int status) {
    status_ = status;
    over_ = true;
    if (!closed_) clean(without_hosts(elastic_nodelist(job_), given_back_));
    if (!resize_) return;
    if (resize_->op > 0) elastic_done(job_, resize_->op);
}

}  // namespace

RunOptions rebirth_options(const RunOptions& options) {
    RunOptions result = options;
    const Words words{"--overlap", "--kill-on-bad-exit=1"};
    result.srun_options.insert(result.srun_options.begin(), words.begin(), words.end());
    return result;
}

int run_with_rebirth(elastic_handle* job, const RunOptions& options) {
    return RebirthRun(job, options).run();
}

}  // namespace elastic::tools

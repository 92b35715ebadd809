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
// runs on them, by the agreement or, if that is over, by a release; each stage that is not the
// program's own ends in bounded time; at the end nothing is left in shared memory.  Where we are
// killed, the epilog of spank_elastic frees it.
#include "selastic-run/rebirth_run.hpp"

#include <signal.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "common/hostlist.hpp"
#include "common/text.hpp"
#include "program.hpp"
#include "selastic-run/job_loop.hpp"
#include "selastic-run/nodes.hpp"
#include "selastic-run/requests.hpp"
#include "selastic-run/resize.hpp"
#include "selastic-run/worlds.hpp"

namespace elastic::tools {
namespace {

using runtime::Message;
using runtime::Verb;

constexpr Duration kBesides = 20;   // within which a world starts beside another, or it never does
constexpr Duration kBirth = 120;    // within which one starts that nobody computes beside
constexpr Duration kFarewell = 60;  // within which one ends that was told to leave
constexpr int kAttempts = 2;        // of a world to be born

enum class Stage {
    kSteady,      // nothing is to be done
    kStarting,    // a world starts beside the one that computes
    kEvacuating,  // that one is to leave a checkpoint when it can
    kLeaving,     // it is to end before the next one starts
    kRestoring,   // the next one is to confirm
    kEnding,      // the old one is to end
};

class RebirthRun : public JobUser {
  public:
    RebirthRun(elastic_handle* job, const RunOptions& options)
        : job_(job),
          options_(rebirth_options(options)),
          worlds_(options_),
          requests_(job),
          given_back_(job) {}

    int run() {
        worlds_.start(worlds_.now, {elastic_nodelist(job_), elastic_nodes(job_)});
        run_loop(job_, *this);
        return status_;
    }

    void on_end(pid_t process, int wait_status) override;
    void on_signal(int number) override;
    void on_continue() override;
    void on_time() override;
    Duration wake_after() const override {
        return std::min(patient_until_, given_back_.again_at()) - steady_now();
    }
    bool over() const override { return over_; }
    int descriptor() const override { return worlds_.descriptor(); }

  private:
    void offered(const JobEvent& event) override;
    void accepted(const JobEvent& event) override;
    void queued(const JobEvent& event) override { requests_.queued(event); }
    void resized(const JobEvent& event) override;
    void ended(const JobEvent& event) override;

    // Whether the job has all of the world's nodes.
    bool has_nodes_of(const World& world) const;
    void decline_unopened(const JobEvent& event);
    void say_how_many_were_declined();
    StepPlace target() const;
    void start_next();
    void begin(const JobEvent& event);
    void be_patient(Duration time);
    void lose_patience();
    void received(int from, const Message& message);
    void requested(int change);
    void give(int nodes);
    void answer(const std::string& why) { worlds_.tell(worlds_.now, Verb::answered, why); }
    void refuse(const std::string& why);
    void next_resize();
    void greeted(int from, const Message& message);
    void ask_for_checkpoint();
    void checkpointed(const Message& message);
    void tell_to_leave();
    void confirmed(const Message& message);
    void old_ended(int status);
    void now_ended(int status);
    void next_died(int status);
    void give_up(const std::string& why);
    void give_up_expansion();
    void complete();
    void finish(int status);
    void conclude(int status);

    elastic_handle* job_;
    RunOptions options_;
    Worlds worlds_;
    Requests requests_;
    GivenBack given_back_;
    Stage stage_ = Stage::kSteady;
    std::optional<Resize> resize_;
    std::int64_t promised_ = 0;        // the offer that was accepted and is to come; 0: none
    std::optional<JobEvent> granted_;  // nodes that wait for the end of another resize
    Time offered_at_ = 0, patient_until_ = kNever;
    Duration patience_ = 0;     // of which that is the end
    bool closed_ = false;       // nothing is left in shared memory
    std::optional<int> ended_;  // with this status, but other worlds have not
    bool ending_ = false;       // by a signal: no resizes any more
    bool over_ = false;
    int resizes_ = 0, status_ = 0;
    std::string refused_;  // why the last request was, at once
    int declined_ = 0;     // offers, before the program has opened libelastic-mpi
};

// Whoever never opens the library is told what to do, once.
void RebirthRun::decline_unopened(const JobEvent& event) {
    const std::string why = program_name(options_) + " has not opened libelastic-mpi yet";
    elastic_decline(job_, event.op, why.c_str());
    if (declined_++ > 0) return;
    note("{} of {} nodes declined: {}; one that never does needs --checkpoint-signal or --workers",
         event.type == ELASTIC_EVENT_OFFER_SHRINK ? "shrink" : "offer", event.nodes, why);
}

void RebirthRun::say_how_many_were_declined() {
    if (declined_ > 1)
        note("{} offers declined in all while {} had not opened libelastic-mpi", declined_,
             program_name(options_));
    declined_ = 0;
}

void RebirthRun::offered(const JobEvent& event) {
    const char* why = nullptr;
    if (!given_back_.nodes().empty()) why = "nodes are being given back";
    if (stage_ != Stage::kSteady) why = "the program is being resized";
    if (ending_ || closed_ || ended_) why = "the program ends";
    if (why) {
        elastic_decline(job_, event.op, why);
        return;
    }
    if (!worlds_.now.speaks()) return decline_unopened(event);
    offered_at_ = steady_now();
    if (elastic_accept(job_, event.op) == ELASTIC_OK) promised_ = event.op;
}

void RebirthRun::accepted(const JobEvent& event) {
    if (event.kind == ELASTIC_SHRINK) begin(event);
}

bool RebirthRun::has_nodes_of(const World& world) const {
    return without_hosts(world.step->place().node_list, elastic_nodelist(job_)).empty();
}

void RebirthRun::resized(const JobEvent& event) {
    if (event.kind == ELASTIC_SHRINK) {
        given_back_.gone();
        // srun waits for a node that has been lost, as if it came back.
        if (worlds_.next.step && !has_nodes_of(worlds_.next)) worlds_.kill(worlds_.next);
        if (stage_ == Stage::kSteady && !ended_) next_resize();
        return;
    }
    if (ending_ || ended_) return;
    if (stage_ == Stage::kSteady) return begin(event);
    granted_ = event;
}

// The shrink is over, but the program may be about to leave the nodes: they go back all the same.
void RebirthRun::ended(const JobEvent& event) {
    if (requests_.ended(event)) return answer(event.reason);
    if (promised_ > 0 && event.op == promised_) {
        promised_ = 0;
        return next_resize();
    }
    if (resize_ && resize_->op > 0 && resize_->op == event.op) {
        note("the agreement is over before the resize: {}", printable(event.reason));
        resize_->op = 0;
    } else if (event.kind == ELASTIC_SHRINK) {
        given_back_.refused(event.reason);
    }
}

StepPlace RebirthRun::target() const {
    std::string nodes = without_hosts(elastic_nodelist(job_), resize_->leaving);
    nodes = without_hosts(nodes, given_back_.nodes());
    if (granted_) nodes = without_hosts(nodes, granted_->node_list);
    const auto names = expand_hostlist(nodes);
    return {nodes,
            names && !names->empty() ? static_cast<int>(names->size()) : elastic_nodes(job_)};
}

void RebirthRun::start_next() {
    ++worlds_.next.attempt;
    worlds_.start(worlds_.next, target());
    be_patient(stage_ == Stage::kStarting ? kBesides : kBirth);
}

void RebirthRun::begin(const JobEvent& event) {
    resize_ = Resize{.op = event.op, .kind = event.kind, .from = worlds_.now.step->place().nodes};
    if (event.kind == ELASTIC_SHRINK) resize_->leaving = event.node_list;
    requests_.overtaken_by(event.op);
    promised_ = 0;
    if (offered_at_ > 0) resize_->negotiation = steady_now() - offered_at_;
    worlds_.begin_generation();
    resize_->beside = !options_.stop_first;
    if (!resize_->beside) return ask_for_checkpoint();
    stage_ = Stage::kStarting;
    start_next();
}

void RebirthRun::on_time() {
    for (const auto& [from, message] : worlds_.receive()) received(from, message);
    given_back_.try_again();
    if (steady_now() >= patient_until_) lose_patience();
}

void RebirthRun::be_patient(Duration time) {
    patience_ = time;
    patient_until_ = steady_now() + time;
}

void RebirthRun::on_continue() {
    if (patient_until_ < kNever) be_patient(patience_);
}

void RebirthRun::lose_patience() {
    patient_until_ = kNever;
    if (ended_) {
        worlds_.kill(worlds_.old);
        return conclude(*ended_);
    }
    switch (stage_) {
        case Stage::kStarting:
            note("no world starts beside the other within {:g} s: one after the other", kBesides);
            resize_->beside = false;
            worlds_.kill(worlds_.next);
            return ask_for_checkpoint();
        case Stage::kRestoring:
            note("the new world has not started within {:g} s and is ended", kBirth);
            return worlds_.kill(worlds_.next);
        case Stage::kLeaving:
        case Stage::kEnding:
            note("the old world has not ended within {:g} s and is killed", kFarewell);
            return worlds_.kill(stage_ == Stage::kLeaving ? worlds_.now : worlds_.old);
        case Stage::kSteady:
        case Stage::kEvacuating:
            return;
    }
}

void RebirthRun::received(int from, const Message& message) {
    if (message.word == Verb::hello) return greeted(from, message);
    if (from == worlds_.now.connection) {
        if (message.word == Verb::closed) closed_ = true;
        if (message.word == Verb::checkpointed) checkpointed(message);
        if (message.word == Verb::refused) give_up(message.reason);
        if (message.word == Verb::request) requested(message.change);
    } else if (from == worlds_.next.connection) {
        if (message.word == Verb::refused)
            note("the new world has not all it needs: {}", printable(message.reason, 200));
        if (message.word == Verb::confirmed) confirmed(message);
    }
}

// While the program is being resized it gets no answer: the resize is one, and what it waits for in
// that must not be taken for another.  A new world may ask before the old one has ended, or the
// job's nodes are as few as the program's.
void RebirthRun::requested(int change) {
    const bool changes = promised_ > 0 || !given_back_.nodes().empty();
    if (stage_ == Stage::kEnding || changes) requests_.put_off(change);
    if (stage_ != Stage::kSteady || changes || ending_) return;
    offered_at_ = steady_now();
    if (change < 0) return give(-change);
    if (change == 0) return requests_.withdraw();
    if (const auto asked = requests_.ask_for(change); !asked) refuse(asked.error().message);
}

void RebirthRun::give(int nodes) {
    const auto leaving = requests_.leaving(nodes);
    if (!leaving) return refuse(leaving.error().message);
    JobEvent shrink{};
    shrink.kind = ELASTIC_SHRINK;
    shrink.node_list = *leaving;
    begin(shrink);
}

// It is said once: a program may ask again and again.
void RebirthRun::refuse(const std::string& why) {
    if (why != refused_) note("no resize: {}", printable(why, 200));
    refused_ = why;
    answer(why);
}

void RebirthRun::next_resize() {
    if (granted_) return begin(*std::exchange(granted_, std::nullopt));
    if (const auto change = requests_.take_put_off()) requested(*change);
}

void RebirthRun::greeted(int from, const Message& message) {
    World* const world = worlds_.greeted(from, message);
    if (!world) return;
    if (!world->speaks()) {
        worlds_.kill(*world);
        if (world == &worlds_.now) status_ = kExitError;
        ending_ = true;
        return;
    }
    if (world == &worlds_.now) {
        say_how_many_were_declined();
        return worlds_.tell(*world, Verb::go);
    }
    resize_->start = world->greeted - world->step->began();
    if (stage_ == Stage::kStarting) return ask_for_checkpoint();
    if (stage_ != Stage::kRestoring) return;
    patient_until_ = kNever;
    worlds_.tell(*world, Verb::go);
}

void RebirthRun::ask_for_checkpoint() {
    stage_ = Stage::kEvacuating;
    patient_until_ = kNever;
    Message message{.word = Verb::resize};
    message.generation = worlds_.generation();
    message.node_list = target().node_list;
    message.tasks_per_node = tasks_per_node(options_);
    worlds_.send(worlds_.now, message);
}

void RebirthRun::tell_to_leave() {
    resize_->told_to_leave = steady_now();
    worlds_.tell(worlds_.now, Verb::leave);
    be_patient(kFarewell);
}

void RebirthRun::checkpointed(const Message& message) {
    if (stage_ != Stage::kEvacuating) return;
    resize_->phases = message.phases;
    resize_->checkpointed = steady_now();
    if (!resize_->beside) {
        stage_ = Stage::kLeaving;
        return tell_to_leave();
    }
    stage_ = Stage::kRestoring;
    if (!worlds_.next.step) return start_next();  // it has died meanwhile
    if (worlds_.next.speaks()) worlds_.tell(worlds_.next, Verb::go);
}

void RebirthRun::confirmed(const Message& message) {
    if (stage_ != Stage::kRestoring) return;
    runtime::Phases& phases = resize_->phases;
    phases.reconnect = message.phases.reconnect;
    phases.rebalance = message.phases.rebalance;
    phases.restore = message.phases.restore;
    resize_->pause = steady_now() - resize_->checkpointed + phases.evacuation + phases.checkpoint;
    if (resize_->beside) tell_to_leave();
    resize_->to = worlds_.next.step->place().nodes;
    worlds_.tell(worlds_.next, Verb::ok);
    worlds_.old = std::move(worlds_.now);
    worlds_.now = std::move(worlds_.next);
    worlds_.next = {};
    if (!worlds_.old.step) return complete();
    stage_ = Stage::kEnding;
}

void RebirthRun::on_end(pid_t process, int wait_status) {
    // What a world has sent before it ended is still to be read.
    for (const auto& [from, message] : worlds_.receive()) received(from, message);
    const auto is = [&](const World& world) { return world.step && world.step->pid() == process; };
    const int status = shell_status(wait_status);
    if (over_) return;
    if (is(worlds_.old)) return old_ended(status);
    if (is(worlds_.next)) return next_died(status);
    if (is(worlds_.now)) now_ended(status);
}

void RebirthRun::old_ended(int status) {
    worlds_.old = {};
    resize_->old_died = status != 0;
    resize_->stop = steady_now() - resize_->told_to_leave;
    complete();
}

void RebirthRun::now_ended(int status) {
    worlds_.now = {};
    if (stage_ == Stage::kLeaving) {
        resize_->stop = steady_now() - resize_->told_to_leave;
        stage_ = Stage::kRestoring;
        worlds_.next = {};
        return start_next();
    }
    if (stage_ == Stage::kRestoring) {  // the checkpoint is complete
        resize_->old_died = true;
        return;
    }
    if (stage_ != Stage::kSteady && status != 0)
        note("the program has died in a resize with status {}, and its data with it", status);
    finish(status_ != 0 ? status_ : status);
}

void RebirthRun::next_died(int status) {
    const int attempt = worlds_.next.attempt;
    worlds_.next = {};
    worlds_.next.attempt = attempt;
    if (ended_) return finish(*ended_);
    if (stage_ != Stage::kStarting && stage_ != Stage::kRestoring) return;
    if (!ending_ && attempt < kAttempts) {
        note("the program has died in a resize with status {}: it is started again", status);
        return start_next();
    }
    const std::string why = fmt::format("the new world has died with status {}", status);
    if (worlds_.now.step) return give_up(why);
    note("{}, and nobody else has the program's data", why);
    finish(status != 0 ? status : kExitError);
}

// The world that computes goes on.
void RebirthRun::give_up(const std::string& why) {
    if (!resize_) return;
    note("no resize: {}", printable(why, 200));
    worlds_.tell(worlds_.now, stage_ == Stage::kRestoring ? Verb::proceed : Verb::answered, why);
    worlds_.kill(worlds_.next);
    patient_until_ = kNever;
    stage_ = Stage::kSteady;
    if (resize_->kind == ELASTIC_EXPAND) return give_up_expansion();
    resize_.reset();  // the agreement of a shrink is over at its deadline
    next_resize();
}

void RebirthRun::give_up_expansion() {
    const std::int64_t op = std::exchange(resize_, std::nullopt)->op;
    if (granted_ && granted_->op > 0) elastic_done(job_, granted_->op);
    granted_.reset();
    const std::string unused =
        without_hosts(elastic_nodelist(job_), worlds_.now.step->place().node_list);
    worlds_.free_memory(unused);
    if (op > 0) elastic_done(job_, op);
    given_back_.give(unused);
}

void RebirthRun::complete() {
    stage_ = Stage::kSteady;
    patient_until_ = kNever;
    note(to_string(*resize_, ++resizes_));
    const Resize resize = *std::exchange(resize_, std::nullopt);
    if (resize.old_died) worlds_.free_memory(common_hosts(resize.leaving, elastic_nodelist(job_)));
    if (resize.op > 0) {
        given_back_.leave(resize.leaving);
        elastic_done(job_, resize.op);
    } else if (!resize.leaving.empty()) {
        given_back_.give(resize.leaving);
    }
    if (ended_) return finish(*ended_);
    next_resize();
}

void RebirthRun::on_signal(int number) {
    if (number != SIGUSR1 && number != SIGUSR2) ending_ = true;
    for (const World* world : {&worlds_.now, &worlds_.next})
        if (world->step) ::kill(world->step->pid(), number);
}

// The program has ended.  Other worlds are waited for: what they have in memory is freed after
// them, and a slurmstepd that is told to end by the end of the job as well, while it does, may take
// its tasks for unkillable and drain the node.
void RebirthRun::finish(int status) {
    ended_ = status;
    worlds_.kill(worlds_.next);
    if (!worlds_.next.step && !worlds_.old.step) return conclude(status);
    be_patient(kBesides);
}

void RebirthRun::conclude(int status) {
    status_ = status;
    over_ = true;
    say_how_many_were_declined();
    if (!closed_) worlds_.free_memory(without_hosts(elastic_nodelist(job_), given_back_.nodes()));
    if (resize_ && resize_->op > 0) elastic_done(job_, resize_->op);
}

}  // namespace

RunOptions rebirth_options(const RunOptions& options) {
    RunOptions result = options;
    const Words words{"--overlap", "--kill-on-bad-exit=1"};
    constexpr std::string_view kExport = "--export=";
    for (std::string& option : result.srun_options)
        if (option.starts_with(kExport))
            option = std::string(kExport) +
                     with_export(option.substr(kExport.size()), runtime::kMeetingVariable);
    result.srun_options.insert(result.srun_options.begin(), words.begin(), words.end());
    return result;
}

int run_with_rebirth(elastic_handle* job, const RunOptions& options) {
    return RebirthRun(job, options).run();
}

}  // namespace elastic::tools

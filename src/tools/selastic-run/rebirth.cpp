// SPDX-License-Identifier: MIT
// A program with libelastic-mpi leaves its data in shared memory and is started again as a new
// world.  The new world is started beside the old one, which computes until the new one is ready;
// where that does not work or is not wanted, the old world ends first:
//
//     beside:  steady -> starting -> evacuating -> restoring -> ending -> steady
//     else:    steady -> evacuating -> leaving -> restoring -> steady
//
// From each of these states a resize may be given up, by the program or since no new world comes to
// life, as long as the old world is there.
//
// Always holds: one world computes; the old world leaves when the new one has confirmed that it has
// all data, and goes on if that never happens; a resize is complete when the old world has ended;
// each state that is not the program's own ends in bounded time.
#include "selastic-run/rebirth.hpp"

#include <fmt/format.h>

#include <utility>

#include "common/hostlist.hpp"
#include "common/text.hpp"
#include "program.hpp"

namespace elastic::tools {
namespace {

using runtime::Message;
using runtime::Verb;

constexpr Duration kBesides = 20;   // within which a world starts beside another, or it never does
constexpr Duration kBirth = 120;    // within which a world starts while none computes
constexpr Duration kFarewell = 60;  // within which a world ends that was told to leave
constexpr int kAttempts = 2;        // to start a world

}  // namespace

// ---- starting and ending worlds

void Rebirth::start() {
    start(worlds_.now, "");
}

void Rebirth::start(World& world, const std::string& leaving) {
    world = World{.attempt = world.attempt,
                  .place = effects_.place_without(leaving),
                  .began = effects_.now()};
    world.process = effects_.start(world, worlds_.generation);
}

void Rebirth::start_next() {
    ++worlds_.next.attempt;
    start(worlds_.next, resize_->leaving);
    be_patient(state_ == State::kStarting ? kBesides : kBirth);
}

void Rebirth::kill(World& world) {
    if (!world.runs()) return;
    world.is_killed = true;
    world.connection = kNobody;
    effects_.kill(world.process);
}

void Rebirth::nodes_lost(const std::string& left) {
    // srun waits for a node that has been lost, as if it came back.
    if (!without_hosts(worlds_.next.place.node_list, left).empty()) kill(worlds_.next);
}

void Rebirth::begin(Resize resize) {
    resize_ = std::move(resize);
    resize_->from = worlds_.now.place.nodes;
    resize_->beside = beside_;
    worlds_.begin_generation();
    if (!resize_->beside) return ask_for_checkpoint();
    state_ = State::kStarting;
    start_next();
}

// ---- what worlds say, and are told

void Rebirth::tell(const World& world, Verb word, const std::string& reason) {
    Message message{.word = word};
    message.reason = reason;
    if (world.speaks()) effects_.send(world.connection, message);
}

void Rebirth::answer(const std::string& why) {
    tell(worlds_.now, Verb::answered, why);
}

void Rebirth::received(int from, const Message& message) {
    if (message.word == Verb::hello) return greeted(from, message);
    if (from == worlds_.now.connection) {
        if (message.word == Verb::checkpointed) checkpointed(message);
        if (message.word == Verb::refused) give_up(message.reason);
    } else if (from == worlds_.next.connection) {
        if (message.word == Verb::refused)
            note("the new world has not all it needs: {}", printable(message.reason, 200));
        if (message.word == Verb::confirmed) confirmed(message);
    }
}

void Rebirth::greeted(int from, const Message& hello) {
    World* const world = worlds_.of(hello);
    if (!world) return effects_.hang_up(from);
    if (world->is_killed) return;
    if (hello.size != world->place.nodes * tasks_per_node_) return greeted_by_part(*world, hello);
    world->connection = from;
    world->greeted = effects_.now();
    effects_.opened(hello.spill);
    if (world == &worlds_.now) return tell(*world, Verb::go);
    resize_->start = world->greeted - world->began;
    if (state_ == State::kStarting) return ask_for_checkpoint();
    if (state_ != State::kRestoring) return;
    patient_until_ = kNever;
    tell(*world, Verb::go);
}

// All parts stay connected until they are killed: who ends by itself has srun end the others.
void Rebirth::greeted_by_part(World& world, const Message& hello) {
    note(
        "the program is worlds of {} processes, not one of {}: is it of another MPI than srun's"
        " --mpi?",
        hello.size, world.place.nodes * tasks_per_node_);
    kill(world);
    if (&world == &worlds_.now) failure_ = kExitError;
    ending_ = true;
}

void Rebirth::ask_for_checkpoint() {
    state_ = State::kEvacuating;
    patient_until_ = kNever;
    Message message{.word = Verb::resize};
    message.generation = worlds_.generation;
    message.node_list = effects_.place_without(resize_->leaving).node_list;
    message.tasks_per_node = tasks_per_node_;
    if (worlds_.now.speaks()) effects_.send(worlds_.now.connection, message);
}

void Rebirth::checkpointed(const Message& message) {
    if (state_ != State::kEvacuating) return;
    resize_->phases = message.phases;
    resize_->checkpointed = effects_.now();
    if (!resize_->beside) {
        state_ = State::kLeaving;
        return tell_to_leave();
    }
    state_ = State::kRestoring;
    if (!worlds_.next.runs()) return start_next();  // it has died meanwhile
    tell(worlds_.next, Verb::go);
}

void Rebirth::tell_to_leave() {
    resize_->told_to_leave = effects_.now();
    tell(worlds_.now, Verb::leave);
    be_patient(kFarewell);
}

void Rebirth::confirmed(const Message& message) {
    if (state_ != State::kRestoring) return;
    runtime::Phases& phases = resize_->phases;
    phases.reconnect = message.phases.reconnect;
    phases.rebalance = message.phases.rebalance;
    phases.restore = message.phases.restore;
    resize_->pause = effects_.now() - resize_->checkpointed + phases.evacuation + phases.checkpoint;
    if (resize_->beside) tell_to_leave();
    resize_->to = worlds_.next.place.nodes;
    tell(worlds_.next, Verb::ok);
    worlds_.take_over();
    if (!worlds_.old.runs()) return complete();
    state_ = State::kEnding;
}

// ---- ends

void Rebirth::ended(pid_t process, int status) {
    const World* const world = worlds_.of(process);
    if (world == &worlds_.old) return old_ended(status);
    if (world == &worlds_.next) return next_ended(status);
    if (world == &worlds_.now) now_ended(status);
}

void Rebirth::old_ended(int status) {
    worlds_.old = {};
    resize_->old_died = status != 0;
    resize_->stop = effects_.now() - resize_->told_to_leave;
    complete();
}

void Rebirth::now_ended(int status) {
    worlds_.now = {};
    if (state_ == State::kLeaving) {
        resize_->stop = effects_.now() - resize_->told_to_leave;
        state_ = State::kRestoring;
        worlds_.next = {};
        return start_next();
    }
    if (state_ == State::kRestoring) {  // the checkpoint is complete
        resize_->old_died = true;
        return;
    }
    if (state_ != State::kSteady && status != 0)
        note("the program has died in a resize with status {}, and its data with it", status);
    finish(failure_ != 0 ? failure_ : status);
}

void Rebirth::next_ended(int status) {
    const int attempt = worlds_.next.attempt;
    worlds_.next = {.attempt = attempt};
    if (program_status_) return finish(*program_status_);
    if (state_ != State::kStarting && state_ != State::kRestoring) return;
    if (!ending_ && attempt < kAttempts) {
        note("the program has died in a resize with status {}: it is started again", status);
        return start_next();
    }
    const std::string why = fmt::format("the new world has died with status {}", status);
    if (worlds_.now.runs()) return give_up(why);
    note("{}, and nobody else has the program's data", why);
    finish(status != 0 ? status : kExitError);
}

bool Rebirth::agreement_ended(std::int64_t op, const std::string& reason) {
    if (agreement() == 0 || agreement() != op) return false;
    note("the agreement is over before the resize: {}", printable(reason));
    resize_->op = 0;  // the program may be about to leave the nodes: they go back all the same
    return true;
}

// The world that computes goes on.
void Rebirth::give_up(const std::string& why) {
    if (!resize_) return;
    note("no resize: {}", printable(why, 200));
    tell(worlds_.now, state_ == State::kRestoring ? Verb::proceed : Verb::answered, why);
    kill(worlds_.next);
    become_steady();
    effects_.given_up(*std::exchange(resize_, std::nullopt));
}

void Rebirth::complete() {
    become_steady();
    effects_.completed(*std::exchange(resize_, std::nullopt));
    if (program_status_) finish(*program_status_);
}

void Rebirth::become_steady() {
    state_ = State::kSteady;
    patient_until_ = kNever;
}

// The program has ended.  Other worlds are waited for: their memory is freed after them, and a
// slurmstepd that is ending when the end of the job tells it to end once more may take its tasks
// for unkillable and drain the node.
void Rebirth::finish(int status) {
    program_status_ = status;
    kill(worlds_.next);
    if (!worlds_.next.runs() && !worlds_.old.runs()) return effects_.over(status);
    be_patient(kBesides);
}

// ---- time

void Rebirth::be_patient(Duration time) {
    patience_ = time;
    patient_until_ = effects_.now() + time;
}

void Rebirth::continued() {
    if (patient_until_ < kNever) be_patient(patience_);
}

void Rebirth::look() {
    if (effects_.now() < patient_until_) return;
    patient_until_ = kNever;
    if (!program_status_) return lose_patience();
    kill(worlds_.old);
    effects_.over(*program_status_);
}

void Rebirth::lose_patience() {
    switch (state_) {
        case State::kStarting:
            note("no world starts beside the other within {:g} s: one after the other", kBesides);
            resize_->beside = false;
            kill(worlds_.next);
            return ask_for_checkpoint();
        case State::kRestoring:
            note("the new world has not started within {:g} s and is ended", kBirth);
            return kill(worlds_.next);
        case State::kLeaving:
        case State::kEnding:
            note("the old world has not ended within {:g} s and is killed", kFarewell);
            return kill(state_ == State::kLeaving ? worlds_.now : worlds_.old);
        case State::kSteady:
        case State::kEvacuating:
            return;
    }
}

}  // namespace elastic::tools

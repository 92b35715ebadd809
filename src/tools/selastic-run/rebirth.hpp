// SPDX-License-Identifier: MIT
// The state machine of a rebirth: which world is started, told something or killed, upon what.  No
// processes, no sockets, no Slurm and no clock: these are its effects.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "common/time.hpp"
#include "runtime/channel.hpp"
#include "selastic-run/resize.hpp"
#include "selastic-run/worlds.hpp"

namespace elastic::tools {

class Rebirth {
  public:
    // What is done upon the decisions of the state machine, and what it asks.
    class Effects {
      public:
        virtual ~Effects() = default;
        virtual Time now() const = 0;
        // Where a world is to run, if these nodes are to be left.
        virtual StepPlace place_without(const std::string& leaving) const = 0;

        // Its process, whose end is told by ended().
        virtual pid_t start(const World& world, std::int64_t generation) = 0;
        virtual void kill(pid_t process) = 0;
        virtual void send(int connection, const runtime::Message& message) = 0;
        virtual void hang_up(int connection) = 0;

        // A world speaks, whose files are in this folder if they found no place in memory.
        virtual void opened(const std::string& spill) = 0;
        // The new world computes, and the old one has ended.
        virtual void completed(const Resize& resize) = 0;
        // The old world goes on.
        virtual void given_up(const Resize& resize) = 0;
        // The program has ended, and all of its worlds.
        virtual void over(int status) = 0;
    };

    enum class State {
        kSteady,      // nothing is to be done
        kStarting,    // a world starts beside the one that computes
        kEvacuating,  // the world that computes is to leave a checkpoint when it can
        kLeaving,     // the old world is to end before the next one starts
        kRestoring,   // the next world is to confirm
        kEnding,      // the old world is to end
    };

    // `beside`: whether the next world starts before the old one has left, where that works.
    Rebirth(Effects& effects, int tasks_per_node, bool beside)
        : effects_(effects), tasks_per_node_(tasks_per_node), beside_(beside) {}

    State state() const { return state_; }
    const Worlds& worlds() const { return worlds_; }
    bool program_ended() const { return program_status_.has_value(); }
    bool ending() const { return ending_; }
    std::int64_t agreement() const { return resize_ ? resize_->op : 0; }  // 0: none
    Time patient_until() const { return patient_until_; }

    // The program, for the first time.
    void start();
    // A resize, of which `resize` has what the job knows; the state is steady.
    void begin(Resize resize);
    // There are to be no others, nor a second attempt at one.
    void stop_resizing() { ending_ = true; }
    // To the program: nothing comes of what it has asked for.
    void answer(const std::string& why);

    void received(int from, const runtime::Message& message);
    void ended(pid_t process, int status);
    // An agreement is over without effect; whether it was that of the resize.
    bool agreement_ended(std::int64_t op, const std::string& reason);
    // The job has these nodes left.
    void nodes_lost(const std::string& left);
    // To be called when it is patient no longer.
    void look();
    // Nobody could do anything for a time, which does not count.
    void continued();

  private:
    void start(World& world, const std::string& leaving);
    void start_next();
    void kill(World& world);
    void tell(const World& world, runtime::Verb word, const std::string& reason = "");
    void greeted(int from, const runtime::Message& hello);
    void greeted_by_part(World& world, const runtime::Message& hello);
    void ask_for_checkpoint();
    void checkpointed(const runtime::Message& message);
    void tell_to_leave();
    void confirmed(const runtime::Message& message);
    void old_ended(int status);
    void now_ended(int status);
    void next_ended(int status);
    void give_up(const std::string& why);
    void complete();
    void become_steady();
    void finish(int status);
    void be_patient(Duration time);
    void lose_patience();

    Effects& effects_;
    const int tasks_per_node_;
    const bool beside_;
    Worlds worlds_;
    State state_ = State::kSteady;
    std::optional<Resize> resize_;
    Time patient_until_ = kNever;
    Duration patience_ = 0;              // how long the wait is that ends then
    bool ending_ = false;                // no resizes any more
    int failure_ = 0;                    // goes before the program's own status; 0: none
    std::optional<int> program_status_;  // it has ended, but other worlds may not have
};

}  // namespace elastic::tools

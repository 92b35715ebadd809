// SPDX-License-Identifier: MIT
// A resize by rebirth, state by state, without processes: what is done upon each event, in its
// order, and that what fails ends as well as it can.
#include "selastic-run/rebirth.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "libelastic/elastic.h"
#include "testing.hpp"

using namespace elastic;
using namespace elastic::tools;
using runtime::Message;
using runtime::Verb;

namespace {

constexpr int kProgram = 100;   // the connection of the world that computes
constexpr int kNewWorld = 200;  // of the next one
constexpr int kTasks = 2;       // a node
constexpr std::int64_t kOp = 7;

// Keeps what it is to do as text; processes are numbered as they start.
class Recorded : public Rebirth::Effects {
  public:
    Time now() const override { return clock; }
    StepPlace place_without(const std::string& leaving) const override {
        return leaving.empty() ? place : StepPlace{"stay", place.nodes - 1};
    }
    pid_t start(const World& world, std::int64_t generation) override {
        say("start {}.{} on {}", generation, world.attempt, world.place.node_list);
        return ++last_process;
    }
    void kill(pid_t process) override { say("kill {}", process); }
    void send(int connection, const Message& message) override {
        say("{} to {}", names(message.word)[static_cast<std::size_t>(message.word)], connection);
    }
    void hang_up(int connection) override { say("hang up {}", connection); }
    void opened(const std::string& spill) override { say("opened {}", spill); }
    void completed(const Resize& resize) override {
        last = resize;
        say("completed {}", resize.op);
    }
    void given_up(const Resize& resize) override {
        last = resize;
        say("given up {}", resize.op);
    }
    void over(int status) override { say("over {}", status); }

    // What was done since the last call.
    std::vector<std::string> done() { return std::exchange(done_, {}); }

    Time clock = 1000;
    StepPlace place{"n[1-2]", 2};
    Resize last;
    pid_t last_process = 0;

  private:
    template <class... Args>
    void say(fmt::format_string<Args...> text, Args&&... args) {
        done_.push_back(fmt::format(text, std::forward<Args>(args)...));
    }
    std::vector<std::string> done_;
};

using Done = std::vector<std::string>;

Message hello(std::int64_t generation, int attempt, int size) {
    Message message{.word = Verb::hello};
    message.generation = generation;
    message.attempt = attempt;
    message.size = size;
    message.spill = "/tmp";
    return message;
}

// A program of two nodes whose first world, process 1, computes.
struct Running {
    explicit Running(bool beside = true) : rebirth(effects, kTasks, beside) {
        rebirth.start();
        rebirth.received(kProgram, hello(0, 0, 4));
        effects.done();
    }

    void program_says(Verb word) { rebirth.received(kProgram, Message{.word = word}); }
    void new_world_says(Verb word) { rebirth.received(kNewWorld, Message{.word = word}); }
    void new_world_greets(int attempt = 1, std::int64_t generation = 1) {
        rebirth.received(kNewWorld,
                         hello(generation, attempt, rebirth.worlds().next.place.nodes * kTasks));
    }
    void expand() {
        effects.place = {"n[1-3]", 3};
        rebirth.begin(Resize{.op = kOp, .kind = ELASTIC_EXPAND});
    }
    void shrink() { rebirth.begin(Resize{.op = kOp, .kind = ELASTIC_SHRINK, .leaving = "n2"}); }
    void wait() {
        effects.clock = rebirth.patient_until();
        rebirth.look();
    }
    // To where the new world, process 2, is to confirm beside the old one.
    void restore() {
        expand();
        new_world_greets();
        program_says(Verb::checkpointed);
        effects.done();
    }

    Recorded effects;
    Rebirth rebirth;
};

}  // namespace

TEST(a_program_starts_and_goes_when_it_says_hello) {
    Recorded effects;
    Rebirth rebirth(effects, kTasks, true);
    rebirth.start();
    check_eq(effects.done(), Done({"start 0.0 on n[1-2]"}));
    check_that(!rebirth.worlds().now.speaks());
    rebirth.received(kProgram, hello(0, 0, 4));
    check_eq(effects.done(), Done({"opened /tmp", "go to 100"}));
    check_that(rebirth.worlds().now.speaks());
}

TEST(a_world_starts_beside_the_other_and_takes_over_from_it) {
    Running run;
    run.expand();
    check_eq(run.effects.done(), Done({"start 1.1 on n[1-3]"}));
    run.effects.clock += 2;
    run.new_world_greets();
    check_eq(run.effects.done(), Done({"opened /tmp", "resize to 100"}));
    run.program_says(Verb::checkpointed);
    check_eq(run.effects.done(), Done({"go to 200"}));
    run.effects.clock += 3;
    run.new_world_says(Verb::confirmed);
    check_eq(run.effects.done(), Done({"leave to 100", "ok to 200"}));
    check_that(run.rebirth.state() == Rebirth::State::kEnding);
    run.effects.clock += 4;
    run.rebirth.ended(1, 0);
    check_eq(run.effects.done(), Done({"completed 7"}));
    check_that(run.rebirth.state() == Rebirth::State::kSteady);
    check_eq(run.rebirth.worlds().now.process, 2);
    const Resize& resize = run.effects.last;
    check_eq(resize.from, 2);
    check_eq(resize.to, 3);
    check_eq(resize.start, 2.0);
    check_eq(resize.pause, 3.0);
    check_eq(resize.stop, 4.0);
    check_that(!resize.old_died);
}

TEST(worlds_one_after_the_other) {
    Running run(false);
    run.shrink();
    check_eq(run.effects.done(), Done({"resize to 100"}));
    run.program_says(Verb::checkpointed);
    check_eq(run.effects.done(), Done({"leave to 100"}));
    run.rebirth.ended(1, 0);
    check_eq(run.effects.done(), Done({"start 1.1 on stay"}));
    run.new_world_greets();
    check_eq(run.effects.done(), Done({"opened /tmp", "go to 200"}));
    run.new_world_says(Verb::confirmed);
    check_eq(run.effects.done(), Done({"ok to 200", "completed 7"}));
    check_eq(run.effects.last.leaving, "n2");
    check_eq(run.effects.last.to, 1);
}

TEST(the_second_resize_is_the_next_generation) {
    Running run;
    run.restore();
    run.new_world_says(Verb::confirmed);
    run.rebirth.ended(1, 0);
    run.effects.done();
    run.shrink();
    check_eq(run.effects.done(), Done({"start 2.1 on stay"}));
}

TEST(where_no_world_starts_beside_another_they_run_one_after_the_other) {
    Running run;
    run.expand();
    run.effects.done();
    run.wait();
    check_eq(run.effects.done(), Done({"kill 2", "resize to 100"}));
    run.new_world_greets();  // too late: the loss of its connection would be its last words
    check_eq(run.effects.done(), Done());
    run.rebirth.ended(2, 137);
    check_eq(run.effects.done(), Done());
    run.program_says(Verb::checkpointed);
    check_eq(run.effects.done(), Done({"leave to 100"}));
    run.rebirth.ended(1, 0);
    check_eq(run.effects.done(), Done({"start 1.1 on n[1-3]"}));
}

TEST(a_program_that_refuses_goes_on) {
    Running run;
    run.expand();
    run.new_world_greets();
    run.effects.done();
    run.program_says(Verb::refused);
    check_eq(run.effects.done(), Done({"answered to 100", "kill 2", "given up 7"}));
    check_that(run.rebirth.state() == Rebirth::State::kSteady);
    check_eq(run.rebirth.patient_until(), kNever);
    run.new_world_says(Verb::confirmed);
    run.rebirth.ended(2, 137);
    check_eq(run.effects.done(), Done());
    check_eq(run.rebirth.worlds().now.process, 1);
}

TEST(a_world_that_was_given_up_before_its_hello_is_not_heard) {
    Running run;
    run.expand();
    run.effects.done();
    run.program_says(Verb::refused);
    check_eq(run.effects.done(), Done({"answered to 100", "kill 2", "given up 7"}));
    run.new_world_greets();
    check_eq(run.effects.done(), Done());
    check_that(!run.rebirth.worlds().next.speaks());
}

TEST(a_new_world_that_dies_is_started_once_more) {
    Running run;
    run.restore();
    run.rebirth.ended(2, 1);
    check_eq(run.effects.done(), Done({"start 1.2 on n[1-3]"}));
    run.new_world_greets(1);  // the one that has died
    check_eq(run.effects.done(), Done({"hang up 200"}));
    run.new_world_greets(2);
    check_eq(run.effects.done(), Done({"opened /tmp", "go to 200"}));
    run.rebirth.ended(3, 1);
    check_eq(run.effects.done(), Done({"proceed to 100", "given up 7"}));
}

TEST(a_new_world_that_dies_while_the_other_saves_is_started_when_that_has_saved) {
    Running run;
    run.expand();
    run.new_world_greets();
    run.effects.done();
    run.rebirth.ended(2, 1);
    check_eq(run.effects.done(), Done());
    run.program_says(Verb::checkpointed);
    check_eq(run.effects.done(), Done({"start 1.2 on n[1-3]"}));
}

TEST(after_a_signal_no_world_is_started_again) {
    Running run;
    run.expand();
    run.effects.done();
    run.rebirth.stop_resizing();
    run.rebirth.ended(2, 143);
    check_eq(run.effects.done(), Done({"answered to 100", "given up 7"}));
}

TEST(data_that_only_a_dead_world_had_end_the_program) {
    Running run(false);
    run.expand();
    run.program_says(Verb::checkpointed);
    run.rebirth.ended(1, 0);
    run.effects.done();
    run.rebirth.ended(2, 9);
    check_eq(run.effects.done(), Done({"start 1.2 on n[1-3]"}));
    run.rebirth.ended(3, 9);
    check_eq(run.effects.done(), Done({"over 9"}));
}

TEST(an_old_world_that_dies_behind_its_checkpoint_is_not_missed) {
    Running run;
    run.restore();
    run.rebirth.ended(1, 139);
    check_eq(run.effects.done(), Done());
    run.new_world_says(Verb::confirmed);
    check_eq(run.effects.done(), Done({"ok to 200", "completed 7"}));
    check_that(run.effects.last.old_died);
}

TEST(a_program_that_ends_waits_for_the_world_beside_it) {
    Running run;
    run.expand();
    run.effects.done();
    run.rebirth.ended(1, 3);
    check_eq(run.effects.done(), Done({"kill 2"}));
    check_that(run.rebirth.program_ended());
    run.rebirth.ended(2, 137);
    check_eq(run.effects.done(), Done({"over 3"}));
    check_eq(run.rebirth.agreement(), kOp);
}

TEST(a_program_that_ends_before_the_old_world_has_completes_its_resize) {
    Running run;
    run.restore();
    run.new_world_says(Verb::confirmed);
    run.effects.done();
    run.rebirth.ended(2, 0);
    check_eq(run.effects.done(), Done());
    run.rebirth.ended(1, 0);
    check_eq(run.effects.done(), Done({"completed 7", "over 0"}));
}

TEST(the_end_does_not_wait_for_ever_for_an_old_world) {
    Running run;
    run.restore();
    run.new_world_says(Verb::confirmed);
    run.rebirth.ended(2, 4);
    run.effects.done();
    run.wait();
    check_eq(run.effects.done(), Done({"kill 1", "over 4"}));
}

TEST(worlds_that_do_not_go_on_are_killed) {
    Running leaving(false);
    leaving.expand();
    leaving.program_says(Verb::checkpointed);
    leaving.effects.done();
    leaving.wait();
    check_eq(leaving.effects.done(), Done({"kill 1"}));
    leaving.rebirth.ended(1, 137);
    check_eq(leaving.effects.done(), Done({"start 1.1 on n[1-3]"}));
    leaving.wait();
    check_eq(leaving.effects.done(), Done({"kill 2"}));

    Running ending;
    ending.restore();
    ending.new_world_says(Verb::confirmed);
    ending.effects.done();
    ending.wait();
    check_eq(ending.effects.done(), Done({"kill 1"}));
    ending.rebirth.ended(1, 137);
    check_eq(ending.effects.done(), Done({"completed 7"}));
    check_that(ending.effects.last.old_died);
}

TEST(nothing_is_done_before_its_time_and_a_suspended_job_has_all_of_it_again) {
    Running run;
    run.expand();
    run.effects.done();
    const Duration patience = run.rebirth.patient_until() - run.effects.clock;
    run.effects.clock += patience - 1;
    run.rebirth.look();
    run.rebirth.continued();
    check_eq(run.rebirth.patient_until(), run.effects.clock + patience);
    run.effects.clock += patience - 1;
    run.rebirth.look();
    check_eq(run.effects.done(), Done());
    run.rebirth.received(kNewWorld, hello(1, 1, 6));
    run.rebirth.continued();  // the program may take its time
    check_eq(run.rebirth.patient_until(), kNever);
}

TEST(an_agreement_that_is_over_does_not_stop_its_resize) {
    Running run;
    check_that(!run.rebirth.agreement_ended(kOp, "none yet"));
    run.shrink();
    run.new_world_greets();
    check_that(!run.rebirth.agreement_ended(kOp + 1, "of another"));
    check_that(run.rebirth.agreement_ended(kOp, "deadline"));
    check_that(!run.rebirth.agreement_ended(kOp, "told once more"));
    run.program_says(Verb::checkpointed);
    run.new_world_says(Verb::confirmed);
    run.effects.done();
    run.rebirth.ended(1, 0);
    check_eq(run.effects.done(), Done({"completed 0"}));
    check_eq(run.effects.last.leaving, "n2");
}

TEST(a_new_world_on_a_node_that_is_lost_is_killed) {
    Running run;
    run.expand();
    run.effects.done();
    run.rebirth.nodes_lost("n[1-3]");
    check_eq(run.effects.done(), Done());
    run.rebirth.nodes_lost("n[1-2]");
    check_eq(run.effects.done(), Done({"kill 2"}));
    run.effects.place = {"n[1-2]", 2};
    run.rebirth.ended(2, 137);
    check_eq(run.effects.done(), Done({"start 1.2 on n[1-2]"}));
}

TEST(a_program_of_another_mpi_is_ended) {
    Recorded effects;
    Rebirth rebirth(effects, kTasks, true);
    rebirth.start();
    effects.done();
    for (int process = 0; process < 4; ++process)
        rebirth.received(kProgram + process, hello(0, 0, 1));
    check_eq(effects.done(), Done({"kill 1"}));
    check_that(rebirth.ending());
    rebirth.ended(1, 137);
    check_eq(effects.done(), Done({"over 2"}));
}

TEST(who_is_nobody_of_ours_is_hung_up_on) {
    Running run;
    run.rebirth.received(300, hello(0, 0, 4));  // the program has said hello
    run.rebirth.received(300, hello(1, 1, 4));  // there is no next world
    check_eq(run.effects.done(), Done({"hang up 300", "hang up 300"}));
    run.expand();
    run.effects.done();
    run.rebirth.received(300, hello(2, 1, 6));
    check_eq(run.effects.done(), Done({"hang up 300"}));
    run.rebirth.received(300, Message{.word = Verb::checkpointed});
    run.rebirth.ended(99, 1);
    check_eq(run.effects.done(), Done());
}

TEST(what_is_said_out_of_turn_changes_nothing) {
    Running run;
    run.program_says(Verb::checkpointed);
    run.program_says(Verb::refused);
    run.new_world_says(Verb::confirmed);
    check_eq(run.effects.done(), Done());
    run.expand();
    run.effects.done();
    run.program_says(Verb::checkpointed);
    run.new_world_says(Verb::confirmed);
    check_eq(run.effects.done(), Done());
    run.new_world_greets();
    run.effects.done();
    run.new_world_says(Verb::refused);  // its end follows
    check_eq(run.effects.done(), Done());
}

// SPDX-License-Identifier: MIT
// How a program with restart files is stopped, and what is taken for that.
#include "selastic-run/stopping.hpp"

#include <utility>
#include <vector>

#include "common/atomic_file.hpp"
#include "folder.hpp"
#include "testing.hpp"

using namespace elastic;
using namespace elastic::tools;
using elastic::testing::Folder;

namespace {

// A program of which this is known.
struct Stopped {
    explicit Stopped(RunOptions what) : options(std::move(what)), stopping(options) {
        stopping.program_starts();
    }
    // Its signals, as they are sent; `arrives`: whether they can be.
    void send(bool arrives = true) {
        stopping.send([&](const std::string& signal) {
            signals.push_back(signal);
            return arrives;
        });
    }

    RunOptions options;
    Stopping stopping;
    std::vector<std::string> signals;
};

void write(const std::string& path, const std::string& text) {
    check_ok(write_file(path, text, Durability::survives_process));
}

}  // namespace

TEST(a_signal_is_sent_until_it_arrives) {
    Stopped program({.stop_signal = "USR1", .stop_seconds = 60});
    check_that(!program.stopping.is_to_be_sent());
    program.stopping.begin(100);
    check_that(program.stopping.under_way());
    check_eq(program.stopping.patient_until(), 160.0);
    program.send(false);
    check_that(program.stopping.is_to_be_sent());
    program.send();
    check_that(!program.stopping.is_to_be_sent());
    check_that((program.signals == std::vector<std::string>{"USR1", "USR1"}));
    check_eq(program.stopping.end(130), 30.0);
    check_that(!program.stopping.under_way());
    check_eq(program.stopping.patient_until(), kNever);
}

TEST(a_file_that_makes_the_program_stop_is_made_and_removed) {
    const Folder folder;
    Stopped program({.stop_file = folder / "stop"});
    program.stopping.remove_file();  // there is none
    program.stopping.begin(0);
    program.send();
    check_that(!program.stopping.is_to_be_sent());
    check_eq(folder.entries(), 1);
    check_that(program.signals.empty());
    program.stopping.remove_file();
    check_eq(folder.entries(), 0);
}

TEST(a_file_that_cannot_be_made_is_tried_again) {
    const Folder folder;
    Stopped program({.stop_file = folder / "none/stop"});
    program.stopping.begin(0);
    program.send();
    check_that(program.stopping.is_to_be_sent());
}

TEST(who_ends_before_it_was_told_has_not_stopped) {
    Stopped program({.stop_signal = "TERM"});
    check_that(!program.stopping.has_worked(0));
    program.stopping.begin(0);
    check_that(!program.stopping.has_worked(0));
    program.send(false);  // it may have heard that
    check_that(program.stopping.has_worked(0));
}

TEST(the_status_says_that_it_has_stopped_where_it_is_known) {
    Stopped program({.stop_signal = "TERM", .stopped_status = 3});
    program.stopping.begin(0);
    program.send();
    check_that(program.stopping.has_worked(3));
    check_that(!program.stopping.has_worked(0));
}

TEST(a_new_checkpoint_says_that_it_has_stopped) {
    const Folder folder;
    Stopped program({.stop_signal = "TERM", .checkpoint = folder / "state"});
    check_that(!program.stopping.has_checkpoint());
    program.stopping.begin(0);
    write(program.options.checkpoint, "before");
    check_that(program.stopping.checkpoint_changed());
    program.send();
    check_that(!program.stopping.has_worked(0));
    write(program.options.checkpoint, "after it");
    check_that(program.stopping.has_worked(0));
    check_that(program.stopping.has_checkpoint());
    program.stopping.program_starts();
    check_that(!program.stopping.checkpoint_changed());
}

TEST(a_second_attempt_to_tell_it_does_not_forget_what_it_has_written_since_the_first) {
    const Folder folder;
    Stopped program({.stop_signal = "TERM", .checkpoint = folder / "state"});
    program.stopping.begin(0);
    program.send(false);
    write(program.options.checkpoint, "upon the first");
    program.send();
    check_that(program.stopping.has_worked(0));
}

TEST(a_program_that_goes_on_may_still_stop) {
    Stopped program({.stop_signal = "TERM"});
    program.stopping.begin(0);
    program.send();
    program.stopping.lose_patience();
    check_eq(program.stopping.patient_until(), kNever);
    check_that(program.stopping.under_way());
    check_that(program.stopping.has_worked(0));
}

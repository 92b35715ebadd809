// SPDX-License-Identifier: MIT
// What is known of a program: files of settings, the command line before them, and the command that
// goes on.
#include "selastic-run/program_settings.hpp"

#include <cstdlib>

#include "common/atomic_file.hpp"
#include "folder.hpp"
#include "testing.hpp"

using namespace elastic;
using namespace elastic::tools;
using elastic::testing::Folder;

namespace {

Result<void> apply(const std::string& text, RunOptions& options) {
    const Folder folder;
    check_ok(write_file(folder / "solver", text, Durability::survives_process));
    return apply_program_settings(folder / "solver", options);
}

// How an error in this text ends, behind the file's name.
std::string error_of(const std::string& text) {
    RunOptions options;
    const auto done = apply(text, options);
    check_that(!done);
    const std::string& message = done.error().message;
    return message.substr(message.rfind("solver") + 6);
}

}  // namespace

TEST(a_file_says_how_its_program_is_stopped_and_goes_on) {
    RunOptions options{.program = {"solver", "in put"}};
    check_ok(
        apply("CheckpointSignal=USR1@60\nStopFile=STOP\nCheckpointFile=state.cpt\n"
              "Restart=%program --from %checkpoint\nStoppedStatus=3\n",
              options));
    check_eq(options.stop_signal, "USR1");
    check_eq(options.stop_seconds, 60.0);
    check_eq(options.stop_file, "STOP");
    check_eq(options.stopped_status, 3);
    check_that((*restart_words(options) == Words{"solver", "in put", "--from", "state.cpt"}));
}

TEST(the_command_line_goes_before_the_file) {
    RunOptions options{.stop_signal = "TERM", .stop_seconds = 5, .restart = "mine"};
    check_ok(apply("CheckpointSignal=USR1@60\nRestart=other\nStopFile=STOP\n", options));
    check_eq(options.stop_signal, "TERM");
    check_eq(options.stop_seconds, 5.0);
    check_eq(options.restart, "mine");
    check_eq(options.stop_file, "STOP");
}

TEST(an_error_names_the_file_and_the_line) {
    check_eq(error_of("StopFile=x\nNix=1\n"), ":2: Nix: unknown");
    check_eq(error_of("StoppedStatus=256\n"), ":1: '256' is no status");
    check_eq(error_of("CheckpointSignal=term\n"), ":1: 'term' is no signal: TERM, USR1@60");
}

TEST(names_are_looked_for_in_the_user_s_folders_first) {
    const Folder folder;
    check_ok(write_file(folder / "solver", "StopFile=own\n", Durability::survives_process));
    ::setenv("SELASTIC_PROFILES", (":" + (folder / "none") + ":" + (folder / "")).c_str(), 1);
    RunOptions options;
    check_ok(apply_program_settings("solver", options));
    check_eq(options.stop_file, "own");
    const auto none = apply_program_settings("nix", options);
    check_that(!none);
    check_that(none.error().message.starts_with("there is no profile 'nix' in "));
}

TEST(the_words_of_a_restart_are_those_of_a_shell) {
    RunOptions options{.program = {"solver"}, .checkpoint = "a b"};
    const auto words = [&](const std::string& text) {
        options.restart = text;
        return restart_words(options);
    };
    check_that((*words("") == Words{"solver"}));
    check_that((*words("x 'y z' file=%checkpoint") == Words{"x", "y z", "file=a b"}));
    check_that(!words("a | b"));
    check_that(!words("`date`"));
    check_that(!words("'"));
    check_error(words(" "), "the restart command is empty");
}

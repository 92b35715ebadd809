// SPDX-License-Identifier: MIT
// Programs that the controller runs for their output: what they inherit, what becomes of those that
// fail, print too much or take too long.
#include "common/command.hpp"

#include <sys/stat.h>

#include <chrono>

#include "common/atomic_file.hpp"
#include "folder.hpp"
#include "testing.hpp"

using namespace elastic;
using elastic::testing::Folder;

namespace {

std::string program(const Folder& folder, std::string_view script) {
    const std::string path = folder / "program";
    check_ok(
        write_file(path, fmt::format("#!/bin/sh\n{}\n", script), Durability::survives_process));
    check_eq(::chmod(path.c_str(), 0700), 0);
    return path;
}

void check_fails(std::string_view script, Duration deadline, std::string_view words) {
    const Folder folder;
    const auto output = output_of(program(folder, script), deadline, 1000);
    check_that(!output);
    if (!output) check_that(output.error().message.find(words) != std::string::npos);
}

}  // namespace

TEST(a_program_says_what_it_prints) {
    const Folder folder;
    const auto output =
        output_of(program(folder, "echo spot price=0.5; echo none of it >&2"), 30, 100);
    check_ok(output);
    check_eq(*output, "spot price=0.5\n");
}

TEST(it_knows_nothing_of_who_runs_it) {
    ::setenv("SECRET", "of the controller", 1);
    const Folder folder;
    const auto output =
        output_of(program(folder, "echo \"$SECRET\"; ls /proc/self/fd | wc -l"), 30, 100);
    check_ok(output);
    // Standard input, output, error, and the folder that ls looks at.
    check_eq(*output, "\n4\n");
}

TEST(what_is_wrong_with_it_is_said) {
    check_fails("exit 3", 30, "ended with status 3");
    check_fails("kill -9 $$", 30, "died of signal 9");
    check_fails("head -c 5000 /dev/zero", 30, "prints more than 1000 bytes");
    const auto missing = output_of("/nowhere/program", 30, 1000);
    check_that(!missing && missing.error().message.find("cannot be run") != std::string::npos);
}

// Its children have the other end of the pipe and are killed with it.
TEST(a_program_that_takes_too_long_is_killed_with_its_children) {
    const auto begin = std::chrono::steady_clock::now();
    check_fails("sleep 600 & sleep 600", 0.2, "has not ended after 0.2 s and was killed");
    check_fails("sleep 600 >/dev/null & exec >/dev/null; sleep 600", 0.2, "has not ended");
    check_that(std::chrono::steady_clock::now() - begin < std::chrono::seconds(60));
}

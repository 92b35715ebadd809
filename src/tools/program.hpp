// SPDX-License-Identifier: MIT
// What selastic, selastic-run and selastic-sim have in common: a command line, if it has
// subcommands with one of them that is chosen and run, and errors as one line.  Results are printed
// with fmt::print(), all else with note().
#pragma once

#include <functional>
#include <string_view>

#include "common/result.hpp"

namespace elastic::tools {

class CommandParser;

// Exit codes of all commands; further ones are those of one program.
inline constexpr int kExitOk = 0;
inline constexpr int kExitError = 2;

using Command = std::function<int()>;  // returns the exit code

struct Program {
    const char* name;
    const char* text;  // what it is for, in one line
    // Adds its commands, or, of a program without any, its options.
    void (*add_commands)(CommandParser);
};

// The whole of main(); whatever is thrown is an error as any other, and so is standard output that
// cannot be written.
int run_program(const Program&, int argc, char** argv);

// Sends what has been printed.  Throws, for run_program(), if that fails.
void flush();

// Text on standard error as it is.  What cannot be written there is lost: there is nobody to tell.
void print_error(std::string_view text);

// Prints "NAME: MESSAGE" on standard error.
void note(std::string_view message);
template <class... Args>
void note(fmt::format_string<Args...> format, Args&&... args) {
    note(std::string_view(fmt::format(format, std::forward<Args>(args)...)));
}

// Prints "NAME: error: MESSAGE" on standard error; returns kExitError.
int fail(const Error&);

}  // namespace elastic::tools

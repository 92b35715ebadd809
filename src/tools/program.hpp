// SPDX-License-Identifier: MIT
// What selastic and selastic-sim have in common: a command line with subcommands, of which one is
// chosen and run, and errors as one line.
#pragma once

#include <functional>

#include "common/result.hpp"

namespace CLI {
class App;
}

namespace elastic::tools {

// Exit codes of all commands; further ones are those of one program.
inline constexpr int kExitOk = 0;
inline constexpr int kExitError = 2;

using Command = std::function<int()>;  // returns the exit code

struct Program {
    const char* name;
    const char* text;  // what it is for, in one line
    // Adds the subcommands; the one that the user has named puts itself into `chosen`.
    void (*add_commands)(CLI::App&, Command& chosen);
};

// The whole of main(); whatever is thrown is an error as any other.
int run_program(const Program&, int argc, char** argv);

// Prints "NAME: error: MESSAGE"; returns kExitError.
int fail(const Error&);

}  // namespace elastic::tools

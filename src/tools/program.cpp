// SPDX-License-Identifier: MIT
// The command line is parsed as a whole before anything is done, so a mistake in
// its last word leaves nothing behind.  A message is made printable here, since
// it may quote what somebody else has written.
#include "program.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "common/text.hpp"
#include "elastic_config.h"

namespace elastic::tools {
namespace {

const char* name = "selastic";

int choose_and_run(const Program& program, int argc, char** argv) {
    CLI::App app(program.text, program.name);
    app.require_subcommand(1);
    app.set_version_flag("--version", PACKAGE_STRING);
    Command chosen;
    program.add_commands(app, chosen);
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& e) {
        return app.exit(e);
    } catch (const CLI::ParseError& e) {
        return fail(Error{e.what()});
    }
    return chosen();
}

}  // namespace

int run_program(const Program& program, int argc, char** argv) {
    name = program.name;
    try {
        return choose_and_run(program, argc, argv);
    } catch (const std::exception& e) {
        return fail(Error{e.what()});
    }
}

int fail(const Error& error) {
    fmt::print(stderr, "{}: error: {}\n", name, printable(error.message, 1024));
    return kExitError;
}

}  // namespace elastic::tools

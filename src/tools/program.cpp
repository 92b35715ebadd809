// SPDX-License-Identifier: MIT
// A message is made printable here, since it may quote what somebody else has written.
//
// Always: 0 to 2 are open, so that no file of ours gets the number of a standard stream and with it
// what is printed there.
#include "program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <system_error>

#include "command_parser.hpp"
#include "common/text.hpp"

namespace elastic::tools {
namespace {

const char* name = "selastic";

// Where the caller has closed one: using it fails as before, but for standard error, which nobody
// may miss.
void open_standard_streams() {
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (::fcntl(fd, F_GETFD) < 0)
            (void)::open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_WRONLY);
}

}  // namespace

int run_program(const Program& program, int argc, char** argv) {
    name = program.name;
    open_standard_streams();
    try {
        const int code = parse_and_run(program, argc, argv);
        flush();
        return code;
    } catch (const std::system_error& e) {  // fmt::print() throws it, too
        if (!std::ferror(stdout)) return fail(Error{e.what()});
        return fail(error("cannot write standard output: {}", e.code().message()));
    } catch (const std::exception& e) {
        return fail(Error{e.what()});
    }
}

void flush() {
    errno = EIO;  // of an earlier failure no more is known
    if (std::fflush(stdout) != 0 || std::ferror(stdout))
        throw std::system_error(errno, std::generic_category());
}

void print_error(std::string_view text) {
    (void)std::fwrite(text.data(), 1, text.size(), stderr);
}

void note(std::string_view message) {
    print_error(fmt::format("{}: {}\n", name, message));
}

int fail(const Error& error) {
    note("error: {}", printable(error.message, 1024));
    return kExitError;
}

}  // namespace elastic::tools

// SPDX-License-Identifier: MIT
// A file is replaced as a whole, a standard stream written to as it stands: to replace what
// /dev/stdout leads to would take the file from under the shell that has opened it.
#include "write_output.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/atomic_file.hpp"
#include "program.hpp"

namespace elastic::tools {

bool is_standard_output(std::string_view path) {
    return path == "-" || path == "/dev/stdout";
}

Result<void> write_output(const std::string& path, std::string_view content) {
    if (is_standard_output(path)) {
        fmt::print("{}", content);
        flush();
    } else if (path == "/dev/stderr") {
        print_error(content);
    } else {
        return write_file(path, content, Durability::survives_process, kForEverybody);
    }
    return {};
}

int terminal_width() {
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    return 80;
}

}  // namespace elastic::tools

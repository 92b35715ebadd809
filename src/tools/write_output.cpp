// SPDX-License-Identifier: MIT
// A file is replaced as a whole, a standard stream written to as it stands: to replace what
// /dev/stdout leads to would take the file from under the shell that has opened it.
#include "write_output.hpp"

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "common/atomic_file.hpp"

namespace elastic::tools {
namespace {

Result<void> write_to(std::FILE* stream, const std::string& name, std::string_view content) {
    if (std::fwrite(content.data(), 1, content.size(), stream) == content.size() &&
        std::fflush(stream) == 0)
        return {};
    return error("cannot write {}: {}", name, std::generic_category().message(errno));
}

}  // namespace

bool is_standard_output(std::string_view path) {
    return path == "-" || path == "/dev/stdout";
}

Result<void> write_output(const std::string& path, std::string_view content) {
    if (is_standard_output(path)) return write_to(stdout, "standard output", content);
    if (path == "/dev/stderr") return write_to(stderr, "standard error", content);
    return write_file(path, content, Durability::survives_process, kForEverybody);
}

}  // namespace elastic::tools

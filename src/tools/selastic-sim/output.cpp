// SPDX-License-Identifier: MIT
// Results for files.
#include "selastic-sim/output.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "common/atomic_file.hpp"

namespace elastic::tools {
namespace {

Result<void> write_to(std::FILE* file, std::string_view name, std::string_view content) {
    const bool complete = std::fwrite(content.data(), 1, content.size(), file) == content.size();
    if (complete && std::fflush(file) == 0) return {};
    return error("{}: {}", name, std::strerror(errno));
}

bool is_special(const std::string& path) {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

Result<void> write_special(const std::string& path, std::string_view content) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "w"),
                                                               &std::fclose);
    if (!file) return error("{}: {}", path, std::strerror(errno));
    return write_to(file.get(), path, content);
}

}  // namespace

Result<void> write_output(const std::string& path, std::string_view content) {
    if (path == kStandardOutput) return write_to(stdout, "standard output", content);
    if (is_special(path)) return write_special(path, content);
    return write_file(path, content, Durability::survives_process, 0644);
}

}  // namespace elastic::tools

// SPDX-License-Identifier: MIT
// Its standard streams are files without names: nothing is quoted for a shell, no side waits for
// the other, and nothing is left behind.
#include "studies/report/gnuplot.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "common/text.hpp"

namespace elastic::studies {
namespace {

class Unnamed {
  public:
    bool is_open() const { return file_ != nullptr; }
    int descriptor() const { return fileno(file_.get()); }

    void write(std::string_view text) {
        std::fwrite(text.data(), 1, text.size(), file_.get());
        std::rewind(file_.get());
    }

    std::string content() {
        std::rewind(file_.get());
        std::string all;
        std::array<char, 4096> part{};
        while (const std::size_t n = std::fread(part.data(), 1, part.size(), file_.get()))
            all.append(part.data(), n);
        return all;
    }

  private:
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    std::unique_ptr<std::FILE, Close> file_{std::tmpfile()};
};

}  // namespace

Result<std::string> run_gnuplot(std::string_view commands) {
    Unnamed in, out, errors;
    if (!in.is_open() || !out.is_open() || !errors.is_open())
        return error("a temporary file: {}", std::strerror(errno));
    in.write(commands);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, in.descriptor(), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, out.descriptor(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, errors.descriptor(), STDERR_FILENO);
    // -d: without the user's settings.
    char name[] = "gnuplot", defaults[] = "-d";
    char* arguments[] = {name, defaults, nullptr};
    pid_t child = 0;
    const int failed = posix_spawnp(&child, name, &files, nullptr, arguments, environ);
    posix_spawn_file_actions_destroy(&files);
    if (failed == ENOENT)
        return error("gnuplot draws the figures and is not installed; on Debian: gnuplot-nox");
    if (failed != 0) return error("gnuplot: {}", std::strerror(failed));
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return error("gnuplot: {}", std::strerror(errno));
    if (status != 0) return error("gnuplot: {}", printable(errors.content(), 500));
    return out.content();
}

}  // namespace elastic::studies

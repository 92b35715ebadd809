// SPDX-License-Identifier: MIT
// srun says to nobody which step it has made, so a step is found by its name, which srun is given,
// and its number, which is the highest of those with the name.  A worker has its node in its name:
// behind a front end Slurm holds each step to be on all nodes of its job.  Of worlds that are
// beside each other each has another name.
#include "selastic-run/job_step.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "common/environment.hpp"
#include "common/text.hpp"

extern char** environ;

namespace elastic::tools {
namespace {

constexpr int kSignalBase = 128;  // of the exit status of what a signal has ended

int number_in_environment(const char* name) {
    const char* text = std::getenv(name);
    const auto number = parse_integer(text ? text : "");
    return number && *number > 0 && *number < INT32_MAX ? static_cast<int>(*number) : 0;
}

std::string job_id() {
    return variable("SLURM_JOB_ID");
}

std::string base_name(const std::string& path) {
    return path.substr(path.rfind('/') + 1);
}

std::string step_name(const RunOptions& options, const Words& command, const StepPlace& place) {
    const std::string name = base_name(command.front()) + options.birth;
    return options.workers ? name + '@' + place.node_list : name;
}

std::vector<char*> pointers(const Words& words) {
    std::vector<char*> list;
    for (const std::string& word : words) list.push_back(const_cast<char*>(word.c_str()));
    list.push_back(nullptr);
    return list;
}

// The number of a step in "12.3" or "12_1.3"; nothing for "12.batch".
std::optional<std::int64_t> step_number(std::string_view id) {
    return parse_integer(id.substr(id.rfind('.') + 1));
}

// What the user has said of MPI there.  In the shell of a step, such as salloc's interactive one,
// and in jobs submitted from there, the variable is what Slurm has set for that step.
std::string mpi_in_environment() {
    return variable("SLURM_STEP_ID").empty() ? variable("SLURM_MPI_TYPE") : "";
}

// What srun is told of MPI, of which the last word counts; "": nothing.
std::string mpi_said(const RunOptions& options) {
    constexpr std::string_view kOption = "--mpi";
    std::string said = mpi_in_environment();
    bool follows = false;
    for (const std::string& word : options.srun_options) {
        if (follows) said = word;
        follows = word == kOption;
        if (word.starts_with(kOption) && word.substr(kOption.size()).starts_with('='))
            said = word.substr(kOption.size() + 1);
    }
    return said;
}

// The MPI that a program is linked with, as srun calls it; "": not known.
std::string mpi_type(const std::string& program) {
    const auto path = output_of({"sh", "-c", "command -v -- \"$1\"", "sh", program});
    const auto libraries =
        path ? output_of({"ldd", std::string(trim(split(*path, '\n')[0]))}) : std::nullopt;
    if (!libraries) return "";
    if (libraries->find("libmpich.so") != std::string::npos) return "pmi2";
    return libraries->find("libmpi.so") != std::string::npos ? "pmix" : "";
}

}  // namespace

std::string program_name(const RunOptions& options) {
    return base_name(options.program.front());
}

RunOptions mpi_options(const RunOptions& options) {
    RunOptions result = options;
    if (!mpi_said(options).empty()) return result;
    if (const std::string type = mpi_type(options.program.front()); !type.empty())
        result.srun_options.insert(result.srun_options.begin(), "--mpi=" + type);
    return result;
}

void wait_in_fences(const RunOptions& options) {
    const std::string said = mpi_said(options);
    if (said.empty() || said.starts_with("pmix")) ::setenv("SLURM_PMIX_FENCE", "ring", 0);
}

Time steady_now() {
    using namespace std::chrono;
    return duration<double>(steady_clock::now().time_since_epoch()).count();
}

int tasks_per_node(const RunOptions& options) {
    if (options.tasks_per_node > 0) return options.tasks_per_node;
    if (const int each = number_in_environment("SLURM_NTASKS_PER_NODE"); each > 0) return each;
    const int tasks = number_in_environment("SLURM_NTASKS");
    const int nodes = number_in_environment("SLURM_JOB_NUM_NODES");
    return tasks > 0 && nodes > 0 ? (tasks + nodes - 1) / nodes : 1;
}

Words srun_words(const RunOptions& options, const Words& command, const StepPlace& place) {
    Words words{"srun", fmt::format("--nodes={}", place.nodes),
                fmt::format("--ntasks={}", place.nodes * tasks_per_node(options)),
                "--job-name=" + step_name(options, command, place)};
    if (!place.node_list.empty()) words.push_back("--nodelist=" + place.node_list);
    if (options.goes_on) words.emplace_back("--open-mode=append");
    words.insert(words.end(), options.srun_options.begin(), options.srun_options.end());
    words.insert(words.end(), command.begin(), command.end());
    return words;
}

std::string with_export(const std::string& list, const std::string& variable) {
    const auto names = split(list, ',');
    if (list.empty() || std::ranges::find(names, "ALL") != names.end()) return list;
    return list == "NONE" ? variable : list + ',' + variable;
}

void set_environment(const RunOptions& options, const StepPlace& place) {
    const std::string nodes = std::to_string(place.nodes);
    for (const char* name : {"SLURM_JOB_NODELIST", "SLURM_NODELIST"})
        ::setenv(name, place.node_list.c_str(), 1);
    for (const char* name : {"SLURM_JOB_NUM_NODES", "SLURM_NNODES"})
        ::setenv(name, nodes.c_str(), 1);
    for (const char* name :
         {"SLURM_TASKS_PER_NODE", "SLURM_JOB_CPUS_PER_NODE", "SLURM_NTASKS", "SLURM_NPROCS"})
        ::unsetenv(name);
    if (std::getenv("SLURM_NTASKS_PER_NODE"))  // srun would say that it does not fit
        ::setenv("SLURM_NTASKS_PER_NODE", std::to_string(tasks_per_node(options)).c_str(), 1);
}

pid_t start_process(const Words& words) {
    posix_spawnattr_t attributes;
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    pid_t pid = -1;
    const int code = ::posix_spawnp(&pid, words.front().c_str(), nullptr, &attributes,
                                    pointers(words).data(), environ);
    posix_spawnattr_destroy(&attributes);
    if (code != 0) throw std::system_error(code, std::generic_category(), words.front());
    return pid;
}

void become(const Words& words) {
    ::execvp(words.front().c_str(), pointers(words).data());
    throw std::system_error(errno, std::generic_category(), words.front());
}

std::optional<std::string> output_of(const Words& words) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
        throw std::system_error(errno, std::generic_category(), "pipe");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t pid = -1;
    const int code = ::posix_spawnp(&pid, words.front().c_str(), &actions, nullptr,
                                    pointers(words).data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    std::string text;
    std::array<char, 4096> part;
    for (ssize_t got; code == 0 && (got = ::read(ends[0], part.data(), part.size())) != 0;) {
        if (got > 0)
            text.append(part.data(), static_cast<std::size_t>(got));
        else if (errno != EINTR)
            break;
    }
    ::close(ends[0]);
    int status = 1;
    while (code == 0 && ::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (code != 0 || status != 0) return std::nullopt;
    return text;
}

bool job_goes_on() {
    const auto states = output_of(
        {"squeue", "--noheader", "--job=" + job_id(), "--states=RUNNING,SUSPENDED", "--format=%T"});
    return states && !trim(*states).empty();
}

int shell_status(int wait_status) {
    return WIFSIGNALED(wait_status) ? kSignalBase + WTERMSIG(wait_status)
                                    : WEXITSTATUS(wait_status);
}

JobStep::JobStep(const RunOptions& options, const Words& command, StepPlace place,
                 std::int64_t after)
    : place_(std::move(place)),
      name_(step_name(options, command, place_)),
      after_(after),
      began_(steady_now()) {
    set_environment(options, place_);
    pid_ = start_process(srun_words(options, command, place_));
}

Time JobStep::seen() {
    if (!id_.empty()) return seen_;
    const auto list =
        output_of({"squeue", "--noheader", "--steps", "--job=" + job_id(), "--format=%i|%j"});
    if (!list) return seen_;
    std::int64_t highest = after_;
    for (const std::string_view line : split(*list, '\n')) {
        const auto fields = split(line, '|');
        if (fields.size() != 2 || trim(fields[1]) != name_) continue;
        const auto number = step_number(trim(fields[0]));
        if (!number || *number <= highest) continue;
        highest = *number;
        number_ = *number;
        id_ = trim(fields[0]);
        seen_ = steady_now();
    }
    return seen_;
}

bool JobStep::signal(const std::string& name) {
    return seen() < kNever &&
           output_of({"scancel", "--ctld", "--quiet", "--signal=" + name, id_}).has_value();
}

void JobStep::end() {
    if (std::exchange(told_to_end_, true)) return;
    if (!signal("KILL")) ::kill(pid_, SIGTERM);
}

}  // namespace elastic::tools

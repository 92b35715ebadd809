// SPDX-License-Identifier: MIT
// selastic-run(1): its command line, and which way the program is run.
#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "command_parser.hpp"
#include "common/json.hpp"
#include "libelastic/elastic.h"
#include "program.hpp"
#include "selastic-run/checkpoint_run.hpp"
#include "selastic-run/job_step.hpp"
#include "selastic-run/lone_run.hpp"
#include "selastic-run/options.hpp"
#include "selastic-run/pmix_run.hpp"
#include "selastic-run/program_settings.hpp"
#include "selastic-run/rebirth_run.hpp"
#include "selastic-run/workers_run.hpp"

namespace elastic::tools {
namespace {

struct CommandLine {
    RunOptions run;
    std::string profile, signal;
};

struct CloseHandle {
    void operator()(elastic_handle* handle) const { elastic_close(handle); }
};

StepPlace present_place(const elastic_handle* job) {
    return {elastic_nodelist(job), elastic_nodes(job)};
}

// What would be run, and when.
class Plan {
  public:
    void add(const char* when, const Words& words) {
        Json list = Json::array();
        for (const std::string& word : words) list.push(word);
        add(when, fmt::format("{}", fmt::join(words, " ")), list);
    }
    void add(const char* when, const std::string& text) { add(when, text, text); }
    // A program may be made to stop in two ways.
    void add_stop(const char* key, const std::string& text) {
        text_ += fmt::format("{:<8} {}\n", "stop", text);
        json_.set(key, text);
    }
    int print(bool json) const {
        fmt::print("{}", json ? json_.dump() + '\n' : text_);
        return kExitOk;
    }

  private:
    void add(const char* when, const std::string& text, const Json& json) {
        text_ += fmt::format("{:<8} {}\n", when, text);
        json_.set(when, json);
    }

    std::string text_;
    Json json_ = Json::object();
};

int print_workers(const RunOptions& options) {
    Plan plan;
    plan.add("start", srun_words(options, options.program, {"NODE", 1}));
    if (!options.join.empty()) plan.add("join", options.join);
    if (!options.leave.empty()) plan.add("leave", options.leave);
    return plan.print(options.json);
}

int print_plan(const RunOptions& options, const StepPlace& place) {
    const auto restart = restart_words(options);
    if (!restart) return fail(restart.error());
    Plan plan;
    plan.add("start", srun_words(options, options.program, place));
    if (!options.stops()) return plan.print(options.json);
    if (!options.stop_signal.empty())
        plan.add_stop("stop_signal", fmt::format("scancel --signal={} JOB.STEP, at most {:g} s",
                                                 options.stop_signal, options.stop_seconds));
    if (!options.stop_file.empty())
        plan.add_stop("stop_file", fmt::format("by the file {}", options.stop_file));
    plan.add("restart", srun_words(options, *restart, place));
    return plan.print(options.json);
}

int run(RunOptions options) {
    const auto lone =
        LoneRun::begin();  // before it is heard of: the controller listens to the last
    if (!lone) return fail(lone.error());
    elastic_handle* opened = nullptr;
    const int code = elastic_open(&opened, 0);
    const std::unique_ptr<elastic_handle, CloseHandle> job(opened);
    if (!job) return fail(Error{elastic_strerror(code)});
    if (code == ELASTIC_OK) lone->resizes();
    options.tasks_per_node = tasks_per_node(options);
    if (!options.workers && !options.pmix) options = mpi_options(options);
    wait_in_fences(options);
    if (options.dry_run && options.workers) return print_workers(options);
    if (options.dry_run)
        return print_plan(options.stops() ? options : rebirth_options(options),
                          present_place(job.get()));
#ifdef HAVE_PMIX
    if (code == ELASTIC_OK && options.pmix) return run_with_pmix(job.get(), options);
#endif
    if (code == ELASTIC_OK && options.workers) return run_workers(job.get(), options);
    if (code == ELASTIC_OK && options.stops()) return run_with_checkpoints(job.get(), options);
    if (code == ELASTIC_OK) return run_with_rebirth(job.get(), options);
    if (options.control >= 0) ::close(options.control);
    Words words{"srun"};
    words.insert(words.end(), options.srun_options.begin(), options.srun_options.end());
    words.insert(words.end(), options.program.begin(), options.program.end());
    become(words);
}

int print_profiles() {
    const auto profiles = known_profiles();
    if (profiles.empty())
        return fail(Error{"no profile is installed; SELASTIC_PROFILES names folders with some"});
    for (const Profile& profile : profiles)
        fmt::print("{:<10} {}\n", profile.name, profile.comment);
    return kExitOk;
}

Result<RunOptions> read(CommandLine line, Words rest) {
    RunOptions options = std::move(line.run);
    if (!rest.empty() && rest.front() == "--") rest.erase(rest.begin());
    if (rest.empty()) return Error{"which program? --help lists the options"};
    if (rest.front().starts_with("-"))
        return error("{}: unknown; --help lists the options", rest.front());
    options.program = std::move(rest);
    if (!line.signal.empty())
        if (const auto done = read_stop_signal(line.signal, options); !done)
            return error("--checkpoint-signal: {}", done.error().message);
    if (!line.profile.empty())
        if (const auto done = apply_program_settings(line.profile, options); !done)
            return done.error();
    if (options.workers && options.stops())
        return Error{"--workers: workers are not stopped for a resize"};
    if (options.stop_first && (options.workers || options.stops()))
        return Error{"--stop-first: only for programs with libelastic-mpi"};
    if (options.pmix && (options.workers || options.stops() || options.stop_first))
        return Error{"--pmix: the program asks, and is not stopped for a resize"};
#ifndef HAVE_PMIX
    if (options.pmix) return Error{"--pmix: this was built without PMIx (libpmix-dev)"};
#endif
    if (!options.workers && (!(options.join + options.leave).empty() || options.control >= 0))
        return Error{"--join, --leave, --control: only with --workers"};
    if (const auto restart = restart_words(options); !restart)
        return error("--restart: {}", restart.error().message);
    return options;
}

void add_stopping(CommandParser app, CommandLine& line) {
    app.add_option("--as,--profile", line.profile,
                   "What is known of a program: gromacs, lammps, or a file; list: what there is")
        .type_name("PROFILE");
    app.add_option("--checkpoint-signal", line.signal,
                   "Signal that makes the program stop, and within how many seconds it does")
        .type_name("SIG[@S]");
    app.add_option("--stop-file", line.run.stop_file, "File that makes the program stop")
        .type_name("PATH");
    app.add_option("--checkpoint-file", line.run.checkpoint, "File from which it goes on")
        .type_name("PATH");
    app.add_option("--restart", line.run.restart,
                   "Command that goes on, with %program and %checkpoint filled in")
        .type_name("COMMAND");
    app.add_option("--stopped-status", line.run.stopped_status, "Exit status once it has stopped")
        .whole_number(0, 255)
        .type_name("N");
}

void add_rebirth(CommandParser app, CommandLine& line) {
    app.add_flag("--stop-first", line.run.stop_first,
                 "With libelastic-mpi: not two worlds beside each other for a moment");
}

void add_workers(CommandParser app, CommandLine& line) {
    app.add_flag("--workers", line.run.workers, "One step a node, that come and go with the nodes");
    app.add_option("--join", line.run.join,
                   "Shell command when workers have started on ELASTIC_NODELIST")
        .type_name("COMMAND");
    app.add_option("--leave", line.run.leave,
                   "Shell command before the workers on ELASTIC_NODELIST are ended")
        .type_name("COMMAND");
    app.add_option("--control", line.run.control,
                   "Descriptor of a socket on which a program asks for nodes and gives some back")
        .whole_number(3, 1'000'000)
        .type_name("FD");
}

void add_pmix(CommandParser app, CommandLine& line) {
    app.add_flag("--pmix", line.run.pmix,
                 "The program asks for nodes, and gives some back, by PMIx_Allocation_request()");
}

void add_commands(CommandParser app) {
    auto line = std::make_shared<CommandLine>();
    app.end_at_unknown_word();
    add_stopping(app, *line);
    add_rebirth(app, *line);
    add_workers(app, *line);
    add_pmix(app, *line);
    app.add_option("--tasks-per-node", line->run.tasks_per_node,
                   "As many as the job began with by default")
        .whole_number(1, 1'000'000)
        .type_name("N");
    app.add_option("--srun", line->run.srun_options, "A further option of srun; may be repeated")
        .one_value_each()  // what follows is the program
        .type_name("OPTION");
    const Option dry_run = app.add_flag("--dry-run", line->run.dry_run, "Print what would be run");
    app.add_json(line->run.json, "With --dry-run: as one JSON object").needs(dry_run);
    app.runs([line, app] {
        if (line->profile == "list") return print_profiles();
        const auto options = read(*line, app.rest());
        return options ? run(*options) : fail(options.error());
    });
}

}  // namespace
}  // namespace elastic::tools

int main(int argc, char** argv) {
    using namespace elastic::tools;
    const Program program{"selastic-run",
                          "Run PROGRAM ARGS in an elastic job, resized with the job", add_commands};
    return run_program(program, argc, argv);
}

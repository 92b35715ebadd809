// SPDX-License-Identifier: MIT
// selastic(1): its command line.  Each command is a function in one of the *_commands files that
// returns the exit code.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>

#include "command_parser.hpp"
#include "program.hpp"
#include "protocol/codec.hpp"
#include "selastic-serve/serve_options.hpp"
#include "selastic/controller_commands.hpp"
#include "selastic/evacuate_command.hpp"
#include "selastic/file_commands.hpp"
#include "selastic/job_argument.hpp"
#include "selastic/job_commands.hpp"
#include "selastic/top_command.hpp"
#include "selastic/top_frame.hpp"

namespace elastic::tools {
namespace {

using protocol::Question;

CommandParser add(CommandParser app, const char* name, const char* text, const char* group) {
    return app.add_command(name, text).group(group);
}

constexpr double kMostSeconds = 1e8;

constexpr const char* kOfCluster = "Commands to the controller";
constexpr const char* kOfJob = "Commands inside a job, for scripts";
constexpr const char* kOfJournals = "Commands for a journal's file";

struct QueryOptions {
    protocol::Query query;
    bool json = false;
};

// A command that asks the controller this; the caller adds its arguments.
CommandParser add_query(CommandParser app, Question what, const char* text,
                        std::string (*render)(const Json&),
                        const std::shared_ptr<QueryOptions>& o) {
    CommandParser sub = add(app, std::string(to_string(what)).c_str(), text, kOfCluster);
    o->query.what = what;
    sub.add_json(o->json, "Print the answer as JSON");
    sub.runs([o, render] { return query_and_print(o->query, o->json, render); });
    return sub;
}

Option add_job_option(CommandParser sub, const char* name,
                      std::function<void(const JobArgument&)> take) {
    const auto read = [take = std::move(take)](const std::string& text) { take(*parse_job(text)); };
    return sub.add_option_function(name, read, "A job, or an array's element: 12_3")
        .type_name("")
        .check([](const std::string& text) -> std::string {
            const Result<JobArgument> job = parse_job(text);
            return job ? "" : job.error().message;
        });
}

void add_job(CommandParser sub, QueryOptions& o) {
    add_job_option(sub, "JOB", [&o](const JobArgument& job) {
        o.query.job = job.number;
        o.query.task = job.task;
    }).required();
}

void add_queries(CommandParser app) {
    const auto options = [] { return std::make_shared<QueryOptions>(); };
    add_query(app, Question::jobs, "List jobs with their sizes and agreements", render_jobs,
              options());
    auto o = options();
    add_job(add_query(app, Question::show, "Show all about a job", render_job, o), *o);
    for (const auto& [what, text] : {std::pair{Question::shrink, "Ask a job to give up nodes"},
                                     {Question::expand, "Offer a job more nodes"}}) {
        o = options();
        CommandParser sub = add_query(app, what, text, render_message, o);
        add_job(sub, *o);
        sub.add_option("N", o->query.nodes, "The size wanted, in nodes")
            .required()
            .whole_number(1, kMaxNodes);
    }
}

void add_evacuate(CommandParser app) {
    constexpr double kPatience = 1800;
    auto o = std::make_shared<EvacuateOptions>();
    o->timeout = kPatience;
    CommandParser sub =
        add(app, "evacuate", "Drain nodes and move malleable jobs off them", kOfCluster);
    sub.add_option("NODES", o->nodes, "Which, e.g. n[3-6]").required();
    sub.add_option("--timeout", o->timeout, "Seconds to go on; 1800 by default")
        .number(0, kMostSeconds)
        .type_name("S");
    sub.add_json(o->json, "Print the last answer as JSON in place of progress");
    sub.runs([o] { return evacuate(*o); });
}

struct JobOptions {
    std::int64_t op = 0;
    int nodes = 0, least = 0, size = 0;
    double timeout = 0, in = 0;
    bool json = false;
    std::string text;
};

using Shared = std::shared_ptr<JobOptions>;

CommandParser add_job_command(CommandParser app, const char* name, const char* text,
                              const Shared& o, int (*command)(const JobOptions&)) {
    CommandParser sub = add(app, name, text, kOfJob);
    sub.add_json(o->json, "Print JSON in place of what a shell reads");
    sub.runs([o, command] {
        if (o->json) print_json();
        return command(*o);
    });
    return sub;
}

void add_timeout(CommandParser sub, JobOptions& o, double standard, const char* text) {
    o.timeout = standard;
    sub.add_option("--timeout", o.timeout, text).number(0, kMostSeconds).type_name("S");
}

void add_op(CommandParser sub, JobOptions& o) {
    sub.add_option("OP", o.op, "The operation; without it the one in flight")
        .whole_number(1, INT64_MAX);
}

void add_answers(CommandParser app) {
    constexpr double kAnswer = 30, kMove = 300;
    auto o = std::make_shared<JobOptions>();
    CommandParser sub =
        add_job_command(app, "accept", "Accept what is offered", o,
                        [](const JobOptions& j) { return accept_offer(j.op, j.size, j.timeout); });
    add_op(sub, *o);
    sub.add_option("--size", o->size, "Of the nodes of an expansion, so many; all by default")
        .whole_number(1, kMaxNodes)
        .type_name("N");
    add_timeout(sub, *o, kAnswer, "Seconds for the controller to answer");

    o = std::make_shared<JobOptions>();
    sub = add_job_command(app, "decline", "Decline what is offered", o, [](const JobOptions& j) {
        return decline_offer(j.op, j.text, j.timeout);
    });
    add_op(sub, *o);
    sub.add_option("--reason", o->text, "Why, for the journal");
    add_timeout(sub, *o, kAnswer, "Seconds for the controller to answer");

    o = std::make_shared<JobOptions>();
    sub = add_job_command(app, "done",
                          "The nodes to give up are empty, or those that came are in use", o,
                          [](const JobOptions& j) { return report_done(j.op, j.timeout); });
    add_op(sub, *o);
    add_timeout(sub, *o, kMove, "Seconds until the nodes are really gone or there");
}

void add_wishes(CommandParser app) {
    constexpr double kGive = 60;
    auto o = std::make_shared<JobOptions>();
    CommandParser sub = add_job_command(
        app, "request", "Ask for more nodes and wait for them", o, [](const JobOptions& j) {
            return request_nodes(j.nodes, j.least ? j.least : j.nodes, j.timeout);
        });
    sub.add_option("N", o->nodes, "How many more").required().whole_number(1, kMaxNodes);
    sub.add_option("--least", o->least, "Be content with so many; N by default")
        .whole_number(1, kMaxNodes)
        .type_name("M");
    add_timeout(sub, *o, 0, "Seconds to wait for them; 0: now or never");

    o = std::make_shared<JobOptions>();
    sub =
        add_job_command(app, "step", "Say when the next step of the profile begins; by default now",
                        o, [](const JobOptions& j) { return plan_step(j.nodes, j.in, j.timeout); });
    sub.add_option("--nodes", o->nodes, "With how many nodes; as the profile says by default")
        .whole_number(1, kMaxNodes)
        .type_name("N");
    sub.add_option("--in", o->in, "Seconds from now").number(0, kMostSeconds).type_name("S");
    add_timeout(sub, *o, 0, "Seconds to wait for the nodes that come or are to go");

    o = std::make_shared<JobOptions>();
    sub = add_job_command(app, "release", "Give back nodes on which nothing runs any more", o,
                          [](const JobOptions& j) { return release_nodes(j.text, j.timeout); });
    sub.add_option("WHAT", o->text, "How many, or which: n[3-4]").required();
    add_timeout(sub, *o, kGive, "Seconds until they are gone");
}

void add_job_commands(CommandParser app) {
    auto o = std::make_shared<JobOptions>();
    CommandParser sub =
        add_job_command(app, "wait", "Wait for something to do and print it for eval", o,
                        [](const JobOptions& j) { return wait_for_event(j.timeout, j.op); });
    add_timeout(sub, *o, -1, "Seconds; for ever by default");
    sub.add_option("--after", o->op, "Not what is open of this operation, which has been told")
        .whole_number(1, INT64_MAX)
        .type_name("OP");
    add_answers(app);
    add_wishes(app);
    add_job_command(app, "env", "Print the environment of the job's present size for eval",
                    std::make_shared<JobOptions>(),
                    [](const JobOptions&) { return print_environment(); });
    o = std::make_shared<JobOptions>();
    sub = add_job_command(app, "nodes", "Print node names, one a line", o,
                          [](const JobOptions& j) { return print_nodes(j.text); });
    sub.add_option("NODELIST", o->text, "Such as n[1-4]; without it the job's present nodes");
}

void add_journal(CommandParser app) {
    struct Options {
        std::string file;
        JournalFilter filter;
    };
    auto o = std::make_shared<Options>();
    CommandParser sub = add(app, "journal", "Show what happened", kOfCluster);
    sub.add_option("--file", o->file, "Read this file instead of asking the controller")
        .type_name("FILE");
    sub.add_option("--tail", o->filter.tail,
                   "Only the last N events (without --file: 100 by default)")
        .whole_number(1, protocol::kMaxTail)
        .type_name("N");
    add_job_option(sub, "--job", [o](const JobArgument& job) {
        o->filter.job = job;
    }).type_name("JOB");
    sub.add_flag("--follow", o->filter.follow, "Go on with new events until interrupted");
    sub.add_json(o->filter.json, "One JSON object a line");
    sub.runs([o] {
        return o->file.empty() ? show_journal(o->filter) : show_journal_file(o->file, o->filter);
    });
}

void add_snapshot(CommandParser app) {
    auto json = std::make_shared<bool>(false);
    CommandParser sub =
        add(app, "snapshot", "Print what the scheduler saw and decided in its last pass, as JSON",
            kOfCluster);
    sub.add_json(*json, "On one line");
    sub.runs([json] { return show_snapshot(*json); });
}

void add_top(CommandParser app) {
    auto o = std::make_shared<TopOptions>();
    CommandParser sub = add(app, "top", "Watch the cluster in a terminal", kOfCluster);
    sub.add_option("--sort", o->sort, "The jobs that run by this; by default by job")
        .one_of(top_sort_keys())
        .type_name("KEY");
    sub.add_flag("--reverse", o->reverse, "In the opposite order");
    sub.add_option("--filter", o->filter, "Only jobs whose number, user, name or class has it")
        .type_name("TEXT");
    sub.add_flag("--once", o->once, "Print one frame as text");
    sub.add_json(o->json, "Print what a frame shows as one JSON object");
    sub.runs([o] { return top(*o); });
}

void add_check(CommandParser app) {
    auto o = std::make_shared<CheckOptions>();
    CommandParser sub =
        add(app, "check", "Replay a journal and report what cannot be", kOfJournals);
    sub.add_option("JOURNAL", o->files, "Its files, in any order").required();
    sub.add_flag("--running", o->may_still_run, "Jobs without an end are fine");
    sub.add_json(o->json, "One JSON object");
    sub.runs([o] { return check_journal(*o); });
}

void add_hours(CommandParser app) {
    auto o = std::make_shared<HoursOptions>();
    CommandParser sub =
        add(app, "hours", "Say for how long jobs held nodes and what these cost", kOfJournals);
    sub.add_option("JOURNAL", o->files, "Its files, in any order").required();
    sub.add_json(o->json, "One JSON object");
    sub.runs([o] { return show_hours(*o); });
}

void add_observed(CommandParser app) {
    auto o = std::make_shared<HoursOptions>();
    CommandParser sub =
        add(app, "observed", "Say what Observe=yes has seen that resizes would have changed",
            kOfJournals);
    sub.add_option("JOURNAL", o->files, "Its files, in any order").required();
    sub.add_json(o->json, "One JSON object");
    sub.runs([o] { return show_observed(*o); });
}

void add_gantt(CommandParser app) {
    auto o = std::make_shared<GanttOptions>();
    CommandParser sub = add(app, "gantt", "Draw nodes over time", kOfJournals);
    sub.add_option("JOURNAL", o->files, "Its files, in any order").required();
    sub.add_option("--svg", o->svg, "Write an image; - for standard output").type_name("FILE");
    sub.add_option("--title", o->title, "Of the image");
    sub.add_option("--nodes", o->nodes, "Only these nodes, e.g. n[1-4,7]").type_name("LIST");
    sub.add_option("--width", o->width, "Columns; the terminal's by default")
        .whole_number(40, 10'000)
        .type_name("W");
    sub.add_option("--color,--colour", o->colour, "auto, always or never")
        .one_of({"auto", "always", "never"});
    sub.add_flag("--ascii", o->ascii, "No characters beyond ASCII");
    sub.add_json(o->json, "Print what would be drawn as one JSON object");
    sub.runs([o] { return draw_gantt(*o); });
}

// Named here for --help and completion; serve() has it before a command line of ours is read.
void add_serve(CommandParser app) {
    add_serve_options(
        add(app, "serve", "Show jobs on a page, to Prometheus and to programs", kOfCluster));
}

void add_commands(CommandParser app) {
    add_queries(app);
    add_evacuate(app);
    add_serve(app);
    add_snapshot(app);
    add_top(app);
    add_journal(app);
    add_job_commands(app);
    add_check(app);
    add_hours(app);
    add_observed(app);
    add_gantt(app);
}

// `selastic serve` is a program of its own beside this one.
int serve(char** arguments) {
    std::error_code unknown;
    const auto beside = std::filesystem::read_symlink("/proc/self/exe", unknown).parent_path();
    const std::string own = beside / "selastic-serve";
    arguments[0] = const_cast<char*>("selastic-serve");
    if (!unknown) execv(own.c_str(), arguments);
    execvp(arguments[0], arguments);
    return fail(error("selastic-serve is not installed: {}", std::strerror(errno)));
}

}  // namespace
}  // namespace elastic::tools

int main(int argc, char** argv) {
    using namespace elastic::tools;
    if (argc > 1 && std::string_view(argv[1]) == "serve") return serve(argv + 1);
    const Program program{"selastic",
                          "Watch and steer elastic jobs, take part in them, read their journal",
                          add_commands};
    return run_program(program, argc, argv);
}

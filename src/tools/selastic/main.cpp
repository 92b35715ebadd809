// SPDX-License-Identifier: MIT
// selastic(1): its command line.  Each command is a function in one of the
// *_commands files that returns the exit code.
#include "elastic_config.h"

#include <CLI/CLI.hpp>
#include <exception>
#include <functional>
#include <memory>

#include "selastic/file_commands.hpp"
#include "selastic/output.hpp"

namespace elastic::tools {
namespace {

using Command = std::function<int()>;

CLI::App* add(CLI::App& app, const char* name, const char* text, const char* group) {
    return app.add_subcommand(name, text)->group(group);
}

constexpr const char* kOfJournals = "Commands for a journal";

void add_journal(CLI::App& app, Command& chosen) {
    struct Options {
        std::string file;
        JournalFilter filter;
    };
    auto o = std::make_shared<Options>();
    CLI::App* sub = add(app, "journal", "Show what happened", kOfJournals);
    sub->add_option("--file", o->file, "Read this file instead of asking the controller")
        ->required();
    sub->add_option("--tail", o->filter.tail, "Only the last N events")
        ->check(CLI::Range(1, 100'000))
        ->type_name("N");
    sub->add_option("--job", o->filter.job, "Only events of this job")->type_name("JOB");
    sub->add_flag("--follow", o->filter.follow, "Go on with new events until interrupted");
    sub->add_flag("--json", o->filter.json, "One JSON object a line");
    sub->callback([o, &chosen] { chosen = [o] { return show_journal_file(o->file, o->filter); }; });
}

void add_check(CLI::App& app, Command& chosen) {
    auto o = std::make_shared<CheckOptions>();
    CLI::App* sub = add(app, "check", "Replay a journal and report what cannot be", kOfJournals);
    sub->add_option("JOURNAL", o->files, "Its files, oldest first")->required();
    sub->add_flag("--running", o->may_still_run, "Jobs without an end are fine");
    sub->add_flag("--json", o->json, "One JSON object");
    sub->callback([o, &chosen] { chosen = [o] { return check_journal(*o); }; });
}

void add_gantt(CLI::App& app, Command& chosen) {
    auto o = std::make_shared<GanttOptions>();
    CLI::App* sub = add(app, "gantt", "Draw nodes over time", kOfJournals);
    sub->add_option("JOURNAL", o->files, "Its files, oldest first")->required();
    sub->add_option("--svg", o->svg, "Write an image; - for standard output")->type_name("FILE");
    sub->add_option("--title", o->title, "Of the image");
    sub->add_option("--nodes", o->nodes, "Only these nodes, e.g. n[1-4,7]")->type_name("LIST");
    sub->add_option("--width", o->width, "Columns; the terminal's by default")
        ->check(CLI::Range(40, 10'000))
        ->type_name("W");
    sub->add_option("--color,--colour", o->colour, "auto, always or never")
        ->check(CLI::IsMember({"auto", "always", "never"}));
    sub->add_flag("--ascii", o->ascii, "No characters beyond ASCII");
    sub->callback([o, &chosen] { chosen = [o] { return draw_gantt(*o); }; });
}

int run(int argc, char** argv) {
    CLI::App app("Watch and steer elastic jobs, take part in them, read their journal", "selastic");
    app.require_subcommand(1);
    app.set_version_flag("--version", PACKAGE_STRING);
    Command chosen;
    add_journal(app, chosen);
    add_check(app, chosen);
    add_gantt(app, chosen);
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
}  // namespace elastic::tools

int main(int argc, char** argv) {
    try {
        return elastic::tools::run(argc, argv);
    } catch (const std::exception& e) {
        return elastic::tools::fail(elastic::Error{e.what()});
    }
}

// SPDX-License-Identifier: MIT
// The command line is parsed as a whole before anything is done, so a mistake in its last word
// leaves nothing behind.  A check sees the text before CLI11 does, so the message can quote it and
// name the bounds as whole numbers where they are.
#include "command_parser.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "common/text.hpp"
#include "completion.hpp"
#include "elastic_config.h"

namespace elastic::tools {
namespace {

// A check of a value within bounds, which --help shows, too.
template <class T>
CLI::Validator within(T least, T most, std::optional<T> (*parse)(std::string_view),
                      const char* what) {
    const std::string range = fmt::format("from {} to {}", least, most);
    return CLI::Validator(
        [=](std::string& text) {
            const auto value = parse(text);
            if (value && *value >= least && *value <= most) return std::string();
            return fmt::format("'{}' is no {} {}", text, what, range);
        },
        range);
}

// The words of "TYPE:{one,other}", as which CLI11 shows a choice; none of another type.
std::vector<std::string> words_in(const std::string& type) {
    std::vector<std::string> words;
    const auto begin = type.rfind(":{");
    if (begin == std::string::npos || !type.ends_with('}')) return words;
    std::string_view rest = std::string_view(type).substr(begin + 2);
    rest.remove_suffix(1);
    for (std::size_t end; (end = rest.find(',')) != std::string_view::npos;
         rest.remove_prefix(end + 1))
        words.emplace_back(rest.substr(0, end));
    words.emplace_back(rest);
    return words;
}

Argument argument_of(const CLI::Option& option) {
    Argument argument;
    for (const std::string& name : option.get_snames()) argument.names.push_back('-' + name);
    for (const std::string& name : option.get_lnames()) argument.names.push_back("--" + name);
    argument.text = option.get_description();
    argument.repeats = option.get_items_expected_max() > 1;
    if (option.get_items_expected_max() == 0) return argument;
    const std::string type = option.get_type_name();
    argument.words = words_in(type);
    argument.value =
        argument.names.empty() ? option.get_name(true) : type.substr(0, type.find(':'));
    if (argument.value.empty()) argument.value = "VALUE";
    return argument;
}

CommandDescription description_of(const CLI::App& app) {
    CommandDescription command{app.get_name(), app.get_description(), {}, {}, {}, false};
    for (const CLI::Option* option : app.get_options()) {
        if (option->get_group().empty()) continue;
        auto& arguments = option->nonpositional() ? command.options : command.operands;
        arguments.push_back(argument_of(*option));
    }
    for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
        command.commands.push_back(description_of(*sub));
    command.runs_program = app.get_prefix_command();
    return command;
}

int print_completion(const CLI::App& app, std::string_view shell) {
    const auto script = completion_script(description_of(app), shell);
    if (!script) return fail(script.error());
    fmt::print("{}", *script);
    return kExitOk;
}

}  // namespace

Option Option::required() {
    option_->required();
    return *this;
}

Option Option::type_name(const char* name) {
    option_->type_name(name);
    return *this;
}

Option Option::group(const char* heading) {
    option_->group(heading);
    return *this;
}

Option Option::excludes(Option other) {
    option_->excludes(other.option_);
    return *this;
}

Option Option::needs(Option other) {
    option_->needs(other.option_);
    return *this;
}

Option Option::one_value_each() {
    option_->take_all()->allow_extra_args(false);
    return *this;
}

Option Option::check(Check what_is_wrong) {
    option_->check(std::move(what_is_wrong));
    return *this;
}

Option Option::whole_number(std::int64_t least, std::int64_t most) {
    option_->check(within(least, most, parse_integer, "whole number"));
    return *this;
}

Option Option::number(double least, double most) {
    option_->check(within(least, most, parse_number, "number"));
    return *this;
}

Option Option::one_of(std::vector<std::string> words) {
    option_->check(CLI::IsMember(std::move(words)));
    return *this;
}

CommandParser CommandParser::add_command(const std::string& name, const char* text) {
    app_->require_subcommand(1);
    return {*app_->add_subcommand(name, text), *chosen_};
}

CommandParser CommandParser::group(const char* heading) {
    app_->group(heading);
    return *this;
}

CommandParser CommandParser::footer(const char* text) {
    app_->footer(text);
    return *this;
}

void CommandParser::runs(Command command) {
    app_->callback([command = std::move(command), chosen = chosen_] { *chosen = command; });
}

void CommandParser::end_at_unknown_word() {
    app_->prefix_command();
}

std::vector<std::string> CommandParser::rest() const {
    return app_->remaining();
}

template <class T>
Option CommandParser::add_option(const std::string& names, T& value, const std::string& text) {
    return Option(app_->add_option(names, value, text));
}

template Option CommandParser::add_option(const std::string&, std::string&, const std::string&);
template Option CommandParser::add_option(const std::string&, std::vector<std::string>&,
                                          const std::string&);
template Option CommandParser::add_option(const std::string&, double&, const std::string&);
template Option CommandParser::add_option(const std::string&, std::int32_t&, const std::string&);
template Option CommandParser::add_option(const std::string&, std::int64_t&, const std::string&);
template Option CommandParser::add_option(const std::string&, std::uint64_t&, const std::string&);

Option CommandParser::add_option_function(const std::string& names,
                                          const std::function<void(const std::string&)>& read,
                                          const std::string& text) {
    return Option(app_->add_option_function<std::string>(names, read, text));
}

Option CommandParser::add_flag(const std::string& names, bool& value, const std::string& text) {
    return Option(app_->add_flag(names, value, text));
}

Option CommandParser::add_json(bool& json, const std::string& text) {
    return add_flag("--json", json, text);
}

bool CommandParser::has(const std::string& option) const {
    return app_->count(option) > 0;
}

int parse_and_run(const Program& program, int argc, char** argv) {
    CLI::App app(program.text, program.name);
    app.set_version_flag("--version", PACKAGE_STRING);
    Command chosen;
    program.add_commands(CommandParser(app, chosen));
    if (argc == 3 && std::string_view(argv[1]) == "--print-completion")
        return print_completion(app, argv[2]);
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& e) {
        return app.exit(e);
    } catch (const CLI::RequiredError& e) {
        // A word that is no command makes the command missing.
        const std::vector<std::string> rest = app.remaining(true);
        if (!rest.empty())
            return fail(error("{}: unknown; --help lists the commands", rest.front()));
        const std::string_view what = e.what();
        return fail(what.ends_with("subcommand is required")
                        ? Error{"which command? --help lists them"}
                        : error("{}; --help says what it takes", what));
    } catch (const CLI::ExtrasError&) {
        return fail(error("{}: not expected; --help says what is", app.remaining(true).front()));
    } catch (const CLI::ConversionError& e) {
        return fail(error("{}; --help says what it takes", e.what()));
    } catch (const CLI::ParseError& e) {
        return fail(Error{e.what()});
    }
    return chosen();
}

}  // namespace elastic::tools

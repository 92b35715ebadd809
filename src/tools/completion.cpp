// SPDX-License-Identifier: MIT
// The scripts are whole: a program is not asked while somebody types, so completion is as fast on a
// login node whose file system is slow, and works where the program is not installed yet.
//
// What a value is goes by what --help calls it: a FILE, a JOURNAL or a LOG is a file.  That of bash
// needs nothing of the package bash-completion.
//
// Always: names and texts of --help are quoted, whatever is in them.
#include "completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace elastic::tools {
namespace {

constexpr std::array<std::string_view, 7> kFiles{"FILE",  "JOURNAL",  "LOG",    "PATH",
                                                 "STUDY", "SNAPSHOT", "PROFILE"};

bool is_file(const Argument& argument) {
    return std::find(kFiles.begin(), kFiles.end(), argument.value) != kFiles.end();
}

std::string in_quotes(std::string_view text) {
    std::string quoted = "'";
    for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

std::string identifier(std::string name) {
    std::replace_if(
        name.begin(), name.end(), [](char c) { return c == '-' || c == '/'; }, '_');
    return name;
}

// ---- bash

// The rows of one `case`: what is known of a command, of an option's value or of an operand.
struct Cases {
    std::string commands, options, values, operands;
};

constexpr const char* kOther = "other";  // of which nothing can be listed

// What the function of bash is told to complete.
std::string kind(const Argument& argument) {
    if (!argument.words.empty()) return fmt::format("words {}", fmt::join(argument.words, " "));
    if (argument.value == "DIR") return "folders";
    return is_file(argument) ? "files" : kOther;
}

void add_row(std::string& cases, std::string_view patterns, std::string_view answer) {
    cases += fmt::format("        {}) echo {} ;;\n", patterns, in_quotes(answer));
}

void add_options(const CommandDescription& command, const std::string& path, Cases& cases) {
    std::vector<std::string> names;
    for (const Argument& option : command.options) {
        names.insert(names.end(), option.names.begin(), option.names.end());
        if (option.value.empty()) continue;
        std::vector<std::string> patterns;
        for (const std::string& name : option.names)
            patterns.push_back(in_quotes(path + ' ' + name));
        add_row(cases.values, fmt::format("{}", fmt::join(patterns, "|")), kind(option));
    }
    add_row(cases.options, in_quotes(path), fmt::format("{}", fmt::join(names, " ")));
}

void add_operands(const CommandDescription& command, const std::string& path, Cases& cases) {
    if (command.runs_program) add_row(cases.operands, in_quotes(path + ' ') + '*', "program");
    for (std::size_t i = 0; i < command.operands.size(); ++i) {
        if (kind(command.operands[i]) == kOther) continue;
        const bool repeats = command.operands[i].repeats;
        add_row(
            cases.operands,
            in_quotes(repeats ? path + ' ' : fmt::format("{} {}", path, i)) + (repeats ? "*" : ""),
            kind(command.operands[i]));
    }
}

void add_cases(const CommandDescription& command, const std::string& path, Cases& cases) {
    add_options(command, path, cases);
    add_operands(command, path, cases);
    std::vector<std::string> names;
    for (const CommandDescription& sub : command.commands) {
        names.push_back(sub.name);
        add_cases(sub, path + '/' + sub.name, cases);
    }
    if (!names.empty())
        add_row(cases.commands, in_quotes(path), fmt::format("{}", fmt::join(names, " ")));
}

// FUNCTION, and each of its tables, are replaced.  In COMP_WORDS an option's "=" is a word.
constexpr const char* kBash = R"sh(# shellcheck shell=bash
# Completion of PROGRAM; what --help says is where it comes from.

FUNCTION_commands() {
    case $1 in
COMMANDS        *) ;;
    esac
}

FUNCTION_options() {
    case $1 in
OPTIONS        *) ;;
    esac
}

FUNCTION_value() {
    case "$1 $2" in
VALUES        *) ;;
    esac
}

FUNCTION_operand() {
    case "$1 $2" in
OPERANDS        *) ;;
    esac
}

FUNCTION() {
    local command='' option='' takes='' operands=0 i word current=${COMP_WORDS[COMP_CWORD]}
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ -n $option ]]; then
            [[ $word = '=' ]] || option=''
        elif [[ $word = -* ]]; then
            [[ -z $(FUNCTION_value "$command" "$word") ]] || option=$word
        elif [[ " $(FUNCTION_commands "$command") " = *" $word "* ]]; then
            command+=/$word
        else
            [[ $(FUNCTION_operand "$command" "$operands") != program ]] || { takes=files; break; }
            operands=$((operands + 1))
        fi
    done
    [[ $current != '=' ]] || current=''
    if [[ -n $takes ]]; then
        :
    elif [[ -n $option ]]; then
        takes=$(FUNCTION_value "$command" "$option")
    elif [[ $current = -* ]]; then
        takes="words $(FUNCTION_options "$command")"
    else
        takes="words $(FUNCTION_commands "$command")"
        [[ $takes != 'words ' ]] || takes=$(FUNCTION_operand "$command" "$operands")
    fi
    case $takes in
        words*) mapfile -t COMPREPLY < <(compgen -W "${takes#words }" -- "$current") ;;
        program) mapfile -t COMPREPLY < <(compgen -c -- "$current") ;;
        files)
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
        folders)
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
    esac
}

complete -F FUNCTION PROGRAM
)sh";

// Each occurrence of each first word, by its second; what has been put in is not looked at again.
std::string filled_in(std::string_view text,
                      const std::vector<std::pair<std::string_view, std::string>>& parts) {
    std::string filled;
    while (!text.empty()) {
        const auto part = std::find_if(parts.begin(), parts.end(),
                                       [&](const auto& p) { return text.starts_with(p.first); });
        filled += part == parts.end() ? std::string(1, text.front()) : part->second;
        text.remove_prefix(part == parts.end() ? 1 : part->first.size());
    }
    return filled;
}

std::string for_bash(const CommandDescription& program) {
    Cases cases;
    add_cases(program, "", cases);
    return filled_in(kBash, {{"PROGRAM", program.name},
                             {"FUNCTION", '_' + identifier(program.name)},
                             {"COMMANDS", cases.commands},
                             {"OPTIONS", cases.options},
                             {"VALUES", cases.values},
                             {"OPERANDS", cases.operands}});
}

// ---- zsh

// In a specification of _arguments.
std::string escaped(std::string_view text) {
    std::string result;
    for (const char c : text) {
        if (c == ':' || c == '[' || c == ']' || c == '\\') result += '\\';
        result += c;
    }
    return result;
}

std::string zsh_action(const Argument& argument) {
    if (!argument.words.empty()) return fmt::format("({})", fmt::join(argument.words, " "));
    if (argument.value == "DIR") return "_files -/";
    return is_file(argument) ? "_files" : " ";
}

std::string zsh_option(const Argument& option) {
    std::vector<std::string> lines;
    for (const std::string& name : option.names) {
        const bool takes_equals = name.starts_with("--") && !option.value.empty();
        std::string text = fmt::format("{}{}{}[{}]", option.repeats ? "*" : "", name,
                                       takes_equals ? "=" : "", escaped(option.text));
        if (!option.value.empty())
            text += fmt::format(":{}:{}", escaped(option.value), zsh_action(option));
        if (!option.repeats && option.names.size() > 1)
            text = fmt::format("({}){}", fmt::join(option.names, " "), text);
        lines.push_back("        " + in_quotes(text));
    }
    return fmt::format("{}", fmt::join(lines, " \\\n"));
}

std::vector<std::string> zsh_operands(const CommandDescription& command) {
    if (command.runs_program) return {"'(-):PROGRAM:_command_names -e'", "'*::ARGS:_normal'"};
    if (!command.commands.empty()) return {"': :->command'", "'*:: :->arguments'"};
    std::vector<std::string> operands;
    for (const Argument& operand : command.operands)
        operands.push_back(in_quotes(fmt::format("{}:{}:{}", operand.repeats ? "*" : "",
                                                 escaped(operand.value), zsh_action(operand))));
    return operands;
}

// Which of the commands is named, and what that one takes.
std::string zsh_commands(const CommandDescription& command, const std::string& function) {
    std::string named, taken;
    for (const CommandDescription& sub : command.commands) {
        named += "                " + in_quotes(sub.name + ':' + sub.text) + '\n';
        taken +=
            fmt::format("                {}) {}_{} ;;\n", sub.name, function, identifier(sub.name));
    }
    return "    case $state in\n        command)\n            commands=(\n" + named +
           "            )\n            _describe command commands ;;\n"
           "        arguments)\n            case $words[1] in\n" +
           taken + "            esac ;;\n    esac\n";
}

// The function of this command, behind those of its own commands.
std::string zsh_function(const CommandDescription& command, const std::string& function) {
    std::string text;
    for (const CommandDescription& sub : command.commands)
        text += zsh_function(sub, function + '_' + identifier(sub.name));
    std::vector<std::string> lines;
    for (const Argument& option : command.options) lines.push_back(zsh_option(option));
    for (const std::string& operand : zsh_operands(command)) lines.push_back("        " + operand);
    text += function + "() {\n";
    if (!command.commands.empty())
        text +=
            "    local curcontext=$curcontext state line\n    local -a commands\n"
            "    typeset -A opt_args\n";
    text += fmt::format("    _arguments {}\\\n{}\n", command.commands.empty() ? "-S " : "-C ",
                        fmt::join(lines, " \\\n"));
    if (!command.commands.empty()) text += zsh_commands(command, function);
    return text + "}\n\n";
}

std::string for_zsh(const CommandDescription& program) {
    const std::string function = '_' + identifier(program.name);
    return fmt::format(
               "#compdef {}\n# Completion of {}; what --help says is where it comes from.\n\n",
               program.name, program.name) +
           zsh_function(program, function) + function + " \"$@\"\n";
}

}  // namespace

Result<std::string> completion_script(const CommandDescription& program, std::string_view shell) {
    if (shell == "bash") return for_bash(program);
    if (shell == "zsh") return for_zsh(program);
    return error("{}: no completion for this shell; there is one for bash and one for zsh", shell);
}

}  // namespace elastic::tools

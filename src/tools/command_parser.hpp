// SPDX-License-Identifier: MIT
// What a program or one of its commands takes on the command line.
//
// Thin over CLI11, whose header alone takes the compiler longer than most of our files: only
// command_parser.cpp includes it.  Values are checked as text, so that a message can quote what was
// given.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "program.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace elastic::tools {

// A handle of one option or operand; it and what it names live as long as the program's parser.
class Option {
  public:
    // What is wrong with a value; "" if nothing is.
    using Check = std::function<std::string(const std::string& value)>;

    Option required();
    Option type_name(const char* name);
    // The heading below which --help lists it.
    Option group(const char* heading);
    Option excludes(Option other);
    Option needs(Option other);
    // Of a list: each occurrence has one value, what follows it is something else.
    Option one_value_each();

    Option check(Check);
    Option whole_number(std::int64_t least, std::int64_t most);
    Option number(double least, double most);
    Option one_of(std::vector<std::string> words);

  private:
    friend class CommandParser;
    explicit Option(CLI::Option* option) : option_(option) {}

    CLI::Option* option_;
};

// A handle of a program or command; as copies name the same one, it is passed by value.
class CommandParser {
  public:
    // `chosen` becomes the command that the user has named.  Both outlive the handle.
    CommandParser(CLI::App& app, Command& chosen) : app_(&app), chosen_(&chosen) {}

    // One of its commands is required from now on.
    CommandParser add_command(const std::string& name, const char* text);
    CommandParser group(const char* heading);
    CommandParser footer(const char* text);
    // What is done if this is what the user has named.
    void runs(Command);
    // Parsing ends at the first word that is not known; rest() has that and all behind it.
    void end_at_unknown_word();
    std::vector<std::string> rest() const;

    // `names` as in "-j,--threads"; without dashes it is an operand.  `value` is set when the
    // command line is parsed and keeps what it has if the option is not given.  T is std::string, a
    // vector of them, double or a type of integers.
    template <class T>
    Option add_option(const std::string& names, T& value, const std::string& text);
    // `read` is called with the value, which has passed all checks.
    Option add_option_function(const std::string& names,
                               const std::function<void(const std::string& value)>& read,
                               const std::string& text);
    Option add_flag(const std::string& names, bool& value, const std::string& text);

    // --json: what the command prints is JSON, whose shape its manual page has.
    Option add_json(bool& json, const std::string& text = "Print JSON");

    bool has(const std::string& option) const;

  private:
    CLI::App* app_;
    Command* chosen_;
};

// Parses the command line, does what it says, and returns the exit code.  A mistake in it is an
// error as any other; what the command throws is the caller's.
int parse_and_run(const Program&, int argc, char** argv);

}  // namespace elastic::tools

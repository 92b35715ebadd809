// SPDX-License-Identifier: MIT
// Scripts with which shells complete a program's command line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/result.hpp"

namespace elastic::tools {

struct Argument {
    std::vector<std::string> names;  // with dashes; none of an operand
    std::string text;
    std::string value;               // what its value is called; "" if it takes none
    std::vector<std::string> words;  // if its value is one of these
    bool repeats = false;
};

// A program or one of its commands, as --help describes it.
struct CommandDescription {
    std::string name, text;
    std::vector<Argument> options, operands;
    std::vector<CommandDescription> commands;
    bool runs_program = false;  // its operands are a program and what that is given
};

// `shell` is bash or zsh.
Result<std::string> completion_script(const CommandDescription& program, std::string_view shell);

}  // namespace elastic::tools

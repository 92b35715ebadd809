// SPDX-License-Identifier: MIT
// The command line of `selastic serve`: of the program that serves, and of selastic, which passes
// it on unread, but has it in its completion.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "command_parser.hpp"

namespace elastic::tools {

struct ServeOptions {
    std::string listen = "127.0.0.1:9821", socket;
    std::vector<std::string> names;
    double interval = 2;
    int connections = 1024;
};

// Returns where their values come to.
std::shared_ptr<ServeOptions> add_serve_options(CommandParser);

}  // namespace elastic::tools

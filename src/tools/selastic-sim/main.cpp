// SPDX-License-Identifier: MIT
// selastic-sim(1): its commands, in the order in which --help lists them.
#include "program.hpp"
#include "selastic-sim/commands.hpp"

namespace elastic::tools {
namespace {

void add_commands(CLI::App& app, Command& chosen) {
    add_run(app, chosen);
    add_generate(app, chosen);
    add_sweep(app, chosen);
    add_reproduce(app, chosen);
    add_tune(app, chosen);
    add_advise(app, chosen);
    add_replay_snapshot(app, chosen);
}

}  // namespace
}  // namespace elastic::tools

int main(int argc, char** argv) {
    using namespace elastic::tools;
    const Program program{"selastic-sim", "Simulate elastic scheduling on workload logs",
                          add_commands};
    return run_program(program, argc, argv);
}

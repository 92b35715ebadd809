// SPDX-License-Identifier: MIT
// selastic-sim(1): its commands, in the order in which --help lists them.
#include "program.hpp"
#include "selastic-sim/commands.hpp"

namespace elastic::tools {
namespace {

void add_commands(CommandParser app) {
    add_run(app);
    add_generate(app);
    add_sweep(app);
    add_reproduce(app);
    add_tune(app);
    add_trust(app);
    add_advise(app);
    add_replay_snapshot(app);
}

}  // namespace
}  // namespace elastic::tools

int main(int argc, char** argv) {
    using namespace elastic::tools;
    const Program program{"selastic-sim", "Simulate elastic scheduling on workload logs",
                          add_commands};
    return run_program(program, argc, argv);
}

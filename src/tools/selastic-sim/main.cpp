// SPDX-License-Identifier: MIT
// selastic-sim(1): its commands, in the order in which --help lists them.
#include <malloc.h>

#include <climits>

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

// What is freed serves what is allocated next.  glibc would hand large blocks back to the system,
// and the pages of the next ones would be mapped and cleared anew, a sixth of the time of a run.
void keep_freed_memory() {
    mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the most that it takes
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    mallopt(M_TOP_PAD, 32 << 20);
}

}  // namespace
}  // namespace elastic::tools

int main(int argc, char** argv) {
    using namespace elastic::tools;
    const Program program{"selastic-sim", "Simulate elastic scheduling on workload logs",
                          add_commands};
    keep_freed_memory();
    return run_program(program, argc, argv);
}

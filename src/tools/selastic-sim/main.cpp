// SPDX-License-Identifier: MIT
// selastic-sim(1): its commands, in the order in which --help lists them.
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <climits>
#include <cstdint>
#include <cstdlib>

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

constexpr int kRoom = 32 << 20;  // bytes, by which the heap grows

// What is freed serves what is allocated next.  glibc would hand large blocks back to the system,
// and the pages of the next ones would be mapped and cleared anew, a sixth of the time of a run.
void keep_freed_memory() {
    mallopt(M_MMAP_THRESHOLD, kRoom);  // the most that it takes
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    mallopt(M_TOP_PAD, kRoom);
}

// The system maps and clears a page when it is touched first, and doing so by 4 KiB takes a tenth
// of the time of a run.  Where it has no huge pages all is as before.
void use_huge_pages() {
    constexpr std::uintptr_t kHuge = 2 << 20;
    void* volatile first = std::malloc(kHuge);  // volatile, or the compiler leaves it out
    const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(first) / kHuge + 1,
                         end = reinterpret_cast<std::uintptr_t>(sbrk(0)) / kHuge;
    std::free(first);
    if (begin < end)
        madvise(reinterpret_cast<void*>(begin * kHuge), (end - begin) * kHuge, MADV_HUGEPAGE);
}

}  // namespace
}  // namespace elastic::tools

int main(int argc, char** argv) {
    using namespace elastic::tools;
    const Program program{"selastic-sim", "Simulate elastic scheduling on workload logs",
                          add_commands};
    keep_freed_memory();
    use_huge_pages();
    return run_program(program, argc, argv);
}

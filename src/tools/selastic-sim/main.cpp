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

// The system maps and clears a page when it is touched first, and doing so by 4 KiB takes a fifth
// of the time of a run.  Where it has no huge pages all is as before.  The heap's part before the
// first whole one is taken and never touched, since a log's text would begin there, up to what
// malloc() writes behind it: where anything was touched small pages stay small.
void use_huge_pages() {
    constexpr std::uintptr_t kHuge = 2 << 20, kGrows = 256 << 10, kHeader = 64;
    const auto address = [](const void* at) { return reinterpret_cast<std::uintptr_t>(at); };
    static void* volatile before;  // volatile, or the compiler leaves it out
    before = std::malloc(kGrows);
    const std::uintptr_t begin = ((address(before) + kGrows + kHeader) / kHuge + 1) * kHuge,
                         end = address(sbrk(0));
    if (begin >= end) return;  // not glibc's heap
    before = std::realloc(before, begin - address(before) - kHeader);
    madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
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

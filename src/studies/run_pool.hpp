// SPDX-License-Identifier: MIT
// Many independent tasks on all cores.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace elastic::studies {

struct PoolOptions {
    int threads = 0;       // 0: as many as there are processors
    std::string progress;  // what is being done; "": nothing is said
    bool is_part = false;  // of more: how long it took is not said
};

// Calls task(0) to task(count - 1), each once, in that order of beginning, and returns when all
// have ended.  A task keeps its result where its number says, so that what comes out does not
// depend on the number of threads.  Says on standard error how long it took and, if that is a
// terminal, on the way how long it will take. The first exception of a task ends the others'
// beginning and is thrown here.
void run_all(std::size_t count, const PoolOptions&, const std::function<void(std::size_t)>& task);

}  // namespace elastic::studies

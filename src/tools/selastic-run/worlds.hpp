// SPDX-License-Identifier: MIT
// The worlds of a program: the processes of one start of it each, which say hello by process 0.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "common/time.hpp"
#include "runtime/channel.hpp"
#include "selastic-run/job_step.hpp"

namespace elastic::tools {

inline constexpr int kNobody = -1;

struct World {
    pid_t process = kNobody;   // its srun; nobody: it has ended, or there is none
    int connection = kNobody;  // of its process 0, once that has said hello
    int attempt = 0;           // to start it
    StepPlace place = {};
    Time began = 0, greeted = kNever;

    // It is not listened to any more, but stays connected: it would take the loss for an error and
    // say so before it is killed.
    bool is_killed = false;

    bool runs() const { return process != kNobody; }
    bool speaks() const { return connection != kNobody; }
};

struct Worlds {
    World now, next, old;         // which computes, is to be born, is to end
    std::int64_t generation = 0;  // of the newest world; the first is 0

    // Whose step a process is; null: that of none.
    World* of(pid_t process);
    // Who says hello; null: nobody of ours, or one that has said so.
    World* of(const runtime::Message& hello);
    // The next one is of a new generation, and there is none yet.
    void begin_generation();
    // The next one computes.
    void take_over();
};

}  // namespace elastic::tools

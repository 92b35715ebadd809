// SPDX-License-Identifier: MIT
// Of two worlds beside each other, or of one that was given up, each is known by its hello, which
// names its generation and attempt.
#include "selastic-run/worlds.hpp"

#include <utility>

namespace elastic::tools {

World* Worlds::of(pid_t process) {
    for (World* world : {&old, &next, &now})
        if (world->runs() && world->process == process) return world;
    return nullptr;
}

World* Worlds::of(const runtime::Message& hello) {
    const bool is_next = next.runs() && generation > 0 && hello.generation == generation &&
                         hello.attempt == next.attempt;
    if (!is_next && hello.generation != 0) return nullptr;
    World& world = is_next ? next : now;
    return world.runs() && !world.speaks() ? &world : nullptr;
}

void Worlds::begin_generation() {
    ++generation;
    next = {};
}

void Worlds::take_over() {
    old = std::exchange(now, std::exchange(next, {}));
}

}  // namespace elastic::tools

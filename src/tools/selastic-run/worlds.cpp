// SPDX-License-Identifier: MIT
// A world finds us by the environment of its step, where its generation and attempt are as well, so
// that of two worlds beside each other, or of one that was given up, each is known by its hello.
//
// Always holds: a world that does not speak is not spoken to.
#include "selastic-run/worlds.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "common/hostlist.hpp"
#include "program.hpp"
#include "runtime/store.hpp"

namespace elastic::tools {

using runtime::Message;

namespace {

constexpr int kPatience = 10;  // seconds, for a step on nodes that may have been lost

}  // namespace

Worlds::Worlds(const RunOptions& options) : options_(options), id_(runtime::new_run_id()) {
    if (const char* list = std::getenv("SLURM_EXPORT_ENV"))
        ::setenv("SLURM_EXPORT_ENV", with_export(list, runtime::kMeetingVariable).c_str(), 1);
}

void Worlds::begin_generation() {
    ++generation_;
    next = {};
}

void Worlds::start(World& world, const StepPlace& place) {
    const runtime::Meeting meeting{listener_.port(), id_, listener_.secret(), generation_,
                                   world.attempt};
    ::setenv(runtime::kMeetingVariable, runtime::to_string(meeting).c_str(), 1);
    options_.goes_on = generation_ > 0;
    options_.birth = generation_ > 0 ? fmt::format("+{}.{}", generation_, world.attempt) : "";
    world.connection = kNobody;
    world.greeted = kNever;
    world.step = std::make_unique<Step>(options_, options_.program, place, -1);
}

void Worlds::kill(World& world) {
    if (!world.step) return;
    world.connection = kNobody;
    world.step->end();
}

void Worlds::send(const World& world, const Message& message) {
    listener_.send(world.connection, message);
}

void Worlds::tell(const World& world, runtime::Verb word, const std::string& reason) {
    Message message{.word = word};
    message.reason = reason;
    send(world, message);
}

World* Worlds::greeted(int from, const Message& hello) {
    const bool is_next = next.step && generation_ > 0 && hello.generation == generation_ &&
                         hello.attempt == next.attempt;
    World& world = is_next ? next : now;
    if (!world.step || world.speaks() || (!is_next && hello.generation != 0)) {
        listener_.close(from);
        return nullptr;
    }
    const int processes = world.step->place().nodes * tasks_per_node(options_);
    if (!hello.spill.empty()) spill_ = hello.spill;
    if (hello.size == processes) {
        has_spoken_ = true;
        world.connection = from;
        world.greeted = steady_now();
        return &world;
    }
    // All of them stay connected until they are killed: who ends by itself has srun end the others.
    if (std::exchange(world.greeted, steady_now()) < kNever) return nullptr;
    note(
        "the program is worlds of {} processes, not one of {}: is it of another MPI than srun's"
        " --mpi?",
        hello.size, processes);
    return &world;
}

void Worlds::free_memory(const std::string& nodes) {
    const auto names = expand_hostlist(nodes);
    if (!names || names->empty() || !has_spoken_) return;
    RunOptions options = options_;
    options.tasks_per_node = 1;
    options.srun_options = {"--overlap", "--quiet", "--mpi=none",
                            fmt::format("--immediate={}", kPatience)};
    const StepPlace place{nodes, static_cast<int>(names->size())};
    ::unsetenv(runtime::kMeetingVariable);
    set_environment(options, place);
    const Words remove{"rm", "-rf", "--", runtime::store_folder("", id_),
                       runtime::store_folder(spill_, id_)};
    if (!output_of(srun_words(options, remove, place)) && job_goes_on())
        note("shared memory of {} may not be free: {}", nodes, runtime::store_folder("", id_));
}

}  // namespace elastic::tools

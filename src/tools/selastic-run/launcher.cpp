// SPDX-License-Identifier: MIT
// A world finds us by the environment of its step, where its generation and attempt are as well.
#include "selastic-run/launcher.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "common/hostlist.hpp"
#include "program.hpp"
#include "runtime/store.hpp"

namespace elastic::tools {

namespace {

constexpr int kPatience = 10;  // seconds, for a step on nodes that may have been lost

}  // namespace

Launcher::Launcher(const RunOptions& options) : options_(options), id_(runtime::new_run_id()) {
    if (const char* list = std::getenv("SLURM_EXPORT_ENV"))
        ::setenv("SLURM_EXPORT_ENV", with_export(list, runtime::kMeetingVariable).c_str(), 1);
}

pid_t Launcher::start(const World& world, std::int64_t generation) {
    const runtime::Meeting meeting{rendezvous_.port(), id_, rendezvous_.secret(), generation,
                                   world.attempt};
    ::setenv(runtime::kMeetingVariable, runtime::to_string(meeting).c_str(), 1);
    options_.goes_on = generation > 0;
    options_.birth = generation > 0 ? fmt::format("+{}.{}", generation, world.attempt) : "";
    JobStep step(options_, options_.program, world.place, -1);
    const pid_t process = step.pid();
    steps_.insert_or_assign(process, std::move(step));
    return process;
}

void Launcher::kill(pid_t process) {
    if (const auto found = steps_.find(process); found != steps_.end()) found->second.end();
}

void Launcher::opened(const std::string& spill) {
    opened_ = true;
    if (!spill.empty()) spill_ = spill;
}

void Launcher::free_memory(const std::string& nodes) {
    const auto names = expand_hostlist(nodes);
    if (!names || names->empty() || !opened_) return;
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

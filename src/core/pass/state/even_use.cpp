// SPDX-License-Identifier: MIT
// Levels are tried in steps that are finer than one node of any job: what is given at one level, or
// taken, only changes in one direction with the level.
#include "core/pass/state/even_use.hpp"

#include <algorithm>

#include "core/model/search.hpp"
#include "core/pass/state/system_state.hpp"

namespace elastic::core {
namespace {

constexpr int kSteps = 1 << 16;

double use_at(int step) {
    return static_cast<double>(step) / kSteps;
}

}  // namespace

int size_at_use(const RunningJob& job, double use) {
    return job.elastic.min + static_cast<int>(use * (job.elastic.max - job.elastic.min));
}

double even_use_of_victims(const std::vector<RunningJob>& running,
                           const std::vector<std::uint32_t>& victims, int needed) {
    return use_at(last_where(0, kSteps, [&](int step) {
        int given = 0;
        for (std::uint32_t i : victims)
            given += std::max(0, total(running[i].held) - size_at_use(running[i], use_at(step)));
        return given >= needed;
    }));
}

double even_use_of_growing(const SystemState& state) {
    const std::vector<RunningJob>& running = state.snapshot().running;
    const int idle = state.nodes().idle();
    const int too_low = last_where(0, kSteps, [&](int step) {
        int taken = 0;
        for (std::uint32_t i = 0; i < running.size(); ++i)
            if (state.running().may_resize(i))
                taken +=
                    std::max(0, size_at_use(running[i], use_at(step)) - total(running[i].held));
        return taken < idle;
    });
    return use_at(std::min(kSteps, too_low + 1));
}

}  // namespace elastic::core

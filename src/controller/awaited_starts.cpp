// SPDX-License-Identifier: MIT
// A start that is overdue is not awaited any more: who plans without it is told once.
#include "controller/awaited_starts.hpp"

namespace elastic::controller {

void AwaitedStarts::end_look() {
    std::erase_if(jobs_, [this](const auto& job) { return job.second.look != look_; });
}

bool AwaitedStarts::is_overdue(JobId job, Time now, Duration patience) {
    Awaited& awaited = jobs_.try_emplace(job, Awaited{now, look_}).first->second;
    awaited.look = look_;
    return now - awaited.since >= patience;
}

}  // namespace elastic::controller

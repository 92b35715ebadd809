// SPDX-License-Identifier: MIT
// Saving Slurm's records is rationed: what is to be told waits meanwhile, and many resizes are told
// after one saving.
//
// Always holds: Slurm's records and our state are saved first, then the journal is told, then
// applications.  So whatever somebody has been told is still true after a crash, unless the log
// says that the state cannot be saved.
#include "controller/output_commit.hpp"

#include <utility>

namespace elastic::controller {

// What else the state file holds changes with an event or an agreement, but for what applications
// say of their progress: a hint that they repeat, and too frequent to be worth a file each.
void OutputCommit::commit(Time now) {
    Outbox out = std::exchange(outbox_, {});
    if (out.resized)
        save_records();
    else if (out.changed)
        records_.soon();
    if (out.unsaved || !out.events.empty()) storage_.save(out.events, now);
    tell_(std::move(out));
}

void OutputCommit::save_records() {
    const auto begin = Clock::now();
    {
        Stopwatch watch(timings_.saves);
        outage_.report(records_.now());
    }
    ration_.spend(begin, Clock::now());
}

}  // namespace elastic::controller

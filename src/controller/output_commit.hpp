// SPDX-License-Identifier: MIT
// Tells the outside what has happened, as soon as it would survive a crash: the output commit of
// rollback recovery.
#pragma once

#include <functional>
#include <utility>

#include "controller/outage.hpp"
#include "controller/outbox.hpp"
#include "controller/ration.hpp"
#include "controller/stable_storage.hpp"

namespace elastic::controller {

// How Slurm saves its own records.
struct RecordSaving {
    std::function<void()> soon;
    std::function<Result<void>()> now;  // takes milliseconds a thousand jobs, and locks
};

class OutputCommit {
  public:
    using Clock = Ration::Clock;

    // `tell` gets what is for applications and tools.
    OutputCommit(Outbox& outbox, StableStorage& storage, Timings& timings, RecordSaving records,
                 std::function<void(Outbox)> tell)
        : outbox_(outbox),
          storage_(storage),
          timings_(timings),
          records_(std::move(records)),
          tell_(std::move(tell)) {}

    // When what is in the outbox may be told if it has to wait for a saving that is rationed;
    // otherwise never.
    Clock::time_point next() const {
        return outbox_.resized ? ration_.allowed() : Clock::time_point::max();
    }
    // Whether it has to wait.
    bool must_wait(Clock::time_point now) const {
        return outbox_.resized && now < ration_.allowed();
    }

    // Saves, then tells, and empties the outbox.
    void commit(Time now);

  private:
    void save_records();

    Outbox& outbox_;
    StableStorage& storage_;
    Timings& timings_;
    RecordSaving records_;
    std::function<void(Outbox)> tell_;
    Ration ration_{std::chrono::milliseconds(10)};
    Outage outage_{"resizes would not survive a crash", "state is saved again"};
};

}  // namespace elastic::controller

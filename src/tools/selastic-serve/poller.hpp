// SPDX-License-Identifier: MIT
// The only one who asks the controller, for all who look.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/time.hpp"
#include "selastic-serve/journal_ring.hpp"
#include "selastic-serve/publication.hpp"
#include "selastic/asker.hpp"

namespace elastic::tools {

struct PollTimes {
    Duration interval = 2;        // between two rounds while somebody looks
    Duration idle_interval = 10;  // and while nobody does
    Duration idle_after = 90;     // since the last request
    Duration longest_pause = 30;  // after failures
};

class Poller {
  public:
    // `told` is called after each round.
    Poller(PollTimes times, Board& board, JournalRing& ring, std::function<void()> told)
        : times_(times), board_(board), ring_(ring), told_(std::move(told)) {}

    // For ever.
    [[noreturn]] void run();

  private:
    Result<void> round();
    Result<Json> ask(protocol::Question);
    Result<void> read_journal();
    void show(const Json& jobs, const Json& nodes, const Json& metrics);
    void pause(Duration);

    PollTimes times_;
    Board& board_;
    JournalRing& ring_;
    std::function<void()> told_;
    std::unique_ptr<Asker> asker_;
    std::string journal_after_;  // the controller's place in its journal
    std::uint64_t last_tag_ = 0;
};

}  // namespace elastic::tools

// SPDX-License-Identifier: MIT
// Tells of a simulation in the controller's journal (src/journal), so that `selastic check`,
// `journal` and `gantt` work on it.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "journal/event.hpp"
#include "simulator/node_allocator.hpp"
#include "simulator/observer.hpp"
#include "simulator/workload.hpp"

namespace elastic::simulator {

class JournalObserver : public Observer {
  public:
    using Sink = std::function<void(const journal::Event&)>;

    // The workload must outlive it.  Jobs have the log's numbers, or, where these cannot be (not
    // unique, not in 1..2^32-1), their place in the log from 1.
    JournalObserver(const Workload&, std::string_view policy, Sink);

    void arrived(Time, std::size_t job) override;
    void started(Time, std::size_t job, const core::PoolCounts& nodes) override;
    void started_on_parts(Time, std::size_t job, const std::vector<SharedNode>&) override;
    void asked(Time, std::size_t job, OpId, int nodes, int least) override;
    void denied(Time, std::size_t job, OpId, int nodes, core::Reason) override;
    void resized(Time, const Resize&) override;
    void stepped(Time, std::size_t job, int number, int nodes, int held) override;
    void preempted(Time, std::size_t job, int nodes) override;
    void ended(Time, std::size_t job, int nodes) override;
    // Once, after the simulation.
    void finish();

  private:
    // The job will use what its last expansion gave it.
    struct Ready {
        Time at = 0;
        std::size_t job = 0;
        OpId op = 0;
        friend bool operator<(const Ready& a, const Ready& b) { return a.at > b.at; }
    };

    template <class What>
    void tell(Time, What);
    void tell_ready(Time until);
    void left(Time, std::size_t job, int nodes, const char* state);
    void tell_agreement(Time, const Resize&, const NodeRanges&);
    JobId id(std::size_t job) const;

    const Workload& workload_;
    std::string_view policy_;
    Sink sink_;
    NodeAllocator nodes_;
    bool log_numbers_ = false;
    bool begun_ = false;
    Time now_ = 0;
    std::vector<Ready> ready_;       // a heap, the earliest first
    std::vector<OpId> last_resize_;  // by job; 0 once it has ended
};

}  // namespace elastic::simulator

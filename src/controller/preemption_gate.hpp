// SPDX-License-Identifier: MIT
// Whether a pending job may preempt running ones yet: not while malleable ones of these are asked
// to shrink for it (elastic.conf: PreemptShrinkTime).
//
// Used by two threads: who preempts asks; who plans says what can be asked of whom, and lets go
// those for which nothing is to be had.  Neither waits for the other.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "core/model/types.hpp"

namespace elastic::controller {

class PreemptionGate {
  public:
    // A job that waits, and how many of its elements do if it is an array.
    struct Waiting {
        JobId job = 0;
        std::uint32_t elements = 1;
    };
    // Whether that running job is one that the preemptor may preempt.
    using MayPreempt = std::function<bool(JobId victim)>;

    // `on_asks` is called where a job has begun to ask, from the thread of who preempts.
    explicit PreemptionGate(std::function<void()> on_asks) : on_asks_(std::move(on_asks)) {}

    // ---- any thread

    // Whether the job may preempt now.  If it may not, jobs are being asked for it, from now on if
    // it is new.  The next element of an array has the time anew.
    bool admits(Waiting preemptor, Time now, const MayPreempt&);

    // ---- the thread that plans

    // For how long others are asked for one job; 0: never.  Nobody is admitted before this is
    // known.
    void open(Duration patience);
    // Whether others are asked at all.
    bool asks() const;
    // Running jobs that may be asked to shrink, or have been.
    void set_askable(std::unordered_set<JobId>);

    // A look at the queue begins: who asks from now on may not be seen by it.
    void begin_look();
    // Whether others are being asked for the job.
    bool is_asking(JobId) const;
    // Those of which that is so since before the last look.
    std::vector<JobId> asking() const;
    // Those for whom it has taken too long.
    std::vector<JobId> overdue(Time now) const;
    Time next_deadline() const;  // kNever if nobody asks
    // It has been asked in vain.  False if nobody was.
    bool let_go(JobId, Time now);
    // Forgets all of which `waits` says that they do not wait any more.
    void retain(const std::function<bool(JobId)>& waits);

  private:
    // A job that may preempt others.
    struct Preemptor {
        bool asks = false;
        Time since = 0;        // asks: when it began; else since when it may preempt
        bool in_vain = false;  // it has asked before
        bool is_seen = false;  // asks: a look has begun since
        std::uint32_t elements = 1;
    };
    static Preemptor begun(Waiting, Time now);
    bool is_any_askable(const MayPreempt&) const;

    std::function<void()> on_asks_;
    mutable std::mutex mutex_;
    bool is_open_ = false;
    Duration patience_ = 0;
    std::unordered_set<JobId> askable_;
    std::map<JobId, Preemptor> preemptors_;
};

}  // namespace elastic::controller

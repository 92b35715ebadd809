// SPDX-License-Identifier: MIT
// How long a running job still takes and until when it may: its time limit, the work it has left,
// and what its application says.
//
// A job that gives up nodes runs longer and must not be killed for it, so its limit is extended by
// what its work needs. A limit that somebody else has set meanwhile is the law: it is never
// extended, and what was known of the work before counts no more.
#pragma once

#include <cstdint>

#include "core/model/annotation/annotation.hpp"
#include "core/model/speedup.hpp"

namespace elastic::controller {

// A time limit as Slurm's record has it.
struct TimeLimit {
    Time end = 0;               // when it ends the job
    std::uint32_t minutes = 0;  // Slurm's number, which may also be its word for "unlimited"

    bool operator==(const TimeLimit&) const = default;
};

class RunTime {
  public:
    // A run begins, goes on after a suspension, or has its time begun anew: by its limit it has all
    // the work left that fits into it with `nodes` nodes.
    void begin(Time now, const TimeLimit&, int nodes, const core::Sizing&);
    // The same for a job that has started with another size than it asked for, which its limit is
    // meant for.
    void begin_resized(Time now, const TimeLimit&, int asked, int nodes, const core::Sizing&);
    // The limit as it is now.  True if somebody else has changed it.
    bool follow(Time now, const TimeLimit&, int nodes, const core::Sizing&);
    // Slurm has not let the job run from `since` to `now`, and has put its end off for that.
    void put_off(Time since, Time now, const TimeLimit&);
    // The job goes on with `nodes` nodes after a resize that costs it `cost` seconds.
    void resize(Time now, int nodes, Duration cost);
    // The application says that it has `remaining` seconds left at its present size.
    void say_progress(Time now, Duration remaining) { progress_end_ = now + remaining; }

    // When the job ends as far as is known: never after its limit, and at its limit where it has
    // outrun all else.
    Time estimated_end(Time now) const;
    // When its work needs the limit to end, if that is later than it does and may be changed; else
    // 0.
    Time extension() const;
    // The limit has been extended to this.
    void extended(const TimeLimit& to);

    // Requeued: the minutes that its next run is to have if it still has `minutes`; 0 if they are
    // right.
    std::uint32_t limit_of_next_run(std::uint32_t minutes) const;
    // The run is over.
    void end() { *this = RunTime(); }

    const TimeLimit& limit() const { return limit_; }
    // What the limit was before it was extended first.
    std::uint32_t asked_minutes() const {
        return minutes_before_ ? minutes_before_ : limit_.minutes;
    }

    // A limit that somebody else has set: more time cannot be had for less nodes.
    bool is_law() const { return is_law_; }

    // The state file's.  What is read counts from the next follow() on, which knows the job's
    // annotation.
    template <class F>
    friend void fields(F&, RunTime&);

  private:
    TimeLimit limit_;                   // as seen or left last; {} in no run
    std::uint32_t minutes_before_ = 0;  // of the limit before its first extension; 0 without one
    bool is_law_ = false;               // somebody else has set the limit during this run
    bool resized_ = false;              // the work left is not what fits into the limit
    core::WorkLedger ledger_;
    Time progress_end_ = 0;  // 0: the application has said nothing at this size
    Time loaded_end_ = 0;    // of the ledger of the controller before; 0: none is to be taken over
};

}  // namespace elastic::controller

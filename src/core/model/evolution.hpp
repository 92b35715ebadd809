// SPDX-License-Identifier: MIT
// Where a running job stands in its evolution profile.
//
// A step begins when the one before it has lasted as long as the profile says, or when the
// application says so.  One with more nodes than the job has waits for them, and the job holds what
// it has meanwhile; its time counts from when it has got them, as do all later steps ([evolving]
// section 3.1: a step before it is expanded).
#pragma once

#include <cstdint>

#include "common/result.hpp"
#include "core/model/annotation/annotation.hpp"

namespace elastic::core {

class Evolution {
  public:
    // A run begins, with what its annotation says.
    void begin(Time now, const EvolutionProfile&);
    // The run is over.
    void end() { *this = Evolution(); }
    // Its clock stands still while it is suspended.
    void suspend(Time now);
    void resume(Time now);

    // Goes on to the steps whose time has come.  True if another one has begun, or is to begin as
    // soon as there are nodes for it.
    bool follow(Time now, int nodes);

    // The next step begins `in` seconds from now, with `nodes` nodes, 0 for as many as the profile
    // says; a step that is waited for has so many.  A job without a profile has been on `held`
    // nodes so far.  `id` is the message's: one that was heard before changes nothing.  An error
    // says why that cannot be.
    Result<void> correct(Time now, Duration in, int nodes, int held, std::int64_t id,
                         const Sizing&);
    // The nodes of the present step are not wanted any more.
    void settle_for(int nodes);

    bool exists() const { return !steps_.empty(); }
    int number() const { return number_; }  // of the present step, from 1; 0 without a profile
    // It has nodes that the present step does not need, and is to give them back.
    bool has_excess(int nodes) const { return gives_back_ && nodes > wanted(); }
    int wanted() const { return steps_.empty() ? 0 : steps_.front().nodes; }
    bool waits() const { return waiting_since_ > 0; }
    Time waiting_since() const { return waiting_since_; }
    Duration waited(Time now) const;  // of this run, all steps together
    // When the next step begins; kNever if there is none, or this one has yet to begin.
    Time next_at() const;
    int next_nodes() const { return steps_.size() > 1 ? steps_[1].nodes : 0; }
    // From now on: the present step, or the step that is waited for, and all later ones.  The sizes
    // are such as the job may have.
    EvolutionProfile remaining(Time now, int nodes, const Sizing&) const;

    // The state file's.
    template <class F>
    friend void fields(F&, Evolution&);

  private:
    EvolutionProfile left(Time now) const;

    EvolutionProfile steps_;  // from the present one on
    int number_ = 0;
    bool gives_back_ = false;  // the present step began with fewer nodes than the job had
    Time since_ = 0;           // when the present step began, if it is not waited for
    Time waiting_since_ = 0;   // ... and if it is, since when; 0 if not
    Duration waited_ = 0;      // for steps that have begun
    std::int64_t heard_ = -1;  // the last correction's id
};

}  // namespace elastic::core

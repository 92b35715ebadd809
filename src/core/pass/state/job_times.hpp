// SPDX-License-Identifier: MIT
// When jobs end by their estimates, as they are and after a resize, and when they may be resized
// again.
#pragma once

#include <algorithm>

#include "common/time.hpp"
#include "core/model/policy.hpp"
#include "core/model/snapshot.hpp"

namespace elastic::core {

class JobTimes {
  public:
    // `soon`: the earliest time that is not now.
    void begin(Time now, Time soon, const Policy&);
    Time now() const { return now_; }

    // A running job: never before soon.
    Time end_of(const RunningJob& job) const { return std::max(job.estimated_end, soon_); }
    // A pending job, if it starts now; it takes longer at less than its preferred size.
    Time end_of(const PendingJob&, int size) const;
    // With another size, the cost of the resize included.
    Time end_after_resize(const RunningJob&, int size_after) const;
    // After giving up nodes: it takes longer, and so does the resize itself.
    Time end_after_shrink(const RunningJob&, int size_after) const;
    // How long a running job is to keep what it lacks of its present step: until the step that has
    // fewer nodes again, or its end.
    Time end_of_growth(const RunningJob&) const;

    // Whether its resize gap is over.
    bool is_gap_over(const RunningJob& job) const {
        return job.last_resize + resize_gap(job) <= now_;
    }
    // The earliest time at which the job may be resized if it was last at `resized`.
    Time may_resize_from(const RunningJob& job, Time resized) const {
        return std::max(resized + resize_gap(job), soon_);
    }

  private:
    // T_gap_rescale of [gupta] section V, the least time between two actions (start included) on
    // one job, so that the work done in between pays for the resize: the job's own, else the
    // policy's, or what makes its resizes, as measured, a small share of its time (section IV:
    // T_gap >> T_rescale).
    Duration resize_gap(const RunningJob& job) const {
        constexpr double kMuchMore = 10;
        if (job.elastic.gap >= 0) return job.elastic.gap;
        if (policy_gap_ <= 0) return 0;
        return std::max(policy_gap_, kMuchMore * job.rescale_time);
    }

    Time now_ = 0, soon_ = 0;
    Duration policy_gap_ = 0;
};

}  // namespace elastic::core

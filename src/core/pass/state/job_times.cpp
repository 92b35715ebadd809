// SPDX-License-Identifier: MIT
// A job that has outrun its estimate is taken to end as soon as can be: it neither blocks anything
// for long nor counts as gone.
#include "core/pass/state/job_times.hpp"

namespace elastic::core {

void JobTimes::begin(Time now, Time soon, const Policy& policy) {
    now_ = now;
    soon_ = soon;
    policy_gap_ = policy.resize_gap;
}

Time JobTimes::end_of(const PendingJob& job, int size) const {
    const Duration slower = size < job.elastic.pref
                                ? rescale(job.duration, job.elastic.pref, size, job.elastic)
                                : job.duration_at(size);
    return std::max(now_ + std::max(slower, job.duration_at(size)), soon_);
}

Time JobTimes::end_after_resize(const RunningJob& job, int size_after) const {
    const int size = total(job.held);
    const Time end = end_of(job);
    if (end >= kNever || size_after == size || size_after < 1) return end;
    return now_ + rescale(end - now_, size, size_after, job.elastic) +
           job.elastic.cost.seconds(size, size_after);
}

Time JobTimes::end_after_shrink(const RunningJob& job, int size_after) const {
    return std::max(end_of(job), end_after_resize(job, size_after));
}

Time JobTimes::end_of_growth(const RunningJob& job) const {
    const Time end = end_of(job);
    Time until = now_;
    for (const Layer& lack : steps_ahead(job.elastic.profile, total(job.held), end - now_).gains)
        if (lack.from <= 0) until = std::max(until, std::min(end, now_ + lack.to));
    return until > now_ ? until : end;
}

}  // namespace elastic::core

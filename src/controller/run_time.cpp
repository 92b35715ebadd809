// SPDX-License-Identifier: MIT
// The ledger (core/model/speedup.hpp) follows the work over any number of resizes; the limit is
// extended to what it says, but neither is believed beyond the other: an estimate in the past or
// after the limit is the limit.
#include "controller/run_time.hpp"

#include <algorithm>
#include <utility>

namespace elastic::controller {

namespace {

// Seconds that a job has which is over by the clock but not by Slurm.
constexpr Duration kLeastLeft = 1;

core::WorkLedger ledger_until(Time end, Time now, int nodes, const core::Sizing& annotation) {
    return {now, std::max(kLeastLeft, end - now), std::max(nodes, 1), annotation.speedup,
            annotation.pref};
}

}  // namespace

void RunTime::begin(Time now, const TimeLimit& limit, int nodes, const core::Sizing& annotation) {
    *this = RunTime();
    limit_ = limit;
    ledger_ = ledger_until(limit.end, now, nodes, annotation);
}

void RunTime::begin_resized(Time now, const TimeLimit& limit, int asked, int nodes,
                            const core::Sizing& annotation) {
    begin(now, limit, nodes, annotation);
    if (asked == nodes) return;
    const Duration left = std::max(kLeastLeft, limit.end - now);
    ledger_ = core::WorkLedger(now, core::rescale(left, asked, nodes, annotation), nodes,
                               annotation.speedup, annotation.pref);
    resized_ = true;
}

bool RunTime::follow(Time now, const TimeLimit& limit, int nodes, const core::Sizing& annotation) {
    if (limit_ == limit) {
        if (const Time end = std::exchange(loaded_end_, 0); end > 0)
            ledger_ = ledger_until(end, now, nodes, annotation);
        return false;
    }
    begin(now, limit, nodes, annotation);
    is_law_ = true;
    return true;
}

void RunTime::put_off(Time since, Time now, const TimeLimit& limit) {
    ledger_.stand_still(since, now);
    progress_end_ = 0;
    limit_ = limit;
}

void RunTime::resize(Time now, int nodes, Duration cost) {
    ledger_.resize(now, nodes, cost);
    progress_end_ = 0;
    resized_ = true;
}

Time RunTime::estimated_end(Time now) const {
    if (progress_end_ > now) return std::min(progress_end_, limit_.end);
    if (resized_ && ledger_.estimated_end() > now)
        return std::min(ledger_.estimated_end(), limit_.end);
    return limit_.end;
}

Time RunTime::extension() const {
    const Time needed = ledger_.estimated_end();
    return resized_ && !is_law_ && needed > limit_.end ? needed : 0;
}

void RunTime::extended(const TimeLimit& to) {
    if (minutes_before_ == 0) minutes_before_ = limit_.minutes;
    limit_ = to;
}

std::uint32_t RunTime::limit_of_next_run(std::uint32_t minutes) const {
    const bool is_ours = minutes_before_ != 0 && minutes == limit_.minutes;
    return is_ours ? minutes_before_ : 0;
}

}  // namespace elastic::controller

// SPDX-License-Identifier: GPL-2.0-or-later
// Where Slurm's loops start jobs, those are looked at that Slurm wants to preempt for; else the
// first of the queue, since the plan says whom it ends.  To find a job's victims Slurm looks at all
// jobs, so that is done for a few kinds of jobs in each reading.
#include "slurm/read/preemptor_reader.hpp"

#include <unordered_set>

#include "slurm/preemption.hpp"
#include "slurm/records.hpp"

namespace elastic::slurm {

namespace {

constexpr std::size_t kFront = 100, kMostPreemptors = 16;
constexpr int kMostLooks = 4;
constexpr Duration kPreemptsAgain = 30;  // as Slurm's backfill, by default

bool goes_by_priorities(const job_record_t* job) {
    const auto has_flag = [](std::uint32_t modes) {
        return modes != NO_VAL16 && (modes & compat::kPreemptsByPriority);
    };
    return has_flag(slurm_conf.preempt_mode) || has_flag(job->part_ptr->preempt_mode) ||
           (job->qos_ptr && has_flag(job->qos_ptr->preempt_mode));
}

}  // namespace

void PreemptorReader::read(Time now) {
    by_rank_.clear();
    looks_ = 0;
    if (!is_preemption_ours()) return;
    gate_.retain([second = time(nullptr)](JobId id) {
        const job_record_t* job = pending_job(id);
        return job && may_start(job, second);
    });
    std::erase_if(reading_.preempted,
                  [&](const auto& entry) { return entry.second + kPreemptsAgain <= now; });
    const core::Snapshot& snapshot = reading_.view.snapshot;
    const bool are_all_wanted = config_.starts == core::Starts::elastic;
    const std::size_t last =
        are_all_wanted ? std::min(kFront, snapshot.pending.size()) : snapshot.pending.size();
    for (std::uint32_t place = 0; place < last; ++place)
        if (snapshot.preemptors.size() < kMostPreemptors && is_wanted(snapshot.pending[place], now))
            add(place, now);
    // Then it is by this look that they ask.
    if (are_all_wanted) gate_.begin_look();
}

bool PreemptorReader::is_wanted(const core::PendingJob& job, Time now) const {
    if (job.claimed || job.together || job.not_before > now || reading_.preempted.contains(job.id))
        return false;
    return config_.starts == core::Starts::elastic || gate_.is_asking(job.id);
}

void PreemptorReader::add(std::uint32_t place, Time now) {
    core::Snapshot& snapshot = reading_.view.snapshot;
    const JobId id = snapshot.pending[place].id;
    job_record_t* job = pending_job(id);
    const Attempt& attempt = reading_.queue.attempts()[reading_.view.places[place].attempt];
    if (!job) return;
    std::unordered_set<JobId> running;
    for (const core::RunningJob& one : snapshot.running) running.insert(one.id);
    core::Preemptor preemptor;
    preemptor.place = place;
    for (JobId victim : victims_of(job, attempt))
        if (running.contains(victim)) preemptor.victims.push_back(victim);
    if (preemptor.victims.empty()) return;
    if (config_.starts == core::Starts::elastic) {
        const auto may_preempt = [&](JobId victim) {
            return std::ranges::find(preemptor.victims, victim) != preemptor.victims.end();
        };
        preemptor.ends = true;
        preemptor.asked = gate_.admits({id, elements_waiting(job)}, now, may_preempt);
    }
    snapshot.preemptors.push_back(std::move(preemptor));
}

const PreemptorReader::Victims& PreemptorReader::victims_of(job_record_t* job,
                                                            const Attempt& attempt) {
    static const Victims kNone;
    const auto found = find(attempt);
    if (!found) return kNone;
    Trying trying(job, *found);
    const std::pair<const void*, const void*> rank{job->part_ptr, job->qos_ptr};
    const auto known = by_rank_.find(rank);
    if (known != by_rank_.end() && !goes_by_priorities(job)) return known->second;
    if (looks_++ >= kMostLooks) return kNone;
    return by_rank_[rank] = preemptable_by(job);
}

}  // namespace elastic::slurm

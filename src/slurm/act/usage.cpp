// SPDX-License-Identifier: GPL-2.0-or-later
// To Slurm a resize is the end of one job and the start of another that has begun when the first
// did.  So the first one's end counts what it has used since the last round of
// priority/multifactor, and the next round counts that time once more; and the second one may still
// use all of its time, also what has passed.  With a resize a minute an account would be at its
// limits in no time.
//
// When that round was nobody can ask for, but what Slurm takes out at the end of the first job says
// it.  A node counts one a second, so the seconds are read off the counts of nodes.
#include "slurm/act/usage.hpp"

#include "slurm/lock.hpp"

namespace elastic::slurm {

namespace {

;

template <class Value>
void take(Value& from, Value what) {
    from = from > what ? from - what : 0;
}

}  // namespace

UsageOverResize::UsageOverResize(const job_record_t* job) : job_(job), nodes_(job->node_cnt) {
    if (!(accounting_enforce & ACCOUNTING_ENFORCE_LIMITS) || nodes_ == 0) return;
    const AssociationLock lock(WRITE_LOCK);
    const slurmdb_qos_rec_t* of_partition = job->part_ptr ? job->part_ptr->qos_ptr : nullptr;
    if (job->qos_ptr) add(job->qos_ptr->usage);
    if (of_partition && of_partition != job->qos_ptr) add(of_partition->usage);
    for (auto* association = job->assoc_ptr; association;
         association = association->usage->parent_assoc_ptr)
        add(association->usage);
}

template <class Usage>
void UsageOverResize::add(Usage* usage) {
    Count count{usage->grp_used_tres_run_secs,
                usage->usage_tres_raw,
                &usage->usage_raw,
                &usage->grp_used_wall,
                {},
                {}};
    count.before = count.values();
    counts_.push_back(count);
}

UsageOverResize::Values UsageOverResize::Count::values() const {
    return {running[TRES_ARRAY_NODE], used[TRES_ARRAY_NODE], *raw, *wall};
}

void UsageOverResize::taken_out() {
    if (counts_.empty()) return;
    const AssociationLock lock(WRITE_LOCK);
    for (Count& count : counts_) count.without = count.values();
}

void UsageOverResize::put_back() {
    if (counts_.empty() || !job_->tres_alloc_cnt || job_->node_cnt == 0) return;
    const AssociationLock lock(WRITE_LOCK);
    for (const Count& count : counts_) correct(count);
}

void UsageOverResize::correct(const Count& count) const {
    const auto before = static_cast<long double>(nodes_);
    const auto now = static_cast<long double>(job_->node_cnt);
    const Values present = count.values();
    // Of each node: what of its time Slurm had still counted as left, and counts as that now.
    const uint64_t left = (count.before.running - count.without.running) / nodes_;
    const uint64_t given = (present.running - count.without.running) / job_->node_cnt;
    const long double counted = (count.without.used - count.before.used) / before;
    for (int tres = 0; tres < slurmctld_tres_cnt; ++tres) {
        const uint64_t amount = job_->tres_alloc_cnt[tres];
        if (tres == TRES_ARRAY_ENERGY || amount == NO_CONSUME_VAL64) continue;
        if (given > left) take(count.running[tres], (given - left) * amount);
        take(count.used[tres], counted * static_cast<long double>(amount));
    }
    take(*count.raw, (count.without.raw - count.before.raw) / before * now);
    *count.wall = count.before.wall;
}

}  // namespace elastic::slurm

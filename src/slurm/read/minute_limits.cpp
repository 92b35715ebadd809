// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm compares these limits with the whole time of a job that starts, and knows no question of
// one that runs.  What it counts is taken from its own records; which limit counts where several
// say something is decided as Slurm does it (acct_policy.c).
//
// Minutes of a group are asked for to the job's end even where Slurm lets jobs start as long as any
// are left: a job is not to be ended for having grown.
#include "slurm/read/minute_limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "slurm/lock.hpp"

namespace elastic::slurm {

namespace {

using controller::Amount;
using controller::GrowingRun;

;

// Who has limits: each array has a value a resource, INFINITE64 being no limit.
struct Holder {
    bool is_qos;
    std::string name;
    const uint64_t *of_job, *of_group, *of_running;  // minutes; the first may be null
    const long double* used;                         // seconds
    const uint64_t* running;                         // seconds that running jobs may still use
};

Holder holder(const slurmdb_qos_rec_t* qos) {
    return {true,
            fmt::format("QOS {}", qos->name),
            qos->max_tres_mins_pj_ctld,
            qos->grp_tres_mins_ctld,
            qos->grp_tres_run_mins_ctld,
            qos->usage->usage_tres_raw,
            qos->usage->grp_used_tres_run_secs};
}

// Limits of one job have been handed down to the association that it is in.
Holder holder(const slurmdb_assoc_rec_t* association, bool is_of_job) {
    return {false,
            association->user
                ? fmt::format("user {} in account {}", association->user, association->acct)
                : fmt::format("account {}", association->acct),
            is_of_job ? association->max_tres_mins_ctld : nullptr,
            association->grp_tres_mins_ctld,
            association->grp_tres_run_mins_ctld,
            association->usage->usage_tres_raw,
            association->usage->grp_used_tres_run_secs};
}

// In the order in which their limits count.
std::vector<Holder> holders_for(const job_record_t* job) {
    std::vector<Holder> holders;
    slurmdb_qos_rec_t *first = nullptr, *second = nullptr;
    acct_policy_set_qos_order(const_cast<job_record_t*>(job), &first, &second);
    for (const slurmdb_qos_rec_t* qos : {first, second})
        if (qos) holders.push_back(holder(qos));
    const slurmdb_assoc_rec_t* association = job->assoc_ptr;
    for (; association; association = association->usage->parent_assoc_ptr)
        holders.push_back(holder(association, association == job->assoc_ptr));
    return holders;
}

GrowingRun run_of(const job_record_t* job, const controller::NodeTime& used) {
    const time_t now = time(nullptr);
    GrowingRun run;
    run.nodes = static_cast<int>(job->node_cnt);
    run.passed = static_cast<Duration>(now - job->start_time - job->tot_sus_time);
    run.left = job->time_limit == INFINITE || job->time_limit == NO_VAL
                   ? std::numeric_limits<Duration>::infinity()
                   : static_cast<Duration>(std::max<time_t>(job->end_time - now, 0));
    run.node_seconds = used.seconds(run.passed, run.nodes);
    return run;
}

// Of the job's own QOS: what is counted of its time, and whether limits of one job count so, too.
struct UsageFactor {
    explicit UsageFactor(const slurmdb_qos_rec_t* qos) {
        if (!qos || qos->usage_factor < 0) return;
        of_group = qos->usage_factor;
        if (qos->flags & QOS_FLAG_USAGE_FACTOR_SAFE) of_job = of_group;
    }
    double of_group = 1, of_job = 1;
};

class Question {
  public:
    Question(const job_record_t* job, const GrowingRun& run)
        : job_(job), run_(run), factor_(job->qos_ptr), holders_(holders_for(job)) {}

    std::optional<std::string> limit_on(int tres, const Amount& amount) const {
        const bool is_waived = job_->limit_set.tres[tres] == ADMIN_SET_LIMIT && !ends_jobs();
        const double all = minutes_of_job(amount);
        const double more = controller::minutes_more(run_, amount) * factor_.of_group;
        std::optional<std::string> found;
        if (!is_waived)
            found = find(tres, "MaxTRESMinsPerJob", &Holder::of_job,
                         [&](const Holder&) { return all; });
        if (!found && !is_waived && more > 0)
            found = find(tres, "GrpTRESMins", &Holder::of_group, [&](const Holder& holder) {
                const auto used = static_cast<double>(holder.used[tres]);
                return (used + static_cast<double>(holder.running[tres])) / 60 + more;
            });
        if (!found && more > 0)
            found = find(tres, "GrpTRESRunMins", &Holder::of_running, [&](const Holder& holder) {
                return static_cast<double>(holder.running[tres]) / 60 + more;
            });
        return found;
    }

  private:
    // Without "safe" Slurm ends jobs that have come to a limit.
    static bool ends_jobs() { return !(accounting_enforce & ACCOUNTING_ENFORCE_SAFE); }

    double minutes_of_job(const Amount& amount) const {
        const double all = controller::minutes_in_all(run_, amount) * factor_.of_job;
        return ends_jobs() ? std::max(all, controller::minutes_by_last_size(run_, amount)) : all;
    }

    // A limit of a QOS counts in place of all that come after it.
    template <class Minutes>
    std::optional<std::string> find(int tres, const char* key, const uint64_t* Holder::*limits,
                                    Minutes&& minutes) const {
        for (const Holder& holder : holders_) {
            const uint64_t* all = holder.*limits;
            if (!all || all[tres] == INFINITE64) continue;
            if (minutes(holder) > static_cast<double>(all[tres]))
                return fmt::format("{} {}={} of {}", key, assoc_mgr_tres_name_array[tres],
                                   all[tres], holder.name);
            if (holder.is_qos) break;
        }
        return {};
    }

    const job_record_t* job_;
    GrowingRun run_;
    UsageFactor factor_;
    std::vector<Holder> holders_;
};

}  // namespace

std::optional<std::string> limit_on_minutes(const job_record_t* job,
                                            const controller::NodeTime& used,
                                            const std::vector<uint64_t>& wanted) {
    const AssociationLock lock(READ_LOCK);
    const Question question(job, run_of(job, used));
    for (int tres = 0; tres < slurmctld_tres_cnt; ++tres) {
        const uint64_t held = job->tres_alloc_cnt[tres];
        const bool is_counted = tres != TRES_ARRAY_ENERGY && held != NO_CONSUME_VAL64;
        if (!is_counted || wanted[tres] <= held) continue;
        if (auto limit = question.limit_on(tres, {held, wanted[tres]})) return limit;
    }
    return {};
}

}  // namespace elastic::slurm

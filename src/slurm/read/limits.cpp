// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm's own question before a start (acct_policy_job_runnable_post_select) compares limits of a
// job with what the job asks for, and limits of a group with that and what the group uses.  For a
// running job, which is part of that use, the question is asked with the job taken out; limits on
// minutes, some of which have passed, are asked apart (minute_limits.hpp).
//
// Always holds: what is counted as used is the same after a question as before; questions are asked
// with copies of the job's record, for Slurm writes into it.
#include "slurm/read/limits.hpp"

#include <algorithm>
#include <vector>

#include "slurm/lock.hpp"
#include "slurm/read/eligibility.hpp"
#include "slurm/read/minute_limits.hpp"
#include "slurm/whole_nodes.hpp"

namespace elastic::slurm {

namespace {

bool are_enforced(const job_record_t* job) {
    return (accounting_enforce & ACCOUNTING_ENFORCE_LIMITS) && job->assoc_ptr && job->part_ptr &&
           job->details;
}

std::string name_of(uint32_t reason) {
    return compat::name_of_reason(reason);
}

// Frees what Slurm has written into a copy, and nothing of the original.
struct Copy {
    explicit Copy(const job_record_t* job) : record(*job) { record.state_desc = nullptr; }
    ~Copy() { xfree(record.state_desc); }
    Copy(const Copy&) = delete;
    Copy& operator=(const Copy&) = delete;

    job_record_t record;
};

// Takes a running job out of what is counted as used, while this lives.  By a copy that has no time
// left, so that only nodes, processors and the like change.
class Uncounted {
  public:
    explicit Uncounted(const job_record_t* job) : copy_(job) {
        copy_.record.start_time = copy_.record.end_time_exp = time(nullptr) + 60;
        copy_.record.time_limit = 0;
        copy_.record.part_ptr_list = nullptr;
        compat::count_out(&copy_.record);
    }
    ~Uncounted() { compat::count_in(&copy_.record); }
    Uncounted(const Uncounted&) = delete;
    Uncounted& operator=(const Uncounted&) = delete;

  private:
    Copy copy_;
};

void set_billing(const part_record_t* partition, std::vector<uint64_t>& tres) {
    tres[TRES_ARRAY_BILLING] = static_cast<uint64_t>(assoc_mgr_tres_weighted(
        tres.data(), partition->billing_weights, slurm_conf.priority_flags, false));
}

std::vector<uint64_t> counts(const uint64_t* tres) {
    std::vector<uint64_t> result(tres, tres + slurmctld_tres_cnt);
    for (uint64_t& count : result)
        if (count == NO_VAL64 || count == INFINITE64 || count == NO_CONSUME_VAL64) count = 0;
    return result;
}

// All that the job has with those nodes.
std::vector<uint64_t> tres_with(const job_record_t* job, const NodeSet& joining) {
    const uint64_t held = job->node_cnt, nodes = held + joining.count();
    std::vector<uint64_t> tres = counts(job->tres_alloc_cnt);
    joining.for_each([&](int node) { tres[TRES_ARRAY_CPU] += processors_of_whole_node(node); });
    tres[TRES_ARRAY_NODE] = nodes;
    tres[TRES_ARRAY_MEM] = (tres[TRES_ARRAY_MEM] * nodes + held - 1) / held;
    NodeSet all(job->node_bitmap);
    all |= joining;
    if (GresList gres = gres_of_whole_nodes(all, job->job_id))
        compat::add_gres_to(tres.data(), gres.get(), static_cast<uint32_t>(nodes));
    set_billing(job->part_ptr, tres);
    return tres;
}

// Limits on amounts alone: a job that asks for no time comes to no limit on minutes.
std::optional<std::string> limit_on_amounts(job_record_t* job, const NodeSet& all,
                                            std::vector<uint64_t> tres) {
    job_details details(*job->details);
    details.req_node_bitmap =
        all.get();  // so that nodes shared with the user's other jobs count once
    Copy wanted(job);
    wanted.record.details = &details;
    wanted.record.job_resrcs = nullptr;
    wanted.record.time_limit = 0;
    const bool allowed = [&] {
        Uncounted without(job);
        return acct_policy_job_runnable_post_select(&wanted.record, tres.data(), false);
    }();
    return allowed ? std::nullopt : std::optional(name_of(wanted.record.state_reason));
}

// What a waiting job takes of so many nodes, at least.
std::vector<uint64_t> tres_of_start(const job_record_t* job, const part_record_t* partition,
                                    int nodes) {
    std::vector<uint64_t> tres = counts(job->tres_req_cnt);
    tres[TRES_ARRAY_NODE] = static_cast<uint64_t>(nodes);
    if (partition->total_nodes && has_whole_nodes(job))
        tres[TRES_ARRAY_CPU] =
            std::max<uint64_t>(tres[TRES_ARRAY_CPU], std::uint64_t{partition->total_cpus} /
                                                         partition->total_nodes * nodes);
    set_billing(partition, tres);
    return tres;
}

// The reason for which a waiting job cannot have so much; 0 if there is none.
uint32_t limit_on(const job_record_t* job, std::vector<uint64_t>& tres) {
    Copy asking(job);
    const bool allowed = acct_policy_job_runnable_pre_select(&asking.record, false) &&
                         acct_policy_job_runnable_post_select(&asking.record, tres.data(), false);
    return allowed ? 0 : asking.record.state_reason;
}

std::string explain(job_record_t* job, uint32_t reason) {
    if (job->state_reason != reason) {
        job->state_reason = reason;
        last_job_update = time(nullptr);
    }
    xfree(job->state_desc);
    return name_of(reason);
}

// Whether a limit is on the nodes that several jobs have.
bool is_on_nodes_of_several(uint32_t reason) {
    return reason == WAIT_ASSOC_GRP_NODE || reason == WAIT_QOS_GRP_NODE ||
           reason == WAIT_QOS_MAX_NODE_PER_USER || reason == WAIT_QOS_MAX_NODE_PER_ACCT;
}

bool has_qos_flag(const job_record_t* job, uint32_t flag) {
    return job->qos_ptr && (job->qos_ptr->flags & flag);
}

int as_count(uint32_t limit) {
    return limit >= NO_VAL ? INT32_MAX : static_cast<int>(limit);
}

constexpr time_t kNoEnd = INT64_MAX / 2;

time_t end_by_partition(const job_record_t* job) {
    if (!job->part_ptr || job->part_ptr->max_time == INFINITE) return kNoEnd;
    return job->start_time + static_cast<time_t>(job->part_ptr->max_time) * 60;
}

time_t end_by_max_wall(job_record_t* job) {
    if (!are_enforced(job) || job->limit_set.time == ADMIN_SET_LIMIT) return kNoEnd;
    const AssociationLock lock(READ_LOCK);
    slurmdb_qos_rec_t *first = nullptr, *second = nullptr;
    acct_policy_set_qos_order(job, &first, &second);
    uint32_t minutes = first ? first->max_wall_pj : INFINITE;
    if (minutes == INFINITE && second) minutes = second->max_wall_pj;
    if (minutes == INFINITE) minutes = job->assoc_ptr->max_wall_pj;
    if (minutes == INFINITE || minutes == NO_VAL) return kNoEnd;
    return job->start_time + time_t{minutes} * 60;
}

// When the first reservation of others begins on any of the job's nodes.
time_t end_by_reservations(const job_record_t* job) {
    time_t end = kNoEnd;
    ListIterator iterator = list_iterator_create(resv_list);
    while (auto* reservation = static_cast<slurmctld_resv_t*>(list_next(iterator))) {
        const bool is_in_it = job->resv_ptr == reservation;
        if (is_in_it || !reservation->node_bitmap ||
            !bit_overlap_any(job->node_bitmap, reservation->node_bitmap))
            continue;
        end = std::min(end, compat::begin_of(reservation, time(nullptr)));
    }
    list_iterator_destroy(iterator);
    return end;
}

}  // namespace

std::optional<std::string> limit_on_growth(job_record_t* job, const NodeSet& joining,
                                           const controller::NodeTime& used) {
    if (!are_enforced(job) || !job->tres_alloc_cnt || joining.empty()) return {};
    NodeSet all(job->node_bitmap);
    all |= joining;
    const std::vector<uint64_t> tres = tres_with(job, joining);
    if (auto limit = limit_on_amounts(job, all, tres)) return limit;
    return limit_on_minutes(job, used, tres);
}

// Counted as used while this lives; no node is, for nobody knows which.
struct LimitsTogether::Counted {
    Counted(const job_record_t* job, std::vector<uint64_t> amounts)
        : tres(std::move(amounts)), copy(job) {
        copy.record.tres_alloc_cnt = tres.data();
        copy.record.start_time = copy.record.end_time_exp = time(nullptr) + 60;
        copy.record.time_limit = 0;
        copy.record.part_ptr_list = nullptr;
        copy.record.priority = 0;  // its age does not begin to count
        compat::count_in(&copy.record);
    }
    ~Counted() { compat::count_out(&copy.record); }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;

    std::vector<uint64_t> tres;
    Copy copy;
};

LimitsTogether::LimitsTogether() = default;
LimitsTogether::~LimitsTogether() = default;

std::optional<std::string> LimitsTogether::on_start(job_record_t* job, const FoundAttempt& attempt,
                                                    int nodes) {
    if (auto limit = limit_on_start(job, attempt, nodes)) return limit;
    Trying trying(job, attempt);
    if (!are_enforced(job) || !job->tres_req_cnt) return {};
    std::vector<uint64_t> tres = tres_of_start(job, attempt.partition, nodes);
    nodes_ += nodes;
    std::vector<uint64_t> of_all = tres;
    of_all[TRES_ARRAY_NODE] = static_cast<uint64_t>(nodes_);
    if (const uint32_t reason = limit_on(job, of_all); is_on_nodes_of_several(reason))
        return explain(job, reason);
    counted_.push_back(std::make_unique<Counted>(job, std::move(tres)));
    return {};
}

template <class Same>
int LimitsTogether::nodes_of(Same same) const {
    int nodes = 0;
    for (const auto& counted : counted_)
        if (same(counted->copy.record)) nodes += static_cast<int>(counted->tres[TRES_ARRAY_NODE]);
    return nodes;
}

std::optional<std::string> LimitsTogether::beside(job_record_t* job, const FoundAttempt& attempt,
                                                  int nodes) {
    if (auto limit = limit_on_start(job, attempt, nodes)) return limit;
    Trying trying(job, attempt);
    if (!are_enforced(job) || !job->tres_req_cnt) return {};
    const auto exceeds = [&](uint32_t limit, auto same) {
        const int more = nodes_of(same);
        if (more == 0) return false;
        std::vector<uint64_t> tres = tres_of_start(job, attempt.partition, nodes);
        tres[TRES_ARRAY_NODE] += static_cast<uint64_t>(more);
        return limit_on(job, tres) == limit;
    };
    const auto is_of_qos = [&](const job_record_t& other) { return other.qos_id == job->qos_id; };
    const auto is_of_user = [&](const job_record_t& other) {
        return is_of_qos(other) && other.user_id == job->user_id;
    };
    const auto is_of_account = [&](const job_record_t& other) {
        return is_of_qos(other) && xstrcmp(other.account, job->account) == 0;
    };
    const auto is_of_association = [&](const job_record_t& other) {
        return other.assoc_id == job->assoc_id;
    };
    if (exceeds(WAIT_QOS_GRP_NODE, is_of_qos)) return explain(job, WAIT_QOS_GRP_NODE);
    if (exceeds(WAIT_QOS_MAX_NODE_PER_USER, is_of_user))
        return explain(job, WAIT_QOS_MAX_NODE_PER_USER);
    if (exceeds(WAIT_QOS_MAX_NODE_PER_ACCT, is_of_account))
        return explain(job, WAIT_QOS_MAX_NODE_PER_ACCT);
    if (exceeds(WAIT_ASSOC_GRP_NODE, is_of_association)) return explain(job, WAIT_ASSOC_GRP_NODE);
    std::vector<uint64_t> own = tres_of_start(job, attempt.partition, nodes);
    counted_.push_back(std::make_unique<Counted>(job, std::move(own)));
    return {};
}

std::optional<std::string> limit_on_start(job_record_t* job, const FoundAttempt& attempt,
                                          int nodes) {
    Trying trying(job, attempt);
    if (!are_enforced(job) || !job->tres_req_cnt) return {};
    std::vector<uint64_t> tres = tres_of_start(job, attempt.partition, nodes);
    const uint32_t reason = limit_on(job, tres);
    return reason ? std::optional(explain(job, reason)) : std::nullopt;
}

int most_nodes_by_partition(const job_record_t* job) {
    if (!job->part_ptr) return INT32_MAX;
    const bool is_open = job->part_ptr->state_up == PARTITION_UP;
    if (IS_JOB_RUNNING(job) && !is_open) return static_cast<int>(job->node_cnt);
    if (has_qos_flag(job, QOS_FLAG_PART_MAX_NODE)) return INT32_MAX;
    return as_count(job->part_ptr->max_nodes);
}

uint32_t least_nodes_by_partition(const job_record_t* job) {
    const bool is_waived = !job->part_ptr || has_qos_flag(job, QOS_FLAG_PART_MIN_NODE);
    return is_waived ? 0 : job->part_ptr->min_nodes;
}

int most_nodes(job_record_t* job) {
    const int of_partition = most_nodes_by_partition(job);
    if (!are_enforced(job)) return of_partition;
    uint32_t reason = 0;
    return std::min(of_partition, as_count(acct_policy_get_max_nodes(job, &reason)));
}

time_t latest_end(job_record_t* job) {
    const bool has_deadline = job->deadline && job->deadline != NO_VAL;
    return std::min({end_by_partition(job), end_by_max_wall(job), end_by_reservations(job),
                     has_deadline ? job->deadline : kNoEnd});
}

}  // namespace elastic::slurm

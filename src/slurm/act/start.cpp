// SPDX-License-Identifier: GPL-2.0-or-later
// The checks that Slurm's own loop makes before it selects nodes, then Slurm's selection and
// launch.  That Slurm itself allocates is what makes every constraint hold that the planner does
// not know.
//
// Always holds: a job of a federation starts only while this cluster has the federation's lock of
// it, so no other cluster starts it as well.
#include "slurm/act/start.hpp"

#include "controller/planned_actions.hpp"
#include "controller/starting_limit.hpp"
#include "slurm/batch.hpp"
#include "slurm/read/hindrance.hpp"
#include "slurm/records.hpp"
#include "slurm/whole_nodes.hpp"

namespace elastic::slurm {

namespace {

using Clock = std::chrono::steady_clock;

// The request of a job narrowed to given nodes and sizes, for as long as this lives.
class NarrowedRequest {
  public:
    NarrowedRequest(job_record_t* job, const NodeSet& allowed, SizeRange sizes)
        : job_(job),
          array_id_(job->array_recs ? job->array_job_id : 0),
          excluded_(job->details->exc_node_bitmap ? bit_copy(job->details->exc_node_bitmap)
                                                  : nullptr),
          min_nodes_(job->details->min_nodes),
          max_nodes_(job->details->max_nodes),
          min_cpus_(job->details->min_cpus),
          tasks_(job->details->num_tasks) {
        NodeSet forbidden = allowed.complement();
        if (excluded_) bit_or(forbidden.get(), excluded_);
        FREE_NULL_BITMAP(job->details->exc_node_bitmap);
        job->details->exc_node_bitmap = forbidden.release();
        if (sizes.most != kAsRequested) ask_for(job->details, sizes);
    }

    ~NarrowedRequest() {
        restore(job_);
        // The task of an array was split off with a copy of the request.
        job_record_t* rest = array_id_ ? find_job_record(array_id_) : nullptr;
        if (rest && rest != job_) restore(rest);
        FREE_NULL_BITMAP(excluded_);
    }

    NarrowedRequest(const NarrowedRequest&) = delete;
    NarrowedRequest& operator=(const NarrowedRequest&) = delete;

  private:
    // Fewer nodes have fewer processors: the job's tasks, of which there is one a node if the user
    // does not say, must not keep it from starting on them.
    void ask_for(job_details* details, SizeRange sizes) const {
        const auto nodes = static_cast<uint32_t>(sizes.least);
        details->min_nodes = nodes;
        details->max_nodes = static_cast<uint32_t>(sizes.most);
        if (nodes < min_nodes_) {
            details->min_cpus = share(min_cpus_, nodes);
            details->num_tasks = share(tasks_, nodes);
        }
        follow_tasks_per_node(details, nodes);
    }

    uint32_t share(uint32_t of_all, uint32_t nodes) const {
        return static_cast<uint32_t>((std::uint64_t{of_all} * nodes + min_nodes_ - 1) / min_nodes_);
    }

    void restore(job_record_t* job) {
        if (!job->details) return;
        FREE_NULL_BITMAP(job->details->exc_node_bitmap);
        if (excluded_) job->details->exc_node_bitmap = bit_copy(excluded_);
        job->details->min_nodes = min_nodes_;
        job->details->max_nodes = max_nodes_;
        job->details->min_cpus = min_cpus_;
        job->details->num_tasks = tasks_;
        if (IS_JOB_RUNNING(job)) follow_tasks_per_node(job->details, job->node_cnt);
    }

    job_record_t* job_;
    uint32_t array_id_;
    bitstr_t* excluded_;
    uint32_t min_nodes_, max_nodes_, min_cpus_, tasks_;
};

// What a question leaves in the record that users see: why the job waits, and what it would get.
class Untouched {
  public:
    explicit Untouched(job_record_t* job)
        : job_(job),
          reason_(job),
          nodes_(job->node_cnt_wag),
          processors_(job->total_cpus),
          processors_left_(job->cpu_cnt) {}
    ~Untouched() {
        job_->node_cnt_wag = nodes_;
        job_->total_cpus = processors_;
        job_->cpu_cnt = processors_left_;
    }
    // That is why it waits, from now on.
    void keep_reason(std::uint32_t reason) {
        reason_.replace(reason);
        last_job_update = time(nullptr);
    }

    Untouched(const Untouched&) = delete;
    Untouched& operator=(const Untouched&) = delete;

  private:
    job_record_t* job_;
    KeptReason reason_;
    std::uint32_t nodes_, processors_, processors_left_;
};

// The time limit with which a job is tried (controller/starting_limit.hpp). A job that does not
// start has its own again.
class BoundedLimit {
  public:
    BoundedLimit(job_record_t* job, time_t hole_ends)
        : job_(job), array_id_(job->array_recs ? job->array_job_id : 0), own_(job->time_limit) {
        const controller::StartingLimit limit{
            .own = static_cast<uint32_t>(time_limit_of(job) / 60),
            .least = job->time_min == NO_VAL ? 0 : job->time_min,
            .deadline = job->deadline == NO_VAL ? 0 : job->deadline,
            .hole_ends = hole_ends};
        const uint32_t bounded = limit.minutes(time(nullptr));
        if (bounded < limit.own) job->time_limit = bounded;
    }
    ~BoundedLimit() {
        if (!started_) job_->time_limit = own_;
        // The task of an array was split off with a copy of the limit.
        job_record_t* rest = array_id_ ? find_job_record(array_id_) : nullptr;
        if (rest && rest != job_) rest->time_limit = own_;
    }
    void started() { started_ = true; }

    BoundedLimit(const BoundedLimit&) = delete;
    BoundedLimit& operator=(const BoundedLimit&) = delete;

  private:
    job_record_t* job_;
    uint32_t array_id_, own_;
    bool started_ = false;
};

// When another cluster of the federation may be asked again.  Slurm asks under slurmctld's locks
// and waits up to MessageTimeout for the answer: so after a slow one, of a cluster that is stuck,
// there is a time without questions.
class FederationPatience {
  public:
    bool is_over() const { return Clock::now() >= asked_from_; }
    void asked(Clock::time_point begin) {
        const auto took = Clock::now() - begin;
        if (took >= kSlow) asked_from_ = Clock::now() + 3 * took;
    }

  private:
    static constexpr auto kSlow = std::chrono::milliseconds(500);
    Clock::time_point asked_from_{};
};

FederationPatience& federation_patience() {
    static FederationPatience patience;
    return patience;
}

// The federation's lock of a job, which the cluster has that it was submitted to, and gives to one
// cluster at a time.  Any other job has it as soon as it is asked for.
class FederationLock {
  public:
    explicit FederationLock(job_record_t* job) : job_(job) {
        if (fed_mgr_is_origin_job(job)) {
            held_ = fed_mgr_job_lock(job) == SLURM_SUCCESS;
        } else if (federation_patience().is_over()) {
            const auto begin = Clock::now();
            held_ = fed_mgr_job_lock(job) == SLURM_SUCCESS;
            federation_patience().asked(begin);
        }
    }
    ~FederationLock() {
        if (held_) fed_mgr_job_unlock(job_);
    }
    FederationLock(const FederationLock&) = delete;
    FederationLock& operator=(const FederationLock&) = delete;

    bool is_held() const { return held_; }

    // The other clusters forget the job.  Where one cannot be told now, it asks when it can.
    void started() {
        fed_mgr_job_start(job_, job_->start_time);
        held_ = false;
    }

  private:
    job_record_t* job_;
    bool held_ = false;
};

// Whether more or other nodes might help.
bool is_lack_of_room(int rc) {
    return rc == ESLURM_NODES_BUSY || rc == ESLURM_NODE_NOT_AVAIL ||
           rc == ESLURM_RESERVATION_BUSY || rc == ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE;
}

// A slurmstepd that manages the steps of its job (stepmgr) hears of no resize.
void keep_steps_in_controller(job_record_t* job) {
    if (core::annotation_from_text(job->admin_comment ? job->admin_comment : ""))
        compat::keep_steps_in_controller(job);
}

StartOutcome outcome_of(int rc) {
    if (rc == ESLURM_ACCOUNTING_POLICY) return StartOutcome::limited;
    return is_lack_of_room(rc) ? StartOutcome::no_room : StartOutcome::refused;
}

}  // namespace

time_t end_of_hole(const core::Plan& plan, const core::Action& start) {
    if (start.reason == core::Reason::fits) return 0;
    const Time end = controller::end_of_hole(plan, start);
    return end < kNever ? static_cast<time_t>(end) : 0;
}

Started start_job(job_record_t* job, const Attempt& attempt, const NodeSet& allowed, int nodes,
                  time_t hole_ends) {
    Started started = allocate_job(job, attempt, allowed, nodes, hole_ends);
    if (started.outcome == StartOutcome::started) launch({job});
    return started;
}

Started allocate_job(job_record_t* job, const Attempt& attempt, const NodeSet& allowed, int nodes,
                     time_t hole_ends) {
    auto found = find(attempt);
    if (!found) return {StartOutcome::refused, nullptr, "its partition or reservation is gone"};
    Trying trying(job, *found);
    if (const char* why = why_not_now(job)) return {StartOutcome::refused, nullptr, why};
    if (nodes != kAsRequested && !takes(job, nodes))
        return {StartOutcome::refused, nullptr, "it asks for another number of nodes by now"};

    FederationLock federation(job);
    if (!federation.is_held())
        return {StartOutcome::refused, nullptr, "another cluster of the federation has its lock"};
    // Slurm keeps that of the last run of a job that was requeued, which may have had other nodes.
    job->billable_tres = NO_VAL;
    keep_steps_in_controller(job);
    int rc;
    {
        NarrowedRequest narrowed(job, allowed, {nodes, nodes});
        BoundedLimit limit(job, hole_ends);
        rc = compat::allocate(job);
        if (rc == SLURM_SUCCESS) limit.started();
    }
    if (rc != SLURM_SUCCESS) return {outcome_of(rc), nullptr, slurm_strerror(rc)};
    federation.started();
    last_job_update = time(nullptr);
    return {StartOutcome::started, job, ""};
}

// Of components Slurm launches the leader, whichever it is told of, each time that it is.
void launch(const std::vector<job_record_t*>& jobs) {
    job_record_t* first = jobs.front();
    if (first->batch_flag == 0)
        srun_allocate(first);
    else if (!IS_JOB_CONFIGURING(first))
        launch_job(first);
    for (job_record_t* job : jobs) {
        rebuild_job_part_list(job);
        repair_batch(job);
    }
}

// Its nodes are told, which may have begun a prolog, so that it waits again as a job does that is
// requeued: until the credentials of this start are void.
void take_back(job_record_t* job) {
    const time_t now = time(nullptr);
    job->details->begin_time = now + compat::lifetime_of_credentials() + 1;
    job->end_time = last_job_update = now;
    compat::set_state(job, JOB_PENDING | JOB_COMPLETING);
    build_cg_bitmap(job);
    job_completion_logger(job, false);
    deallocate_nodes(job, false, false, false);
    // The end of a job is the end of what it has submitted; that leaves its burst buffer alone.
    const auto flags = job->bit_flags;
    job->bit_flags |= JOB_KILL_HURRY;
    compat::count_as_submitted(job);
    job->bit_flags = flags;
    if (!job->node_bitmap_cg || bit_set_count(job->node_bitmap_cg) == 0) batch_requeue_fini(job);
}

Started ask_whether_startable(job_record_t* job, const Attempt& attempt, const NodeSet& allowed,
                              int nodes) {
    const auto found = find(attempt);
    if (!found) return {StartOutcome::refused, nullptr, "its partition or reservation is gone"};
    Trying trying(job, *found);
    if (const char* why = why_not_now(job)) return {StartOutcome::refused, nullptr, why};
    Untouched untouched(job);
    NarrowedRequest narrowed(job, allowed, {nodes, nodes});
    const int rc = compat::test_allocation(job);
    if (rc == SLURM_SUCCESS) return {StartOutcome::started, job, ""};
    return {outcome_of(rc), nullptr, slurm_strerror(rc)};
}

controller::Verdict ask_whether_runnable(job_record_t* job, const Attempt& attempt,
                                         SizeRange sizes) {
    using controller::Verdict;
    auto found = find(attempt);
    if (!found) return Verdict::unknown;
    Trying trying(job, *found);
    Untouched untouched(job);
    NarrowedRequest narrowed(job, NodeSet().complement(), sizes);
    const int rc = compat::test_allocation(job);
    if (rc == ESLURM_BURST_BUFFER_WAIT) return Verdict::unknown;  // Slurm has not come to nodes
    const bool is_barred = rc == ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE ||
                           rc == ESLURM_REQUESTED_PART_CONFIG_UNAVAILABLE;
    if (!is_barred) return Verdict::runnable;
    const bool is_only_way = !job->part_ptr_list && !job->resv_name && !attempt.preferred;
    if (rc == ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE && is_only_way) return Verdict::impossible;
    untouched.keep_reason(is_only_way ? job->state_reason : std::uint32_t{WAIT_RESOURCES});
    return Verdict::barred;
}

void hold_impossible(job_record_t* job) {
    job->state_reason = FAIL_BAD_CONSTRAINTS;
    xfree(job->state_desc);
    job->start_time = job->end_time = time(nullptr);
    job->priority = 0;
    last_job_update = time(nullptr);
}

}  // namespace elastic::slurm

// SPDX-License-Identifier: GPL-2.0-or-later
// One pass over Slurm's job list and one over its sorted queue, which was made in a hold of the
// lock before: the order is as of then, everything else as of now.  The cost is
// linear in jobs and nodes; masks are made once for each different set of
// constraints, not once a job.  All of it happens under slurmctld's locks:
// nothing is allocated for a job that is like others, and sets of nodes are
// handled a word at a time.
//
// Always holds for the snapshot: what core/snapshot.hpp promises.
#include "slurm/view.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include "slurm/resize.hpp"

namespace elastic::slurm {

namespace {

bool linear_selection() {
    return xstrcmp(slurm_conf.select_type, "select/linear") == 0;
}

// Drops the nodes whose hardware the job cannot use.
void keep_fitting_hardware(const job_details* details, NodeSet& mask) {
    ListIterator iterator = list_iterator_create(config_list);
    while (auto* config = static_cast<config_record_t*>(list_next(iterator))) {
        bool memory_fits =
            (details->pn_min_memory & MEM_PER_CPU) || config->real_memory >= details->pn_min_memory;
        if (config->node_bitmap && (config->cpus < details->pn_min_cpus || !memory_fits ||
                                    config->tmp_disk < details->pn_min_tmp_disk))
            bit_and_not(mask.get(), config->node_bitmap);
    }
    list_iterator_destroy(iterator);
}

// What decides which nodes a job may use.  The texts are Slurm's own, so it
// lives only as long as the lock is held.
struct Constraints {
    const part_record_t* partition = nullptr;
    std::string_view features, excluded, required;
    std::uint64_t memory = 0;
    std::uint32_t processors = 0, disk = 0;
    std::uint32_t nodes = 0;  // only with `required`
    // What a reservation allows depends on who asks and for how long.
    std::string_view reservation, account;
    std::uint32_t user = 0, limit = 0;

    auto operator<=>(const Constraints&) const = default;
};

std::string_view text(const char* value) {
    return value ? value : "";
}

Constraints constraints_of(const job_record_t* job, const part_record_t* partition) {
    const job_details* details = job->details;
    Constraints result;
    result.partition = partition;
    result.features = text(details->features);
    result.excluded = text(details->exc_nodes);
    result.required = text(details->req_nodes);
    result.memory = details->pn_min_memory;
    result.processors = details->pn_min_cpus;
    result.disk = details->pn_min_tmp_disk;
    if (details->req_node_bitmap) result.nodes = details->min_nodes;
    if (list_count(resv_list) > 0) {
        result.reservation = text(job->resv_name);
        result.account = text(job->account);
        result.user = job->user_id;
        result.limit = job->time_limit;
    }
    return result;
}

NodeSet usable_nodes() {
    NodeSet usable(avail_node_bitmap);
    bit_and(usable.get(), up_node_bitmap);
    // Since slurmctld started such a node has not reported, but its job has not
    // been lost either: what is agreed about it goes on.
    for (int i = 0; i < node_record_count; ++i)
        if (const node_record_t* node = node_record_table_ptr[i];
            node && IS_NODE_UNKNOWN(node) && node->run_job_cnt > 0)
            usable.add(i);
    return usable;
}

void keep_unreserved(job_record_t* job, NodeSet& mask) {
    time_t when = time(nullptr);
    bitstr_t *allowed = nullptr, *excluded_cores = nullptr;
    bool overlap = false;
    int rc = job_test_resv(job, &when, false, &allowed, &excluded_cores, &overlap, false);
    if (rc == SLURM_SUCCESS && allowed)
        bit_and(mask.get(), allowed);
    else
        mask = NodeSet();
    FREE_NULL_BITMAP(allowed);
    FREE_NULL_BITMAP(excluded_cores);
}

class Builder {
  public:
    Builder(Time now, JobTable& jobs, const Queue& queue, const Refusals& refusals, View& view)
        : now_(now),
          jobs_(jobs),
          queue_(queue),
          refusals_(refusals),
          view_(view),
          usable_(usable_nodes()) {}

    void build() {
        forget_last();
        view_.snapshot.now = now_;
        view_.nodes_in_all = node_record_count;
        view_.private_jobs = (slurm_conf.private_data & PRIVATE_DATA_JOBS) != 0;
        view_.read = time(nullptr);
        shared_end_.assign(node_record_count, -1);
        read_running();
        read_pending();
        make_pools();
        count_held();
        count_idle_and_shared();
    }

  private:
    // Keeps the room of the long lists.
    void forget_last() {
        auto pending = std::move(view_.snapshot.pending);
        pending.clear();
        view_.snapshot = {};
        view_.snapshot.pending = std::move(pending);
        view_.partitions.clear();
    }

    // ---- running jobs

    void read_running() {
        ListIterator iterator = list_iterator_create(job_list);
        while (auto* job = static_cast<job_record_t*>(list_next(iterator)))
            if (IS_JOB_RUNNING(job) && job->node_bitmap) read_running(job);
        list_iterator_destroy(iterator);
    }

    void read_running(job_record_t* job) {
        Time end = static_cast<Time>(job->end_time);
        if (!has_whole_nodes(job)) {
            for_each_node(job->node_bitmap,
                          [&](int node) { shared_end_[node] = std::max(shared_end_[node], end); });
            return;
        }
        const JobEntry& entry = jobs_.sync(job);
        core::RunningJob running;
        running.id = job->job_id;
        running.start = static_cast<Time>(job->start_time);
        running.limit_end = end;
        running.duration = std::max(0.0, end - running.start);
        running.estimated_end = estimated_end(entry, end);
        int size = static_cast<int>(job->node_cnt);
        if (entry.elastic) {
            running.elastic = entry.annotation;
            running.eligible = mask_of(job, job->part_ptr);
            running.gain = entry.gain;
            running.expansions = entry.expansions;
            running.shrinks = entry.resizes - entry.expansions;
            running.last_resize = std::max(entry.last_resize, running.start);
            running.not_before = entry.not_before;
        } else {
            running.elastic.min = running.elastic.pref = running.elastic.max = size;
            running.eligible = no_nodes();
        }
        view_.snapshot.running.push_back(std::move(running));
        running_records_.push_back(job);
        bit_or(taken_.get(), job->node_bitmap);
    }

    static Time estimated_end(const JobEntry& entry, Time limit_end) {
        if (entry.progress_end > 0) return std::min(entry.progress_end, limit_end);
        const bool has_other_size = entry.resizes > 0 || entry.nodes != entry.annotation.pref;
        if (entry.elastic && has_other_size)
            return std::min(entry.ledger.estimated_end(), limit_end);
        return limit_end;
    }

    // ---- pending jobs

    void read_pending() {
        std::vector<part_record_t*> partitions;
        for (const std::string& name : queue_.partitions())
            partitions.push_back(find_part_record(const_cast<char*>(name.c_str())));
        for (const Queue::Place& place : queue_.places()) {
            job_record_t* job = find_job_record(place.job);
            part_record_t* partition = partitions[place.partition];
            if (job && partition && IS_JOB_PENDING(job) && job->details && job->priority)
                read_pending(job, partition);
        }
    }

    void read_pending(job_record_t* job, part_record_t* partition) {
        if (refusals_.hidden.count(job->job_id)) return;
        const JobEntry& entry = jobs_.sync(job);
        int nodes = nodes_wanted(job, partition);
        if (static_cast<uint32_t>(nodes) > partition->max_nodes) return;

        core::PendingJob pending;
        pending.id = job->job_id;
        pending.submit = static_cast<Time>(job->details->submit_time);
        pending.duration = time_limit_of(job);
        pending.eligible = mask_of(job, partition);
        pending.shares_nodes = !has_whole_nodes(job);
        pending.refused = refusals_.no_shared_room.count(job->job_id) > 0;
        if (entry.elastic) {
            pending.elastic = entry.annotation;
            pending.elastic.pref = nodes;
        } else {
            pending.elastic.min = pending.elastic.pref = pending.elastic.max = nodes;
        }
        // Only a job for several partitions stands in the queue more than once.
        pending.alternative = job->part_ptr_list && !seen_.insert(job->job_id).second;
        int copies = pending.alternative ? 1 : startable_tasks(job, nodes);
        for (int copy = 0; copy < copies; ++copy) {
            view_.snapshot.pending.push_back(pending);
            view_.partitions.emplace_back(partition->name);
        }
    }

    static int nodes_wanted(const job_record_t* job, const part_record_t* partition) {
        int nodes = static_cast<int>(std::max(job->details->min_nodes, partition->min_nodes));
        if (partition->total_nodes && partition->total_cpus) {
            int cpus = static_cast<int>(partition->total_cpus / partition->total_nodes);
            int wanted = static_cast<int>(job->details->min_cpus);
            nodes = std::max(nodes, (wanted + cpus - 1) / std::max(cpus, 1));
        }
        return std::max(nodes, 1);
    }

    // A job array is one record until its tasks start; in one pass as many may
    // start as the cluster could hold.
    static int startable_tasks(const job_record_t* job, int nodes) {
        if (!job->array_recs || job->array_task_id != NO_VAL) return 1;
        int64_t tasks = job->array_recs->task_cnt;
        if (job->array_recs->max_run_tasks)
            tasks = std::min<int64_t>(tasks, job->array_recs->max_run_tasks);
        return static_cast<int>(std::clamp<int64_t>(tasks, 1, node_record_count / nodes + 1));
    }

    // ---- masks: the nodes that a job may use

    // A partition of no name: no job is in it, so no job's mask is found here.
    core::EligibilityId no_nodes() {
        return intern({}, [] { return NodeSet(); });
    }

    core::EligibilityId mask_of(job_record_t* job, part_record_t* partition) {
        return intern(constraints_of(job, partition),
                      [&] { return eligible_nodes(job, partition); });
    }

    template <class Make>
    core::EligibilityId intern(const Constraints& constraints, Make&& make) {
        if (last_mask_ != mask_ids_.end() && last_mask_->first == constraints)
            return last_mask_->second;  // neighbours in the queue are often alike
        auto [found, is_new] = mask_ids_.try_emplace(constraints, 0);
        last_mask_ = found;
        if (!is_new) return found->second;
        NodeSet mask = make();
        auto same = std::find_if(masks_.begin(), masks_.end(),
                                 [&](const NodeSet& other) { return other.equals(mask); });
        found->second = static_cast<core::EligibilityId>(same - masks_.begin());
        if (same == masks_.end()) masks_.push_back(std::move(mask));
        return found->second;
    }

    // ---- pools: nodes that no mask tells apart

    void make_pools() {
        pool_of_.assign(node_record_count, 0);
        int pools = 1;
        for (const NodeSet& mask : masks_) pools = refine(mask, pools);
        view_.snapshot.pools.resize(pools);
        view_.pools.assign(pools, NodeSet());
        for (int node = 0; node < node_record_count; ++node) {
            view_.pools[pool_of_[node]].add(node);
            ++view_.snapshot.pools[pool_of_[node]].nodes;
        }
        make_eligibilities();
    }

    // Splits each pool into its nodes inside and outside the mask; numbers anew
    // in the order of the nodes.
    int refine(const NodeSet& mask, int pools) {
        std::vector<int> renamed(2 * pools, -1);
        int next = 0;
        for (int node = 0; node < node_record_count; ++node) {
            int& name = renamed[2 * pool_of_[node] + (mask.has(node) ? 1 : 0)];
            if (name < 0) name = next++;
            pool_of_[node] = name;
        }
        return next;
    }

    void make_eligibilities() {
        auto& pools = view_.snapshot.pools;
        std::vector<int> wanted(pools.size(), 0);  // by how many masks
        for (const NodeSet& mask : masks_) {
            core::Eligibility eligible;
            for (core::PoolId pool = 0; pool < pools.size(); ++pool)
                if (view_.pools[pool].overlaps(mask)) {
                    eligible.push_back(pool);
                    ++wanted[pool];
                }
            view_.snapshot.eligibilities.push_back(std::move(eligible));
        }
        for (core::PoolId pool = 0; pool < pools.size(); ++pool)
            pools[pool].name = fmt::format("p{}", pool);
        for (auto& eligible : view_.snapshot.eligibilities)
            std::stable_sort(eligible.begin(), eligible.end(),
                             [&](auto left, auto right) { return wanted[left] < wanted[right]; });
    }

    // ---- who holds what

    void count_held() {
        for (std::size_t i = 0; i < running_records_.size(); ++i) {
            core::RunningJob& running = view_.snapshot.running[i];
            running.held = view_.count(running_records_[i]->node_bitmap);
            int keep = batch_host(running_records_[i]);
            if (keep >= 0) running.batch_host_pool = static_cast<core::PoolId>(pool_of_[keep]);
        }
    }

    void count_idle_and_shared() {
        std::map<std::pair<int, Time>, int> shared;
        for (int node = 0; node < node_record_count; ++node) {
            if (taken_.has(node) || !usable_.has(node)) continue;
            bool idle = shared_end_[node] < 0 && bit_test(idle_node_bitmap, node) &&
                        !bit_test(cg_node_bitmap, node) && bit_test(share_node_bitmap, node);
            if (idle)
                ++view_.snapshot.pools[pool_of_[node]].idle;
            else
                ++shared[{pool_of_[node], std::max(shared_end_[node], now_)}];
        }
        for (const auto& [where, nodes] : shared)
            view_.snapshot.shared_until.push_back(
                {static_cast<core::PoolId>(where.first), nodes, where.second});
    }

    Time now_;
    JobTable& jobs_;
    const Queue& queue_;
    const Refusals& refusals_;
    View& view_;
    NodeSet usable_;
    std::vector<Time> shared_end_;  // by node: the last end of a job that shares it, -1 none
    NodeSet taken_;                 // a job has them whole
    std::vector<job_record_t*> running_records_;
    std::set<core::JobId> seen_;  // of jobs for several partitions
    std::map<Constraints, core::EligibilityId> mask_ids_;
    std::map<Constraints, core::EligibilityId>::iterator last_mask_ = mask_ids_.end();
    std::vector<NodeSet> masks_;
    std::vector<int> pool_of_;
};

}  // namespace

NodeSet View::nodes_of(const core::PoolCounts& counts) const {
    NodeSet result;
    for (std::size_t pool = 0; pool < counts.size(); ++pool)
        if (counts[pool] > 0) result |= pools[pool];
    return result;
}

NodeSet View::nodes_of(core::EligibilityId id) const {
    NodeSet result;
    for (core::PoolId pool : snapshot.eligibilities[id]) result |= pools[pool];
    return result;
}

core::PoolCounts View::count(bitstr_t* nodes) const {
    core::PoolCounts counts(pools.size(), 0);
    for (std::size_t pool = 0; pool < pools.size(); ++pool)
        counts[pool] = bit_overlap(nodes, pools[pool].get());
    return counts;
}

bool has_whole_nodes(const job_record_t* job) {
    const job_details* details = job->details;
    if (!details) return true;
    if (linear_selection())
        return details->share_res == 0 || !job->part_ptr ||
               (job->part_ptr->max_share & ~SHARED_FORCE) <= 1;
    return details->whole_node == WHOLE_NODE_REQUIRED ||
           (job->part_ptr && job->part_ptr->max_share == 0);
}

NodeSet eligible_nodes(job_record_t* job, const part_record_t* partition) {
    NodeSet mask(partition->node_bitmap);
    mask &= usable_nodes();
    job_details* details = job->details;
    if (details->exc_node_bitmap) mask -= NodeSet(details->exc_node_bitmap);
    if (details->req_node_bitmap &&
        bit_set_count(details->req_node_bitmap) >= static_cast<int>(details->min_nodes))
        mask &= NodeSet(details->req_node_bitmap);
    keep_fitting_hardware(details, mask);
    bool has_xor = false;
    if (valid_feature_counts(job, true, mask.get(), &has_xor) != SLURM_SUCCESS) return {};
    if (list_count(resv_list) > 0) keep_unreserved(job, mask);
    return mask;
}

void Queue::read() {
    records_.reset(build_job_queue(true, false));
    sort_job_queue(records_.get());
    places_.clear();
    partitions_.clear();
    std::vector<const part_record_t*> known;
    ListIterator iterator = list_iterator_create(records_.get());
    while (auto* record = static_cast<job_queue_rec_t*>(list_next(iterator))) {
        if (!record->job_ptr || !record->part_ptr) continue;
        auto same = std::find(known.begin(), known.end(), record->part_ptr);
        auto index = static_cast<std::uint32_t>(same - known.begin());
        if (same == known.end()) {
            known.push_back(record->part_ptr);
            partitions_.emplace_back(record->part_ptr->name);
        }
        places_.push_back({record->job_ptr->job_id, index});
    }
    list_iterator_destroy(iterator);
}

void read_cluster(Time now, JobTable& jobs, const Queue& queue, const Refusals& refusals,
                  View& view) {
    Builder(now, jobs, queue, refusals, view).build();
}

}  // namespace elastic::slurm

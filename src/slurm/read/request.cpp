// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm marks no job and no node as changed, and its marks of whole tables move with each
// allocation; so contents are compared, by a hash of all that selecting nodes looks at.
//
// It costs a microsecond a job, which is as much as all else that a view says of it; so not every
// job's is made in every pass.
//
// A job's time limit decides only where reservations are, so that jobs which differ by nothing else
// are asked of Slurm once.
#include "slurm/read/request.hpp"

#include <string_view>
#include <type_traits>

#include "slurm/records.hpp"

namespace elastic::slurm {

namespace {

class Hash {
  public:
    template <class... Parts>
    void add(const Parts&... parts) {
        (add_one(parts), ...);
    }
    std::uint64_t value() const { return value_; }

  private:
    template <class Number>
    requires std::is_arithmetic_v<Number> || std::is_enum_v<Number>
    void add_one(Number number) { mix(static_cast<std::uint64_t>(number)); }
    void add_one(const char* text) { mix(text ? std::hash<std::string_view>()(text) : 0); }
    void add_one(bitstr_t* bits) { mix(bits ? hash_of(bits) : 0); }

    static std::uint64_t hash_of(bitstr_t* bits) {
        Hash hash;
        const auto [first, last] = compat::words_of(bits);
        for (const std::uint64_t* word = first; word != last; ++word) hash.add(*word);
        return hash.value();
    }

    void mix(std::uint64_t part) {
        value_ = (value_ ^ part) * 0x9e3779b97f4a7c15;
        value_ ^= value_ >> 29;
    }

    std::uint64_t value_ = 1;
};

template <class Record, class Function>
void for_each(xlist* list, Function&& function) {
    if (!list) return;
    ListIterator iterator = list_iterator_create(list);
    while (auto* record = static_cast<Record*>(list_next(iterator))) function(record);
    list_iterator_destroy(iterator);
}

void add_layout(Hash& hash, const multi_core_data_t* layout) {
    if (!layout) return;
    hash.add(layout->boards_per_node, layout->sockets_per_board, layout->sockets_per_node,
             layout->cores_per_socket, layout->threads_per_core, layout->ntasks_per_board,
             layout->ntasks_per_socket, layout->ntasks_per_core, layout->plane_size);
}

void add_details(Hash& hash, const job_details* details) {
    hash.add(details->min_nodes, details->max_nodes, details->min_cpus, details->max_cpus,
             details->num_tasks, details->cpus_per_task, details->ntasks_per_node,
             details->ntasks_per_tres, details->pn_min_cpus, details->pn_min_memory,
             details->pn_min_tmp_disk, details->contiguous, details->core_spec, details->overcommit,
             details->share_res, details->whole_node, details->task_dist,
             compat::plane_size(details), details->features_use, details->req_nodes,
             details->exc_nodes, compat::segment_size(details));
    add_layout(hash, details->mc_ptr);
}

}  // namespace

controller::RequestId request_of(const job_record_t* job) {
    constexpr auto kFlags = GRES_ENFORCE_BIND | USE_MIN_NODES | SPREAD_JOB;
    Hash hash;
    hash.add(job->part_ptr ? job->part_ptr->name : nullptr, job->resv_name, job->user_id,
             job->assoc_id, job->qos_id, job->tres_per_job, job->tres_per_node,
             job->tres_per_socket, job->tres_per_task, job->cpus_per_tres, job->mem_per_tres,
             job->mcs_label, job->network, job->batch_features, job->reboot,
             job->bit_flags & kFlags, job->req_switch, compat::extra_constraints(job));
    add_details(hash, job->details);
    if (list_count(resv_list) > 0) hash.add(job->time_limit, job->time_min);
    if (job->req_switch) hash.add(job->job_id, job->wait4switch);  // each waits for its own time
    return hash.value();
}

controller::RequestId request_of(const Queue& queue, const Queue::Place& place) {
    job_record_t* job = pending_job(place.job);
    const auto found = find(queue.attempts()[place.attempt]);
    if (!job || !found) return 0;
    Trying trying(job, *found);
    return request_of(job);
}

controller::Account account_of(const Queue::Place& place, const job_record_t* job) {
    return {job->user_id, job->assoc_id, job->qos_id, place.attempt};
}

// Without limits the account is not read: that is a part of the record which nothing else reads.
bool is_left_out(const controller::PassRefusals& refusals, const Queue::Place& place,
                 const job_record_t* job, int nodes) {
    return refusals.hides(place.id()) ||
           (refusals.has_limits() && refusals.bars(account_of(place, job), nodes));
}

std::uint64_t configuration_now() {
    const time_t now = time(nullptr);
    Hash hash;
    hash.add(node_record_count, slurm_conf.last_update);
    for_each<config_record_t>(config_list, [&](const config_record_t* config) {
        hash.add(config->cpus, config->boards, config->tot_sockets, config->cores, config->threads,
                 config->core_spec_cnt, config->real_memory, config->mem_spec_limit,
                 config->tmp_disk, config->feature, config->gres, config->node_bitmap);
    });
    for_each<node_feature_t>(active_feature_list, [&](const node_feature_t* feature) {
        hash.add(feature->name, feature->node_bitmap);
    });
    for_each<part_record_t>(part_list, [&](const part_record_t* part) {
        hash.add(part->name, part->node_bitmap, part->state_up, part->min_nodes, part->max_nodes,
                 part->max_cpus_per_node, part->max_mem_per_cpu, part->max_share, part->max_time,
                 part->flags, part->qos_char, part->allow_accounts, part->deny_accounts,
                 part->allow_qos, part->deny_qos, part->allow_groups);
    });
    for_each<slurmctld_resv_t>(resv_list, [&](const slurmctld_resv_t* resv) {
        hash.add(resv->name, resv->node_bitmap, resv->core_bitmap, resv->start_time, resv->end_time,
                 resv->flags, resv->users, resv->accounts, resv->groups, resv->start_time <= now,
                 resv->end_time <= now);
    });
    return hash.value();
}

controller::NodeMask mask_of(const NodeSet& nodes) {
    const auto [first, last] = compat::words_of(nodes.get());
    controller::NodeMask mask(first, last);
    mask.resize(static_cast<std::size_t>(node_record_count));
    return mask;
}

}  // namespace elastic::slurm

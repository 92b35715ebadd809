// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm 23.11 to 26.05: the functions of slurm_22_05.hpp and until_23_11.hpp, where each is
// described.  What differs among these versions is told apart in the function that meets it.
#pragma once

#define operator operator_  // a member of slurmdb's records
extern "C" {
#include "src/common/assoc_mgr.h"
#include "src/common/bitstring.h"
#include "src/common/extra_constraints.h"
#include "src/common/job_features.h"
#include "src/common/job_resources.h"
#include "src/common/list.h"
#include "src/common/log.h"
#include "src/common/node_conf.h"
#include "src/common/plugin.h"
#include "src/common/read_config.h"
#include "src/common/slurm_protocol_api.h"
#include "src/common/uid.h"
#include "src/common/xmalloc.h"
#include "src/common/xstring.h"
#include "src/interfaces/burst_buffer.h"
#include "src/interfaces/cred.h"
#include "src/interfaces/gres.h"
#include "src/interfaces/preempt.h"
#include "src/interfaces/select.h"
#include "src/interfaces/topology.h"
#include "src/slurmctld/acct_policy.h"
#include "src/slurmctld/fed_mgr.h"
#include "src/slurmctld/gang.h"
#include "src/slurmctld/job_scheduler.h"
#include "src/slurmctld/licenses.h"
#include "src/slurmctld/locks.h"
#include "src/slurmctld/node_scheduler.h"
#include "src/slurmctld/proc_req.h"
#include "src/slurmctld/reservation.h"
#include "src/slurmctld/slurmctld.h"
#include "src/slurmctld/state_save.h"
#if SLURM_SINCE(24, 5)
#include "src/common/job_state_reason.h"
#include "src/stepmgr/gres_stepmgr.h"
#include "src/stepmgr/srun_comm.h"
#include "src/stepmgr/stepmgr.h"
#else
#include "src/slurmctld/gres_ctld.h"
#include "src/slurmctld/srun_comm.h"
#endif
#if SLURM_SINCE(24, 11)
#include "src/common/node_features.h"
#include "src/common/state_save.h"
#else
#include "src/interfaces/node_features.h"
#endif
#if !SLURM_SINCE(25, 5)
#include "src/slurmctld/front_end.h"
#endif
}
#undef operator

namespace elastic::slurm {
// By their names of 22.05.
using ListIterator = list_itr_t*;
using job_details = job_details_t;
}  // namespace elastic::slurm

#if !SLURM_SINCE(24, 5)
#include "slurm/compat/until_23_11.hpp"
#endif

namespace elastic::slurm::compat {

inline int select(job_record_t* job, bool only_test) {
#if SLURM_SINCE(24, 11)
    job_node_select_t selection{};
    selection.job_ptr = job;
    return select_nodes(&selection, only_test, false, SLURMDB_JOB_FLAG_SCHED);
#else
    return select_nodes(job, only_test, nullptr, nullptr, false, SLURMDB_JOB_FLAG_SCHED);
#endif
}

inline int allocate(job_record_t* job) {
    return select(job, false);
}

inline int test_allocation(job_record_t* job) {
    return select(job, true);
}

inline int find_room(job_record_t* job, bitstr_t* where, uint32_t nodes) {
    resv_exc_t nothing_excluded{};
    return select_g_job_test(job, where, nodes, nodes, nodes, SELECT_MODE_RUN_NOW, nullptr, nullptr,
                             &nothing_excluded
#if SLURM_SINCE(24, 11)
                             ,
                             nullptr  // who must end for licences
#endif
    );
}

inline std::pair<const std::uint64_t*, const std::uint64_t*> words_of(bitstr_t* bits) {
    constexpr int kHeader = 2;  // words: a magic number and the size
    const auto* first = reinterpret_cast<const std::uint64_t*>(bits) + kHeader;
    return {first, first + (bit_size(bits) + 63) / 64};
}

#if SLURM_SINCE(24, 5)
inline list_t* validate_gres(const job_record_t* job, job_details& details) {
    list_t* list = nullptr;
    uint16_t none = NO_VAL16, sockets = NO_VAL16, tasks_per_tres = NO_VAL16;
    uint16_t tasks_per_node = NO_VAL16, cpus_per_task = NO_VAL16;
    gres_job_state_validate_t request{};
    request.cpus_per_tres = job->cpus_per_tres;
    request.tres_per_node = job->tres_per_node;
    request.mem_per_tres = job->mem_per_tres;
    request.num_tasks = &details.num_tasks;
    request.min_nodes = &details.min_nodes;
    request.max_nodes = &details.max_nodes;
    request.min_cpus = &details.min_cpus;
    request.ntasks_per_node = &tasks_per_node;
    request.ntasks_per_socket = &none;
    request.sockets_per_node = &sockets;
    request.cpus_per_task = &cpus_per_task;
    request.ntasks_per_tres = &tasks_per_tres;
    request.gres_list = &list;
    gres_job_state_validate(&request);
    return list;
}
#endif

#if SLURM_SINCE(24, 11)
// Addresses are in the job's credential.
inline const char* aliases_of(const job_record_t*) {
    return nullptr;
}
inline void rename_nodes(job_record_t*) {}
#else
inline const char* aliases_of(const job_record_t* job) {
    return job->alias_list;
}
inline void rename_nodes(job_record_t* job) {
    set_job_alias_list(job);
}
#endif

inline void ask_for_whole_node(decltype(job_record_t::gres_list_req)* list, node_record_t* node,
                               uint32_t job) {
#if SLURM_SINCE(24, 5)
    gres_stepmgr_job_select_whole_node(list, node->gres_list, job, node->name);
#else
    gres_ctld_job_select_whole_node(list, node->gres_list, job, node->name);
#endif
}

inline void add_gres_to(uint64_t* tres, list_t* gres, uint32_t nodes) {
#if SLURM_SINCE(24, 5)
    gres_stepmgr_set_job_tres_cnt(gres, nodes, tres, false);
#else
    gres_ctld_set_job_tres_cnt(gres, nodes, tres, false);
#endif
}

inline void count_out(job_record_t* job) {
    acct_policy_job_fini(job, false);
}
inline void count_in(job_record_t* job) {
    acct_policy_job_begin(job, false);
}
inline void count_as_submitted(job_record_t* job) {
    acct_policy_add_job_submit(job, false);
}

inline void set_state(job_record_t* job, uint32_t state) {
#if SLURM_SINCE(24, 5)
    job_state_set(job, state);
#else
    job->job_state = state;
#endif
}

inline int lifetime_of_credentials() {
    return cred_expiration();
}

#if SLURM_SINCE(24, 5)
inline bool waits_for_limit(job_record_t* job) {
    return job_state_reason_check(static_cast<job_state_reason>(job->state_reason), JSR_QOS_ASSOC);
}
inline const char* name_of_reason(uint32_t reason) {
    return job_state_reason_string(static_cast<job_state_reason>(reason));
}
inline bitstr_t* powered_down_nodes() {
    return power_down_node_bitmap;
}
#endif

inline const char* name_of_plugin_error(int error) {
    return slurm_strerror(error);
}

inline bitstr_t* nodes_named(char* list) {
    bitstr_t* nodes = nullptr;
#if SLURM_SINCE(24, 11)
    node_name2bitmap(list, true, &nodes, nullptr);
#else
    node_name2bitmap(list, true, &nodes);
#endif
    return nodes;
}

inline bitstr_t* unreserved_nodes(job_record_t* job, time_t* when) {
    bitstr_t* allowed = nullptr;
    resv_exc_t excluded{};  // it may not be null
    bool overlap = false;
    const int rc = job_test_resv(job, when, false, &allowed, &excluded, &overlap, false);
    reservation_delete_resv_exc_parts(&excluded);
    if (rc != SLURM_SUCCESS) FREE_NULL_BITMAP(allowed);
    return allowed;
}

#if SLURM_SINCE(25, 5)
inline bool has_switches(const job_record_t* job) {
    int switches = 0;
    char* topology = job->part_ptr->topology_name;
    return topology_g_get(TOPO_DATA_REC_CNT, topology, &switches) == SLURM_SUCCESS && switches > 0;
}
inline void add_nodes_of_switches(const job_record_t* job, bitstr_t* nodes) {
    topology_g_whole_topo(nodes, job->part_ptr->topology_idx);
}
#elif SLURM_SINCE(24, 5)
inline bool has_switches(const job_record_t*) {
    int switches = 0;
    return topology_g_get(TOPO_DATA_REC_CNT, &switches) == SLURM_SUCCESS && switches > 0;
}
inline void add_nodes_of_switches(const job_record_t*, bitstr_t* nodes) {
    topology_g_whole_topo(nodes);
}
#endif

constexpr auto kMatchingOr = FEATURE_OP_MOR;

inline const char* extra_constraints(const job_record_t* job) {
    return job->extra_constraints ? job->extra : nullptr;
}

inline void keep_extra_constraints(const job_record_t* job, bitstr_t* nodes) {
    if (!job->extra_constraints) return;
    for (int i = 0; const node_record_t* node = next_node_bitmap(nodes, &i); ++i)
        if (!node->extra_data || !extra_constraints_test(job->extra_constraints, node->extra_data))
            bit_clear(nodes, i);
}

#if SLURM_SINCE(24, 5)
inline std::uint32_t segment_size(const job_desc_msg_t* job) {
    return job->segment_size == NO_VAL16 ? 0 : job->segment_size;
}
inline std::uint32_t segment_size(const job_details* details) {
    return details->segment_size;
}
#endif

// In the layout since then.
inline std::uint32_t plane_size(const job_details*) {
    return 0;
}

#if !SLURM_SINCE(25, 5)
inline bool has_front_ends() {
    return front_end_node_cnt > 0;
}
inline bool is_front_end_available(job_record_t* job) {
    return avail_front_end(job);
}
#else
inline bool has_front_ends() {
    return false;
}
inline bool is_front_end_available(job_record_t*) {
    return true;
}
#endif

constexpr slurmctld_lock_t what_allocations_take() {
    slurmctld_lock_t locks{};
    locks.conf = locks.part = locks.fed = READ_LOCK;
    locks.job = locks.node = WRITE_LOCK;
#if SLURM_SINCE(26, 5)
    locks.select_node = WRITE_LOCK;
#endif
    return locks;
}
constexpr slurmctld_lock_t kLocks = what_allocations_take();

inline void forget_shared(job_record_t* copy) {
    copy->lic_req = nullptr;
    copy->node_addrs = nullptr;
#if SLURM_SINCE(24, 5)
    copy->switch_jobinfo = nullptr;
    copy->resv_port_array = nullptr;
#endif
#if SLURM_SINCE(24, 11)
    copy->node_bitmap_preempt = nullptr;
    copy->licenses_to_preempt = nullptr;
#endif
#if SLURM_SINCE(25, 11)
    copy->topo_jobinfo = nullptr;
    copy->hres_select = nullptr;
#endif
#if SLURM_SINCE(26, 5)
    copy->node_bitmap_rs = nullptr;
    copy->steps_drained_subs = nullptr;
#endif
}

#if !SLURM_SINCE(26, 5)
inline uint32_t* node_ranks(const job_resources_t&) {
    return nullptr;
}
inline void set_node_ranks(job_resources_t&, uint32_t*) {}
#else
inline uint32_t* node_ranks(const job_resources_t& resources) {
    return resources.node_ranks;
}
inline void set_node_ranks(job_resources_t& resources, uint32_t* ranks) {
    resources.node_ranks = ranks;
}
#endif

#if SLURM_SINCE(24, 11)
inline uint32_t qos_of(const job_queue_rec_t* record) {
    return record->job_ptr->qos_list && record->qos_ptr ? record->qos_ptr->id : 0;
}

inline int has_id(void* qos, void* id) {
    return static_cast<slurmdb_qos_rec_t*>(qos)->id == *static_cast<uint32_t*>(id);
}
inline void use_qos(job_record_t* job, uint32_t id) {
    if (id == 0 || !job->qos_list) return;
    void* named = list_find_first(job->qos_list, has_id, &id);
    if (named) job->qos_ptr = static_cast<slurmdb_qos_rec_t*>(named);
#if SLURM_SINCE(25, 11)
    if (named) job->qos_id = id;
#endif
}
#else
inline uint32_t qos_of(const job_queue_rec_t*) {
    return 0;
}
inline void use_qos(job_record_t*, uint32_t) {}
#endif

inline void keep_steps_in_controller([[maybe_unused]] job_record_t* job) {
#if SLURM_SINCE(24, 5)
    job->bit_flags &= ~STEPMGR_ENABLED;
#endif
}

#if SLURM_SINCE(26, 5)
inline std::uint16_t processors_in_use(const node_record_t* node) {
    return node_select_stats_array[node->index]->alloc_cpus;
}
#elif SLURM_SINCE(25, 5)
inline std::uint16_t processors_in_use(const node_record_t* node) {
    return node->alloc_cpus;
}
#elif SLURM_SINCE(24, 11)
inline std::uint16_t processors_in_use(const node_record_t* node) {
    std::uint16_t in_use = 0;
    select_g_select_nodeinfo_get(node->select_nodeinfo, SELECT_NODEDATA_SUBCNT,
                                 NODE_STATE_ALLOCATED, &in_use);
    return in_use;
}
#endif

#if SLURM_SINCE(24, 11)
inline void count_processors_in_use() {
    select_g_select_nodeinfo_set_all();
}
inline bool may_be_planned(const node_record_t* node) {
    if (!IS_NODE_ALLOCATED(node)) return true;
    const std::uint16_t in_use = processors_in_use(node);
    return in_use > 0 && in_use < node->cpus_efctv;
}
#else
inline void count_processors_in_use() {}
inline bool may_be_planned(const node_record_t* node) {
    return !IS_NODE_ALLOCATED(node);
}
#endif

inline void count_end_of_cycle(diag_stats_t& shown) {
    ++shown.schedule_exit[SCHEDULE_EXIT_END];
    ++shown.bf_exit[BF_EXIT_END];
}

constexpr bool kReconfiguresByInit = true;

constexpr bool kCountsTasksAtUpdate = true;

constexpr bool kSaysWhyNotModified = true;

}  // namespace elastic::slurm::compat

// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm 22.05: where its internal headers are, and what is called differently in other versions.
// Another version's header offers the same functions of `compat`.
#pragma once

extern "C" {
#include "src/common/assoc_mgr.h"
#include "src/common/bitstring.h"
#include "src/common/gres.h"
#include "src/common/job_resources.h"
#include "src/common/list.h"
#include "src/common/log.h"
#include "src/common/node_conf.h"
#include "src/common/plugin.h"
#include "src/common/read_config.h"
#include "src/common/select.h"
#include "src/common/slurm_cred.h"
#include "src/common/slurm_protocol_api.h"
#include "src/common/slurm_topology.h"
#include "src/common/uid.h"
#include "src/common/xmalloc.h"
#include "src/common/xstring.h"
#include "src/slurmctld/acct_policy.h"
#include "src/slurmctld/burst_buffer.h"
#include "src/slurmctld/fed_mgr.h"
#include "src/slurmctld/front_end.h"
#include "src/slurmctld/gang.h"
#include "src/slurmctld/gres_ctld.h"
#include "src/slurmctld/job_scheduler.h"
#include "src/slurmctld/licenses.h"
#include "src/slurmctld/locks.h"
#include "src/slurmctld/node_scheduler.h"
#include "src/slurmctld/preempt.h"
#include "src/slurmctld/reservation.h"
#include "src/slurmctld/slurmctld.h"
#include "src/slurmctld/srun_comm.h"
#include "src/slurmctld/state_save.h"
}

#include "slurm/compat/until_23_11.hpp"

namespace elastic::slurm::compat {

// Allocates nodes to a pending job and starts its clock; an errno of Slurm's.
inline int allocate(job_record_t* job) {
    return select_nodes(job, false, nullptr, nullptr, false, SLURMDB_JOB_FLAG_SCHED);
}

// Whether the job could start, now or when others have ended; an errno of Slurm's. It may set the
// reason for which the job waits.
inline int test_allocation(job_record_t* job) {
    return select_nodes(job, true, nullptr, nullptr, false, SLURMDB_JOB_FLAG_SCHED);
}

// Finds room on the nodes of `where` (in and out) for `job`, now.
inline int find_room(job_record_t* job, bitstr_t* where, uint32_t nodes) {
    return select_g_job_test(job, where, nodes, nodes, nodes, SELECT_MODE_RUN_NOW, nullptr, nullptr,
                             nullptr);
}

// The bits of a set, 64 a word, the lowest first; those behind its size say nothing.
inline std::pair<const std::uint64_t*, const std::uint64_t*> words_of(bitstr_t* bits) {
    const auto* first = reinterpret_cast<const std::uint64_t*>(bits) + BITSTR_OVERHEAD;
    return {first, first + (bit_size(bits) + 63) / 64};
}

// How the job's steps and commands find those of its nodes that slurm.conf does not know or whose
// addresses come later (scontrol create, slurmd -Z, CLOUD); null if there are none.
inline const char* aliases_of(const job_record_t* job) {
    return job->alias_list;
}

// Makes that anew for the job's present nodes.
inline void rename_nodes(job_record_t* job) {
    set_job_alias_list(job);
}

// Adds all GRES of a node to what a job asks for.
inline void ask_for_whole_node(decltype(job_record_t::gres_list_req)* list, node_record_t* node,
                               uint32_t job) {
    gres_ctld_job_select_whole_node(list, node->gres_list, job, node->name);
}

// Adds the GRES of a job to an array by TRES; all of whole nodes.
inline void add_gres_to(uint64_t* tres, xlist* gres, uint32_t nodes) {
    gres_ctld_set_job_tres_cnt(gres, nodes, tres, false);
}

// Takes a job out of the counts of its limits, and into them.
inline void count_out(job_record_t* job) {
    acct_policy_job_fini(job);
}
inline void count_in(job_record_t* job) {
    acct_policy_job_begin(job);
}

// A job that was taken out of them waits again.
inline void count_as_submitted(job_record_t* job) {
    acct_policy_add_job_submit(job);
}

inline void set_state(job_record_t* job, uint32_t state) {
    job->job_state = state;
}

// Seconds for which a slurmd believes a credential.
inline int lifetime_of_credentials() {
    int seconds = 120;
    slurm_cred_ctx_get(slurmctld_config.cred_ctx, SLURM_CRED_OPT_EXPIRY_WINDOW, &seconds);
    return seconds;
}

// Why a plugin could not be loaded, by errno.
inline const char* name_of_plugin_error(int error) {
    return plugin_strerror(static_cast<plugin_err_t>(error));
}

// The nodes of a list that Slurm knows, to be freed by the caller.
inline bitstr_t* nodes_named(char* list) {
    bitstr_t* nodes = nullptr;
    node_name2bitmap(list, true, &nodes);
    return nodes;
}

// The nodes that no reservation takes from a job that starts at `when`, to be freed by the caller;
// null if it can have none. `when` may become later.
inline bitstr_t* unreserved_nodes(job_record_t* job, time_t* when) {
    bitstr_t *allowed = nullptr, *excluded_cores = nullptr;
    bool overlap = false;
    const int rc = job_test_resv(job, when, false, &allowed, &excluded_cores, &overlap, false);
    FREE_NULL_BITMAP(excluded_cores);
    if (rc != SLURM_SUCCESS) FREE_NULL_BITMAP(allowed);
    return allowed;
}

// The separator of [a|b]: one feature, and all nodes have it.
constexpr auto kMatchingOr = FEATURE_OP_XOR;

// What --extra asks of nodes (SchedulerParameters=extra_constraints); null if that is nothing.
inline const char* extra_constraints(const job_record_t*) {
    return nullptr;
}
// Takes from a set the nodes that are not so.
inline void keep_extra_constraints(const job_record_t*, bitstr_t*) {}

// Tasks beside each other on a node with --distribution=plane.
inline std::uint32_t plane_size(const job_details* details) {
    return details->plane_size;
}

// One slurmd may stand for all nodes (--enable-front-end).
inline bool has_front_ends() {
    return front_end_node_cnt > 0;
}
inline bool is_front_end_available(job_record_t* job) {
    return avail_front_end(job);
}

// What changing allocations takes.
constexpr slurmctld_lock_t kLocks = {READ_LOCK, WRITE_LOCK, WRITE_LOCK, READ_LOCK, READ_LOCK};

// What a copy of a job's record must not share with it, besides what all versions have.
inline void forget_shared(job_record_t*) {}

// The order of an allocation's nodes for steps, by the topology; null if there is none.
inline uint32_t* node_ranks(const job_resources_t&) {
    return nullptr;
}
inline void set_node_ranks(job_resources_t&, uint32_t*) {}

// The QOS of a place in the queue, by its id, where the job has named several; else 0.
inline uint32_t qos_of(const job_queue_rec_t*) {
    return 0;
}
// Lets the job have one of those that it has named, nothing with 0.
inline void use_qos(job_record_t*, uint32_t) {}

// Before the job starts: steps are made by slurmctld.
inline void keep_steps_in_controller(job_record_t*) {}

// Whether a reconfiguration begins with init(): what sched_p_reconfig() says afterwards, while
// slurm.conf is still being read, is nothing new.
constexpr bool kReconfiguresByInit = false;

// Whether the state PLANNED says anything of the node: it is not in use, or since 24.11 not wholly.
// The first of these is called before the second.
inline void count_processors_in_use() {}
inline bool may_be_planned(const node_record_t* node) {
    return !IS_NODE_ALLOCATED(node);
}

// Why a scheduling cycle has ended: it was through with the queue.
inline void count_end_of_cycle(diag_stats_t&) {}

// Whether any update of a job has Slurm count its tasks anew, from the nodes that it has asked for.
constexpr bool kCountsTasksAtUpdate = false;

// Whether job_modify() of a job_submit plugin has a place for a message to the user.
constexpr bool kSaysWhyNotModified = false;

}  // namespace elastic::slurm::compat

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
#include "src/common/read_config.h"
#include "src/common/select.h"
#include "src/common/slurm_protocol_api.h"
#include "src/common/slurm_topology.h"
#include "src/common/uid.h"
#include "src/common/xmalloc.h"
#include "src/common/xstring.h"
#include "src/slurmctld/acct_policy.h"
#include "src/slurmctld/fed_mgr.h"
#include "src/slurmctld/front_end.h"
#include "src/slurmctld/gang.h"
#include "src/slurmctld/gres_ctld.h"
#include "src/slurmctld/job_scheduler.h"
#include "src/slurmctld/licenses.h"
#include "src/slurmctld/locks.h"
#include "src/slurmctld/node_scheduler.h"
#include "src/slurmctld/reservation.h"
#include "src/slurmctld/slurmctld.h"
#include "src/slurmctld/srun_comm.h"
#include "src/slurmctld/state_save.h"
}

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

// When a reservation takes its nodes.  A floating one keeps its distance from now.
inline time_t begin_of(const slurmctld_resv_t* reservation, time_t now) {
    return reservation->flags & RESERVE_FLAG_TIME_FLOAT ? now + reservation->start_time
                                                        : reservation->start_time_first;
}

// Whether a reservation will take its nodes for maintenance or has them.  A floating one is always
// as far away.
inline bool is_maintenance(const slurmctld_resv_t* reservation, time_t now) {
    return (reservation->flags & RESERVE_FLAG_MAINT) && reservation->node_bitmap &&
           !(reservation->flags & RESERVE_FLAG_TIME_FLOAT) && reservation->end_time > now;
}

// What the request of a job says of GRES, as a list of gres_state_t that the caller frees; null if
// it says nothing.
inline xlist* validate_gres(const job_record_t* job, job_details& details) {
    xlist* list = nullptr;
    uint16_t none = NO_VAL16, sockets = NO_VAL16, tasks_per_tres = NO_VAL16;
    uint16_t tasks_per_node = NO_VAL16, cpus_per_task = NO_VAL16;
    gres_job_state_validate(job->cpus_per_tres, nullptr, nullptr, job->tres_per_node, nullptr,
                            nullptr, job->mem_per_tres, &details.num_tasks, &details.min_nodes,
                            &details.max_nodes, &tasks_per_node, &none, &sockets, &cpus_per_task,
                            &tasks_per_tres, &list);
    return list;
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

}  // namespace elastic::slurm::compat

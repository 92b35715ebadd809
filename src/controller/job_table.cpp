// SPDX-License-Identifier: MIT
// A hash table: thousands of jobs are looked up in each pass, with slurmctld's locks held.
#include "controller/job_table.hpp"

#include "common/hostlist.hpp"

namespace elastic::controller {

Job* JobTable::find(JobId id) {
    auto found = jobs_.find(id);
    return found == jobs_.end() ? nullptr : &found->second;
}

const Job* JobTable::find(JobId id) const {
    return const_cast<JobTable*>(this)->find(id);
}

Job& JobTable::get(JobId id) {
    Job& job = jobs_[id];
    job.id = id;
    return job;
}

Result<std::vector<std::string>> Job::kept_nodes() const {
    if (!nodes_in_order.empty()) return nodes_in_order;
    return expand_hostlist(node_list);
}

}  // namespace elastic::controller

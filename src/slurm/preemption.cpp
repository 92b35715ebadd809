// SPDX-License-Identifier: GPL-2.0-or-later
// The plugin finds admits_preemption() by its name (plugins/sched_elastic.cpp), so that either
// works without the other: Slurm loads it before the scheduler, and keeps it where the scheduler is
// another.
#include "slurm/preemption.hpp"

#include <string_view>

#include "common/text.hpp"
#include "slurm/records.hpp"

namespace elastic::slurm {

namespace {

Preemption otherwise = Preemption::as_hosted;
std::optional<Preemption> for_now;
controller::PreemptionGate* the_gate = nullptr;

int add_id(void* job, void* ids) {
    static_cast<std::vector<JobId>*>(ids)->push_back(static_cast<job_record_t*>(job)->job_id);
    return 0;
}

}  // namespace

PreemptionScope::PreemptionScope(Preemption how) : before_(std::exchange(for_now, how)) {}

PreemptionScope::~PreemptionScope() {
    for_now = before_;
}

void set_preemption(Preemption how, controller::PreemptionGate* gate) {
    otherwise = how;
    the_gate = gate;
}

bool admits_preemption(job_record_t* preemptor, MayPreempt may_preempt) {
    const Preemption how = for_now.value_or(otherwise);
    if (how != Preemption::gated || !the_gate) return how != Preemption::never;
    const auto now = static_cast<Time>(time(nullptr));
    if (!may_start(preemptor, time(nullptr))) return true;  // a question at its submission
    return the_gate->admits({preemptor->job_id, elements_waiting(preemptor)}, now, [&](JobId id) {
        job_record_t* victim = find_job_record(id);
        return victim && IS_JOB_RUNNING(victim) && may_preempt(victim, preemptor);
    });
}

std::vector<JobId> preemptable_by(job_record_t* job) {
    PreemptionScope scope(Preemption::as_hosted);
    std::vector<JobId> ids;
    auto* jobs = slurm_find_preemptable_jobs(job);
    if (!jobs) return ids;
    list_for_each(jobs, add_id, &ids);
    FREE_NULL_LIST(jobs);
    return ids;
}

bool is_preemption_ours() {
    return std::string_view(text(slurm_conf.preempt_type)).starts_with("preempt/elastic_");
}

}  // namespace elastic::slurm

// SPDX-License-Identifier: MIT
// A journal on a full disk misses events, and what comes later makes no sense without them: jobs
// that end were never started, nodes are given twice. So when the journal can be written again it
// is told what there is instead of what has happened. Agreements in flight are not told: a reader
// takes them up where they go on, as after a crash.
#include "controller/telling.hpp"

#include <algorithm>

namespace elastic::controller {

namespace {

journal::Submit submit_of(const Job& job, const Site& site) {
    journal::Submit submit;
    submit.job = job.id;
    submit.job_class = job.elastic ? core::class_name(job.annotation) : "rigid";
    submit.min = submit.pref = 1;
    if (job.elastic) {
        submit.min = job.annotation.min;
        submit.pref = job.annotation.pref;
        submit.max = job.annotation.max;
    }
    submit.user = site.user_name(job.owner);
    submit.name = job.name;
    return submit;
}

}  // namespace

std::vector<journal::Event> tell_anew(const JobTable& table, const Site& site,
                                      const std::string& policy, Time now) {
    std::vector<const Job*> jobs;
    for (const auto& [id, job] : table.all())
        if (job.submitted) jobs.push_back(&job);
    std::ranges::sort(jobs, {}, &Job::id);
    std::vector<journal::Event> events{
        {now, journal::Controller{journal::Controller::What::resume, site.nodes, policy}}};
    for (const journal::Supply& supply : site.supply) events.push_back({now, supply});
    for (const Job* job : jobs) events.push_back({now, submit_of(*job, site)});
    for (const Job* job : jobs)
        if (job->running)
            events.push_back({now, journal::Start{job->id, job->node_list, job->nodes, job->shared,
                                                  job->array}});
    return events;
}

}  // namespace elastic::controller

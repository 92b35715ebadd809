// SPDX-License-Identifier: GPL-2.0-or-later
// Two schedulers in one controller would undo each other's plans, so either nothing but this plugin
// may start jobs, or (Starts=slurm) it starts none but those for which others have shrunk; and what
// the resize sequences were not made for is refused here, before it can go wrong at run time.
#include "slurm/preflight.hpp"

#include <fmt/ranges.h>

#include <vector>

#include "common/log.hpp"
#include "common/text.hpp"
#include "controller/scheduler_parameters.hpp"
#include "slurm/compat/compat.hpp"
#include "slurm/preemption.hpp"

namespace elastic::slurm {

namespace {

bool has_parameter(const char* parameter) {
    return xstrcasestr(slurm_conf.sched_params, const_cast<char*>(parameter)) != nullptr;
}

bool is(const char* setting, const char* value) {
    return xstrcmp(setting, value) == 0;
}

// A setting as it stands in slurm.conf; its key alone where it is not set.
std::string setting(const char* key, const char* value) {
    if (!value || !*value) return key;
    return fmt::format("{}={}", key, printable(value, 200));
}

// What keeps Slurm's own loops from starting jobs, and what this scheduler does not do itself.
void name_what_starts_jobs(std::vector<std::string>& wrong) {
    const std::string parameters = setting("SchedulerParameters", slurm_conf.sched_params);
    if (!has_parameter("sched_interval=-1"))
        wrong.push_back(parameters +
                        " lacks sched_interval=-1: Slurm's own loop would start jobs behind the "
                        "scheduler's back; add it");
    if (!has_parameter("defer") || has_parameter("defer_batch"))
        wrong.push_back(parameters +
                        " lacks defer: jobs would start at submission, past the queue; add it");
    if (slurm_conf.preempt_mode & PREEMPT_MODE_GANG)
        wrong.push_back(
            fmt::format("PreemptMode={}: with Starts=elastic gang scheduling is not supported; "
                        "take GANG out, or "
                        "set Starts=slurm in elastic.conf",
                        preempt_mode_string(slurm_conf.preempt_mode)));
    else if (slurm_conf.preempt_mode != PREEMPT_MODE_OFF && !is_preemption_ours())
        wrong.push_back(fmt::format(
            "PreemptMode={} with {}: with Starts=elastic jobs preempt others by "
            "PreemptType=preempt/elastic_qos or preempt/elastic_partition_prio; set that, or "
            "PreemptMode=OFF, or Starts=slurm in elastic.conf",
            preempt_mode_string(slurm_conf.preempt_mode),
            setting("PreemptType", slurm_conf.preempt_type)));
}

std::vector<std::string> wrong_settings(core::Starts starts) {
    std::vector<std::string> wrong;
    if (starts == core::Starts::elastic) name_what_starts_jobs(wrong);
    if (!is(slurm_conf.select_type, "select/linear") &&
        !is(slurm_conf.select_type, "select/cons_tres"))
        wrong.push_back(setting("SelectType", slurm_conf.select_type) +
                        " is not supported: use select/linear or select/cons_tres");
    if (!xstrcasestr(slurm_conf.job_submit_plugins, const_cast<char*>("elastic")))
        wrong.push_back(setting("JobSubmitPlugins", slurm_conf.job_submit_plugins) +
                        " lacks elastic: no job could be annotated; add it");
    return wrong;
}

std::vector<std::string> wrong_parameters(core::Starts starts) {
    if (starts != core::Starts::elastic) return {};
    return controller::parse_scheduler_parameters(text(slurm_conf.sched_params)).errors;
}

void name_ignored_parameters(std::vector<std::string>& doubtful) {
    const auto ignored = controller::ignored_parameters(text(slurm_conf.sched_params));
    if (!ignored.pointless.empty())
        doubtful.push_back(fmt::format(
            "SchedulerParameters has {}, without effect: what they set does not exist with "
            "Starts=elastic; take them out, or set Starts=slurm in elastic.conf",
            fmt::join(ignored.pointless, ", ")));
    if (!ignored.unsupported.empty())
        doubtful.push_back(fmt::format(
            "SchedulerParameters has {}, which Starts=elastic does not support: take them out, or "
            "set Starts=slurm in elastic.conf",
            fmt::join(ignored.unsupported, ", ")));
}

std::vector<std::string> doubtful_settings(core::Starts starts) {
    std::vector<std::string> doubtful;
    if (starts == core::Starts::elastic) name_ignored_parameters(doubtful);
    if (starts == core::Starts::slurm && slurm_conf.preempt_mode != PREEMPT_MODE_OFF &&
        !is_preemption_ours())
        doubtful.push_back(
            fmt::format("{}: malleable jobs are preempted without being asked to shrink first; "
                        "PreemptType=preempt/elastic_qos and preempt/elastic_partition_prio ask",
                        setting("PreemptType", slurm_conf.preempt_type)));
    if (starts == core::Starts::slurm && has_parameter("sched_interval=-1"))
        doubtful.push_back(setting("SchedulerParameters", slurm_conf.sched_params) +
                           " has sched_interval=-1: with Starts=slurm only backfill starts jobs; "
                           "take it out");
    if (slurm_conf.min_job_age > 0 && slurm_conf.min_job_age < 5)
        doubtful.push_back(fmt::format(
            "MinJobAge={} is below 5 s: the journal may miss how a job ended; set MinJobAge=300",
            slurm_conf.min_job_age));
    return doubtful;
}

}  // namespace

std::size_t Preflight::check(core::Starts starts) {
    const auto wrong = wrong_settings(starts);
    for (const std::string& line : wrong) log_error("slurm.conf: {}", line);
    for (const std::string& line : wrong_parameters(starts))
        if (doubtful_.begins(line)) log_error("slurm.conf: {}", line);
    for (const std::string& line : doubtful_settings(starts))
        if (doubtful_.begins(line)) log_info("slurm.conf: {}", line);
    doubtful_.end_look();
    return wrong.size();
}

}  // namespace elastic::slurm

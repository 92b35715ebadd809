// SPDX-License-Identifier: GPL-2.0-or-later
// The annotation reaches slurmctld in one of two ways: as the variable that the
// SPANK plugin's option sets in the job's SPANK environment, or, where that
// plugin is not installed, in the job's comment.  From here on there is one
// form only, the JSON in admin_comment, which users cannot change.
#include "slurm/submission.hpp"

#include <cstring>
#include <string_view>

#include "core/model/annotation.hpp"
#include "protocol/endpoint.hpp"
#include "slurm/site_config.hpp"
#include "slurm/spank_variable.hpp"

namespace elastic::slurm {

namespace {

using core::Annotation;

constexpr uint32_t kNothing = NO_VAL;

std::string_view text(const char* value) {
    return value ? value : "";
}

// The value of NAME=value in a list of such.
std::string_view variable(char** list, uint32_t size, std::string_view name) {
    for (uint32_t i = 0; list && i < size; ++i) {
        std::string_view entry = text(list[i]);
        if (entry.starts_with(name) && entry.substr(name.size()).starts_with("="))
            return entry.substr(name.size() + 1);
    }
    return {};
}

// Neither way used: empty.
Result<std::string> annotation_text(const job_desc_msg_t* job) {
    std::string_view option = variable(job->spank_job_env, job->spank_job_env_size, kSpankVariable);
    std::string_view comment = text(job->comment);
    if (!comment.starts_with(core::kCommentPrefix)) return std::string(option);
    comment.remove_prefix(core::kCommentPrefix.size());
    if (!option.empty() && option != comment)
        return elastic::error("elastic: --elastic and --comment contradict each other");
    return std::string(comment);
}

core::RequestedNodes requested_nodes(const job_desc_msg_t* job) {
    core::RequestedNodes nodes;
    if (job->min_nodes != kNothing) nodes.min = static_cast<int>(job->min_nodes);
    if (job->max_nodes != kNothing && job->max_nodes != 0)
        nodes.max = static_cast<int>(job->max_nodes);
    // salloc and srun say "1" where the user said nothing.
    if (nodes.min <= 1 && nodes.max == 0) nodes.min = 0;
    return nodes;
}

bool asks_for_gres(const job_desc_msg_t* job) {
    for (const char* tres :
         {job->tres_per_job, job->tres_per_node, job->tres_per_socket, job->tres_per_task})
        if (!text(tres).empty()) return true;
    return false;
}

Result<void> check_request(const job_desc_msg_t* job, const Annotation& annotation) {
    if (job->shared != NO_VAL16 && job->shared != 0)
        return elastic::error(
            "elastic: the job must have its nodes whole; leave out "
            "--oversubscribe and --exclusive=user|mcs");
    if (asks_for_gres(job) && annotation.max > annotation.min)
        return elastic::error(
            "elastic: GRES are not possible for a job that may grow (max={}): "
            "Slurm cannot merge such allocations",
            annotation.max);
    if (job->contiguous && job->contiguous != NO_VAL16)
        return elastic::error("elastic: --contiguous is not possible for a job that changes size");
    if (text(job->dependency).find("expand") != std::string_view::npos)
        return elastic::error("elastic: --dependency=expand cannot be combined with --elastic");
    if (!text(job->admin_comment).empty())
        return elastic::error(
            "elastic: the job's admin comment is used for the annotation; leave "
            "it out");
    return {};
}

// The largest size any of the partitions allows to a job.
Result<void> check_partitions(const char* names, const Annotation& annotation) {
    std::string list(text(names));
    if (list.empty() && default_part_loc) list = default_part_loc->name;
    std::size_t begin = 0;
    while (begin <= list.size()) {
        std::size_t end = std::min(list.find(',', begin), list.size());
        std::string name = list.substr(begin, end - begin);
        begin = end + 1;
        const part_record_t* partition = find_part_record(name.data());
        if (!partition) continue;  // Slurm itself says so, better
        uint32_t limit = std::min(partition->total_nodes, partition->max_nodes);
        auto fits = core::check_against_partition(annotation, static_cast<int>(limit), name);
        if (!fits) return fits.error();
    }
    return {};
}

void set_text(char*& field, const std::string& value) {
    xfree(field);
    field = xstrdup(value.c_str());
}

// What submissions need of the configuration files.
struct Site {
    std::string endpoint;  // where the controller listens; "" if that is not known
    Duration max_grace = core::Config{}.max_grace_time;
};

// The files are read again only when Slurm has read its own:
// submissions come with slurmctld's locks held.  Slurm's mark has a resolution of one
// second, so what was read within that second may be older.
Site site() {
    static std::mutex mutex;
    static time_t read_at = 0;
    static Site known;
    std::lock_guard guard(mutex);
    if (read_at > slurm_conf.last_update) return known;
    read_at = time(nullptr);
    auto endpoint = protocol::endpoint_from_files(std::string(text(slurm_conf.slurm_conf)));
    known.endpoint = endpoint ? protocol::to_string(*endpoint) : "";
    if (auto config = read_site_config()) known.max_grace = config->max_grace_time;
    return known;
}

// Tells the batch script's processes where the controller listens.
void add_endpoint(job_desc_msg_t* job, const std::string& endpoint) {
    if (!job->environment || endpoint.empty()) return;
    std::string entry = "ELASTIC_CONTROLLER=" + endpoint;
    xrealloc(job->environment, sizeof(char*) * (job->env_size + 2));
    job->environment[job->env_size++] = xstrdup(entry.c_str());
    job->environment[job->env_size] = nullptr;
}

Result<void> refuse(const char* what, const job_record_t* job) {
    return elastic::error("{} of job {} is not possible: it has an elastic annotation", what,
                          job->job_id);
}

// A new preferred size of a pending job.
Result<void> change_size(job_desc_msg_t* change, const Annotation& annotation,
                         const job_record_t* job) {
    if (!IS_JOB_PENDING(job))
        return elastic::error("job {} is running: use selastic shrink or selastic expand",
                              job->job_id);
    int nodes = static_cast<int>(change->min_nodes);
    if (!annotation.allows(nodes))
        return elastic::error("job {}: {} nodes are not possible ({})", job->job_id, nodes,
                              core::size_names(annotation));
    change->max_nodes = change->min_nodes;  // the record's size counts, not the annotation's pref
    return {};
}

}  // namespace

Result<void> annotate(job_desc_msg_t* job) {
    auto given = annotation_text(job);
    if (!given) return given.error();
    if (given->empty()) return {};

    auto annotation = core::parse_annotation(*given, requested_nodes(job));
    if (!annotation) return annotation.error();
    const Site here = site();
    if (auto ok = core::check_grace(*annotation, here.max_grace); !ok) return ok;
    if (auto ok = check_request(job, *annotation); !ok) return ok;
    if (auto ok = check_partitions(job->partition, *annotation); !ok) return ok;

    auto size = static_cast<uint32_t>(annotation->pref);
    job->shared = 0;
    job->min_nodes = job->max_nodes = size;
    if (job->num_tasks == kNothing || job->num_tasks < size) job->num_tasks = size;
    if (job->min_cpus == kNothing || job->min_cpus < size) job->min_cpus = size;
    set_text(job->admin_comment, core::to_json(*annotation).dump());
    add_endpoint(job, here.endpoint);
    return {};
}

Result<void> check_change(job_desc_msg_t* change, job_record_t* job) {
    auto annotation = core::annotation_from_text(text(job->admin_comment));
    bool comment = text(change->comment).starts_with(core::kCommentPrefix);
    if (!annotation) {
        if (comment)
            return elastic::error("job {} was submitted without an annotation; submit it anew",
                                  job->job_id);
        return {};
    }
    if (change->admin_comment) {
        if (auto given = core::annotation_from_text(change->admin_comment); !given)
            return elastic::error("the admin comment of job {} holds its elastic annotation: {}",
                                  job->job_id, given.error().message);
    }
    if (comment) return refuse("changing the annotation", job);
    if (change->shared != NO_VAL16 && change->shared != 0) return refuse("sharing nodes", job);
    if (asks_for_gres(change)) return refuse("adding GRES", job);
    if (change->req_nodes && !IS_JOB_PENDING(job))
        return elastic::error("job {} is running: use selastic shrink or selastic evacuate",
                              job->job_id);
    if (change->partition)
        if (auto ok = check_partitions(change->partition, *annotation); !ok) return ok;
    if (change->min_nodes != kNothing) return change_size(change, *annotation, job);
    return {};
}

}  // namespace elastic::slurm

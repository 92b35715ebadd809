// SPDX-License-Identifier: GPL-2.0-or-later
// The annotation reaches slurmctld in one of two ways: as the variable that the SPANK plugin's
// option sets in the job's SPANK environment, or, where that plugin is not installed, in the job's
// comment.  From here on there is one form only, the JSON in admin_comment, which users cannot
// change.
#include "slurm/submission.hpp"

#include <algorithm>
#include <string_view>

#include "common/text.hpp"
#include "controller/kept_config.hpp"
#include "core/model/annotation/annotation.hpp"
#include "core/model/annotation/remarks.hpp"
#include "protocol/endpoint.hpp"
#include "slurm/nodes.hpp"
#include "slurm/site_config.hpp"
#include "slurm/spank_variable.hpp"

namespace elastic::slurm {

namespace {

using core::Annotation;

constexpr uint32_t kNothing = NO_VAL;

// The value of NAME=value in a list of such.
std::string_view variable(char** list, uint32_t size, std::string_view name) {
    for (uint32_t i = 0; list && i < size; ++i) {
        std::string_view variable = text(list[i]);
        if (variable.starts_with(name) && variable.substr(name.size()).starts_with("="))
            return variable.substr(name.size() + 1);
    }
    return {};
}

// Empty for a job that is not elastic: neither way is used, or it is said that it is not.
Result<std::string> annotation_text(const job_desc_msg_t* job) {
    const auto option = variable(job->spank_job_env, job->spank_job_env_size, kSpankVariable);
    if (option == core::kRigid) return std::string();
    const auto comment = core::annotation_in_comment(text(job->comment));
    if (!option.empty() && comment && option != *comment)
        return elastic::error("elastic: --elastic and --comment contradict each other");
    const std::string_view given = option.empty() ? comment.value_or("") : option;
    return std::string(given == core::kRigid ? "" : given);
}

// Calls function(partition) for each that the request names, or for the default one; names that do
// not exist are passed over, since Slurm itself says so, better.
template <class Function>
void for_each_partition(const char* names, Function&& function) {
    std::string_view list = text(names);
    if (list.empty() && default_part_loc) list = default_part_loc->name;
    for (const std::string_view name : split(list, ','))
        if (part_record_t* partition = find_part_record(std::string(name).data()))
            function(partition);
}

// The tasks that each node of the request's partitions has room for; 0 if that is not known.
std::uint32_t tasks_per_node(const job_desc_msg_t* job) {
    if (job->ntasks_per_node != NO_VAL16 && job->ntasks_per_node > 0) return job->ntasks_per_node;
    std::uint32_t processors = 0;
    for_each_partition(job->partition, [&](const part_record_t* partition) {
        const std::uint32_t least = processors_of_smallest(NodeSet(partition->node_bitmap));
        if (least > 0) processors = processors ? std::min(processors, least) : least;
    });
    const bool wide = job->cpus_per_task != NO_VAL16 && job->cpus_per_task > 1;
    return wide ? processors / job->cpus_per_task : processors;
}

// A number of nodes; kMaxNodes + 1, which is refused later, stands for all that is larger.
int node_count(std::uint64_t nodes) {
    return static_cast<int>(std::min<std::uint64_t>(nodes, kMaxNodes + 1));
}

// The nodes that -n needs; 0 if it says nothing.
int nodes_for_tasks(const job_desc_msg_t* job) {
    if (!(job->bitflags & JOB_NTASKS_SET) || job->num_tasks == kNothing) return 0;
    if (job->overcommit != NO_VAL8 && job->overcommit > 0) return 0;
    const std::uint64_t per_node = tasks_per_node(job);
    return per_node ? node_count((job->num_tasks + per_node - 1) / per_node) : 0;
}

core::RequestedNodes requested_nodes(const job_desc_msg_t* job) {
    core::RequestedNodes nodes;
    if (job->min_nodes != kNothing) nodes.min = node_count(job->min_nodes);
    if (job->max_nodes != kNothing) nodes.max = node_count(job->max_nodes);
    // salloc and srun say "1" where the user said nothing.
    if (nodes.min <= 1 && nodes.max == 0) nodes.min = 0;
    nodes.needed = nodes_for_tasks(job);
    nodes.needed_by = "-n";
    return nodes;
}

bool gives_no_gres_of_whole_nodes() {
    return text(slurm_conf.select_type) == "select/linear";
}

// Whether a request by the node names devices in shares (gres:mps:100 among others).
bool names_shares(std::string_view tres) {
    for (std::string_view one : split(tres, ',')) {
        if (one.starts_with("gres:") || one.starts_with("gres/")) one.remove_prefix(5);
        const std::string_view name = one.substr(0, one.find(':'));
        if (name == "mps" || name == "shard") return true;
    }
    return false;
}

// Whether a request by the task has more than processors, as which --cpus-per-task comes since
// Slurm 23.11.
bool names_devices(std::string_view tres) {
    return std::ranges::any_of(split(tres, ','), [](std::string_view one) {
        return !one.empty() && !one.starts_with("cpu:") && !one.starts_with("cpu=");
    });
}

// What a job has of GRES must follow from its nodes alone, since these change.
Result<void> check_gres(const job_desc_msg_t* job) {
    const auto refuse_option = [](const char* options) {
        return elastic::error(
            "elastic: {} cannot be had by a job that changes its nodes; ask by the node, with "
            "--gres or --gpus-per-node",
            options);
    };
    if (!text(job->tres_per_job).empty()) return refuse_option("GRES in all (--gpus)");
    if (!text(job->tres_per_socket).empty()) return refuse_option("GRES by the socket");
    if (names_devices(text(job->tres_per_task))) return refuse_option("GRES by the task");
    if (names_shares(text(job->tres_per_node)))
        return elastic::error(
            "elastic: a job that has its nodes whole gets no shares of devices (mps, shard); ask "
            "for the devices");
    if (!text(job->tres_per_node).empty() && gives_no_gres_of_whole_nodes())
        return elastic::error(
            "elastic: with select/linear Slurm gives a job that has its nodes whole no GRES; leave "
            "them out, or have select/cons_tres");
    return {};
}

// Numbers of nodes with a feature (fast*2) are those of a job that keeps its size.
Result<void> check_features(const job_desc_msg_t* job) {
    const auto check = [](const char* option, const char* features) -> Result<void> {
        if (text(features).find('*') == std::string_view::npos) return {};
        return elastic::error(
            "elastic: {}={} counts nodes, which a job that changes its nodes cannot keep to; name "
            "the features without \"*\"",
            option, features);
    };
    if (auto ok = check("--constraint", job->features); !ok) return ok;
    return check("--prefer", job->prefer);
}

// What does not go with a size that changes.
Result<void> check_resizable(const job_desc_msg_t* job) {
    if (auto ok = check_gres(job); !ok) return ok;
    if (compat::segment_size(job) > 0)
        return elastic::error(
            "elastic: --segment wants nodes in groups, which a job that changes its nodes cannot "
            "keep; leave it out");
    return check_features(job);
}

bool is_contiguous(const job_desc_msg_t* job) {
    return job->contiguous != NO_VAL16 && job->contiguous != 0;
}

bool expands_another(const job_desc_msg_t* job) {
    return text(job->dependency).find("expand") != std::string_view::npos;
}

Result<void> check_request(const job_desc_msg_t* job, const Annotation& annotation) {
    if (job->shared != NO_VAL16 && job->shared != 0)
        return elastic::error(
            "elastic: the job must have its nodes whole; leave out "
            "--oversubscribe and --exclusive=user|mcs|topo");
    if (annotation.max > annotation.min)
        if (auto ok = check_resizable(job); !ok) return ok;
    if (!annotation.packet.empty() && !job->script)
        return elastic::error("elastic: packet is for batch jobs: submit it by sbatch");
    if (is_contiguous(job))
        return elastic::error("elastic: --contiguous is not possible for a job that changes size");
    if (expands_another(job))
        return elastic::error("elastic: --dependency=expand cannot be combined with --elastic");
    return {};
}

bool waives_partition_size(const slurmdb_qos_rec_t* qos) {
    return qos && (qos->flags & QOS_FLAG_PART_MAX_NODE);
}

// Of the QOS that is asked for, or else of the one that the user has.
bool waives_partition_size(const job_desc_msg_t* job) {
    assoc_mgr_lock_t locks{};
    locks.assoc = locks.qos = READ_LOCK;
    assoc_mgr_lock(&locks);
    slurmdb_qos_rec_t wanted{}, *qos = nullptr;
    wanted.name = job->qos;
    if (!wanted.name) {
        slurmdb_assoc_rec_t user, *association = nullptr;
        slurmdb_init_assoc_rec(&user, false);
        user.acct = job->account;
        user.uid = job->user_id;
        assoc_mgr_fill_in_assoc(acct_db_conn, &user, accounting_enforce, &association, true);
        if (association) wanted.id = association->def_qos_id;
    }
    assoc_mgr_fill_in_qos(acct_db_conn, &wanted, accounting_enforce, &qos, true);
    const bool waives = waives_partition_size(qos);
    assoc_mgr_unlock(&locks);
    return waives;
}

// The largest size any of the partitions allows to a job, whose QOS may waive that.
Result<void> check_partitions(const char* names, const Annotation& annotation, bool waives) {
    Result<void> checked;
    for_each_partition(names, [&](const part_record_t* partition) {
        uint32_t limit = partition->total_nodes;
        if (!waives && !waives_partition_size(partition->qos_ptr))
            limit = std::min(limit, partition->max_nodes);
        if (checked)
            checked =
                core::check_against_partition(annotation, static_cast<int>(limit), partition->name);
    });
    return checked;
}

// The time limit that a job without one has in a partition.
uint32_t default_limit(const part_record_t* partition) {
    return partition->default_time == NO_VAL ? partition->max_time : partition->default_time;
}

Result<void> check_time_limit(const Annotation& annotation, uint32_t minutes,
                              const std::string& of = "") {
    if (minutes == INFINITE || minutes == NO_VAL) return {};
    return core::check_time_limit(annotation, minutes * 60.0, of);
}

// The limit that is asked for, or that the job would have in any of the partitions.
Result<void> check_time_limits(uint32_t minutes, const char* names, const Annotation& annotation) {
    if (minutes != kNothing) return check_time_limit(annotation, minutes);
    Result<void> checked;
    for_each_partition(names, [&](const part_record_t* partition) {
        if (checked)
            checked = check_time_limit(annotation, default_limit(partition),
                                       fmt::format("partition {}", partition->name));
    });
    return checked;
}

void set_text(char*& field, const std::string& value) {
    xfree(field);
    field = xstrdup(value.c_str());
}

// What submissions need of the configuration files.
struct Site {
    std::string endpoint;  // where the controller listens; "" if that is not known
    core::Config config;
};

// The files are read again only when Slurm has read its own: submissions come with slurmctld's
// locks held.  Slurm's mark has a resolution of one second, so what was read within that second may
// be older.
Site site() {
    static std::mutex mutex;
    static time_t read_at = 0;
    static Site site;
    std::lock_guard guard(mutex);
    if (read_at > slurm_conf.last_update) return site;
    read_at = time(nullptr);
    auto endpoint = protocol::endpoint_from_files(std::string(text(slurm_conf.slurm_conf)));
    site.endpoint = endpoint ? protocol::to_string(*endpoint) : "";
    auto config = core::read_config(site_config_path());
    if (!config) config = controller::KeptConfig::kept(slurm_conf.state_save_location);
    if (config) site.config = *config;
    return site;
}

void add_variable(job_desc_msg_t* job, std::string_view name, const std::string& value) {
    const std::string variable = fmt::format("{}={}", name, value);
    xrealloc(job->environment, sizeof(char*) * (job->env_size + 2));
    job->environment[job->env_size++] = xstrdup(variable.c_str());
    job->environment[job->env_size] = nullptr;  // Slurm frees it up to there
}

// The environment of a job that is submitted within another has the other's.
void remove_variable(job_desc_msg_t* job, std::string_view name) {
    const auto is_it = [name](const char* variable) {
        const std::string_view given = text(variable);
        return given.starts_with(name) && given.substr(name.size()).starts_with("=");
    };
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < job->env_size; ++i) {
        if (is_it(job->environment[i]))
            xfree(job->environment[i]);
        else
            job->environment[kept++] = job->environment[i];
    }
    if (kept == job->env_size) return;
    job->environment[kept] = nullptr;
    job->env_size = kept;
}

// --ntasks-per-node, if it says how many tasks there are: sbatch and salloc, which know no size but
// that of -N, then send as many as that has, or none.
std::uint32_t given_tasks_per_node(const job_desc_msg_t* job) {
    if (job->ntasks_per_node == NO_VAL16) return 0;
    const std::uint32_t nodes = job->min_nodes == kNothing ? 1 : job->min_nodes;
    const bool says_all =
        job->num_tasks == kNothing || job->num_tasks == nodes * job->ntasks_per_node;
    return says_all ? job->ntasks_per_node : 0;
}

// The tasks of a job of so many nodes: one on each at least.
void set_tasks(job_desc_msg_t* job, std::uint32_t nodes) {
    if (const std::uint32_t each = given_tasks_per_node(job); each > 0) {
        job->num_tasks = each * nodes;
        // With what sbatch has counted; the job gets its own.
        for (const std::string_view name : {"SLURM_NTASKS", "SLURM_NPROCS"})
            remove_variable(job, name);
    } else if (job->num_tasks == kNothing || job->num_tasks < nodes) {
        job->num_tasks = nodes;
    }
    if (job->min_cpus == kNothing || job->min_cpus < nodes) job->min_cpus = nodes;
}

// Tells the batch script's processes where the controller listens.
void add_endpoint(job_desc_msg_t* job, const std::string& endpoint) {
    if (job->environment && !endpoint.empty()) add_variable(job, "ELASTIC_CONTROLLER", endpoint);
}

// Tells spank_elastic on the job's nodes for what these are to be initialised.
void add_initialisation(job_desc_msg_t* job, const Annotation& annotation) {
    if (annotation.packet.empty()) return;
    add_variable(job, kTypeVariable, annotation.packet);
    add_variable(job, kProgramVariable, annotation.init.program);
}

template <class... Args>
Result<void> refuse(const job_record_t* job, fmt::format_string<Args...> format, Args&&... args) {
    return elastic::error("job {}: {}", job->job_id,
                          fmt::format(format, std::forward<Args>(args)...));
}

// A job of one task a node, or as many as --ntasks-per-node says, stays such a job: its tasks must
// not keep it from fewer nodes.
void follow_size(job_desc_msg_t* change, const job_details* details) {
    const std::uint32_t nodes = change->min_nodes, before = details->min_nodes;
    const std::uint32_t tasks = std::max<std::uint32_t>(details->ntasks_per_node, 1);
    const std::uint32_t processors = tasks * std::max<std::uint32_t>(details->cpus_per_task, 1);
    if (change->num_tasks == kNothing && details->num_tasks == before * tasks)
        change->num_tasks = nodes * tasks;
    if (change->min_cpus == kNothing && details->min_cpus == before * processors)
        change->min_cpus = nodes * processors;
}

// Slurm takes it for a change of a job that has begun, which it refuses, if the job has other tasks
// than the nodes that it asked for would have, as one has that runs on more or fewer.
void expect_count_of_tasks(const job_desc_msg_t* change, job_details* details) {
    const std::uint32_t each =
        details->ntasks_per_node ? details->ntasks_per_node : details->ntasks_per_tres;
    if (each > 0 && each != NO_VAL16 && change->num_tasks == kNothing)
        details->num_tasks = details->min_nodes * each;
}

// A new preferred size of a pending job.
Result<void> change_size(job_desc_msg_t* change, const Annotation& annotation,
                         const job_record_t* job) {
    if (!IS_JOB_PENDING(job))
        return refuse(job, "it is running: use selastic shrink or selastic expand");
    const bool is_range = change->max_nodes != kNothing && change->max_nodes != change->min_nodes;
    if (change->min_nodes == kNothing || is_range)
        return refuse(job,
                      "NumNodes can only be one number; its range is that of its annotation ({})",
                      core::size_names(annotation));
    const int nodes = node_count(change->min_nodes);
    if (!annotation.profile.empty() && nodes != annotation.pref)
        return refuse(job, "it starts with the {} nodes with which its profile begins",
                      annotation.pref);
    if (!annotation.allows(nodes))
        return refuse(job, "{} nodes are not possible ({})", nodes, core::size_names(annotation));
    change->max_nodes = change->min_nodes;  // the record's size counts, not the annotation's pref
    follow_size(change, job->details);
    return {};
}

// What an administrator writes into the admin comment of an elastic job: an annotation takes the
// place of the one before, any other text stands beside it.
Result<void> keep_annotation(job_desc_msg_t* change, const job_record_t* job) {
    if (core::annotation_from_text(change->admin_comment)) return {};
    const auto kept =
        core::with_site_comment(text(job->admin_comment), text(change->admin_comment));
    if (!kept)
        return refuse(job, "its admin comment holds its elastic annotation: {}",
                      kept.error().message);
    set_text(change->admin_comment, *kept);
    return {};
}

// Whatever could not have been asked for with an annotation at submission.
Result<void> check_constraints(const job_desc_msg_t* change, const Annotation& annotation,
                               const job_record_t* job) {
    if (core::annotation_in_comment(text(change->comment)))
        return refuse(job, "its annotation cannot be changed by its comment");
    if (change->shared != NO_VAL16 && change->shared != 0)
        return refuse(job, "an elastic job has its nodes whole");
    if (annotation.max > annotation.min)
        if (auto ok = check_resizable(change); !ok) return refuse(job, "{}", ok.error().message);
    if (is_contiguous(change)) return refuse(job, "an elastic job cannot be contiguous");
    if (expands_another(change))
        return refuse(job, "an elastic job cannot expand another (Dependency=expand)");
    if (change->req_nodes && !IS_JOB_PENDING(job))
        return refuse(job, "it is running: use selastic shrink or selastic evacuate");
    return {};
}

// Of a heterogeneous job.  Another cluster of a federation, and scrontab, which know none of these,
// submit any job as if it were component 0 of one.
bool is_component(const job_desc_msg_t* job) {
    return job->het_job_offset != kNothing && !job->fed_siblings_viable && !job->crontab_entry;
}

}  // namespace

Result<void> annotate(job_desc_msg_t* job) {
    for (const std::string_view name : {kTypeVariable, kProgramVariable})
        remove_variable(job, name);
    auto given = annotation_text(job);
    if (!given) return given.error();
    if (given->empty()) return {};

    if (is_component(job))
        return elastic::error(
            "component {} of a heterogeneous job cannot be elastic: leave out its annotation, or "
            "the "
            "':' between components",
            job->het_job_offset);
    auto annotation = core::parse_annotation(*given, requested_nodes(job));
    if (!annotation) return annotation.error();
    const Site here = site();
    if (auto ok = core::check_grace(*annotation, here.config.max_grace_time); !ok) return ok;
    core::set_link_bandwidth(*annotation, here.config.link_bandwidth);
    if (auto ok = check_request(job, *annotation); !ok) return ok;
    if (auto ok = check_partitions(job->partition, *annotation, waives_partition_size(job)); !ok)
        return ok;
    if (auto ok = check_time_limits(job->time_limit, job->partition, *annotation); !ok) return ok;

    const auto kept =
        core::with_site_comment(core::to_json(*annotation).dump(), text(job->admin_comment));
    if (!kept) return kept.error();

    auto size = static_cast<uint32_t>(annotation->pref);
    job->shared = 0;
    set_tasks(job, size);
    job->min_nodes = job->max_nodes = size;
    set_text(job->admin_comment, *kept);
    add_endpoint(job, here.endpoint);
    add_initialisation(job, *annotation);
    return {};
}

std::string remark(const job_desc_msg_t* job) {
    const std::string_view comment = text(job->comment);
    if (!comment.starts_with(core::kCommentPrefix) || core::annotation_in_comment(comment))
        return "";
    return "elastic: the comment names no class behind \"elastic:\" (malleable, evolving, rigid): "
           "it is only a comment";
}

Result<void> check_change(job_desc_msg_t* change, job_record_t* job) {
    auto annotation = core::annotation_from_text(text(job->admin_comment));
    if (!annotation) {
        const bool annotates = core::annotation_in_comment(text(change->comment)) ||
                               core::annotation_from_text(text(change->admin_comment));
        return annotates ? refuse(job, "it was submitted without an annotation; submit it anew")
                         : Result<void>();
    }
    if (change->admin_comment)
        if (auto ok = keep_annotation(change, job); !ok) return ok;
    if (auto ok = check_constraints(change, *annotation, job); !ok) return ok;
    if (change->partition)
        if (auto ok = check_partitions(change->partition, *annotation,
                                       waives_partition_size(job->qos_ptr));
            !ok)
            return ok;
    if (change->time_limit != kNothing && IS_JOB_PENDING(job))
        if (auto ok = check_time_limit(*annotation, change->time_limit); !ok)
            return refuse(job, "{}", ok.error().message);
    if (compat::kCountsTasksAtUpdate && (IS_JOB_RUNNING(job) || IS_JOB_SUSPENDED(job)))
        expect_count_of_tasks(change, job->details);
    if (change->min_nodes == INFINITE) return {};  // scontrol asks for the present size
    if (change->min_nodes != kNothing || change->max_nodes != kNothing)
        return change_size(change, *annotation, job);
    return {};
}

}  // namespace elastic::slurm

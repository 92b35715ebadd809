// SPDX-License-Identifier: GPL-2.0-or-later
// spank_elastic.so: the option --elastic of sbatch, salloc and srun.
//
// It only carries the text to job_submit/elastic, which understands it: errors are found in one
// place and shown at submission, whichever command was used.
//
// sbatch and salloc leave their options in the environment of the job, where the next sbatch would
// find them and Slurm would take them as given.  A job is elastic if its own submission says so:
// inside a job what the environment says is forgotten before options are read.
//
// On the nodes it initialises for the type of a job ([packet]) before the first task there runs: as
// root it finds out whether the node is initialised already, as the job's user it runs the program.
// An error ends the task with a line in its output, whether plugstack.conf calls this plugin
// required or not.  Its arguments there: records=FOLDER (default /run/slurm-elastic), and front_end
// where one slurmd stands for all nodes.
//
// When a job has ended, or has given up a node, what killed processes with libelastic-mpi have left
// there in shared memory is removed.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

extern "C" {
#include <slurm/slurm.h>
#include <slurm/spank.h>
}

#include "common/hostlist.hpp"
#include "node/initialisation.hpp"
#include "runtime/store.hpp"
#include "slurm/spank_variable.hpp"

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT const char plugin_name[] = "elastic";
EXPORT const char plugin_type[] = "spank";
EXPORT const unsigned int plugin_version = SLURM_VERSION_NUMBER;
EXPORT const unsigned int spank_plugin_version = 1;

namespace {

std::string annotation;
int components = 0;  // of the job; more than one if it is heterogeneous

// Whether this program sends what plugins add to a request.  scrontab does not, and Slurm crashes
// there when a plugin tries.
bool can_hand_on() {
    return dlsym(RTLD_DEFAULT, "spank_set_job_env") != nullptr;
}

bool is_inside_job() {
    return getenv("SLURM_JOB_ID") != nullptr;
}

// Slurm's name for the option --elastic of the plugin "elastic" in the environment.
constexpr char kOptionVariable[] = "_SLURM_SPANK_OPTION_elastic_elastic";

void forget(spank_t spank, const char* variable) {
    unsetenv((std::string("SLURM_SPANK_") + variable).c_str());
    spank_job_control_unsetenv(spank, variable);
}

void forget_inherited(spank_t spank) {
    forget(spank, elastic::slurm::kSpankVariable);
    if (!is_inside_job()) return;
    forget(spank, kOptionVariable);
    unsetenv(kOptionVariable);
}

// Slurm refuses them where the hosted sched/builtin starts jobs, but does not say why.  True as
// well if slurmctld does not answer.  What it answers is kept: newer Slurms offer nothing to free
// it.
bool takes_heterogeneous_jobs() {
    slurm_conf_t* conf = nullptr;
    if (slurm_load_ctl_conf(0, &conf) != SLURM_SUCCESS || !conf) return true;
    return conf->schedtype && std::string_view(conf->schedtype) == "sched/backfill";
}

int take_option(int, const char* argument, int is_remote) {
    if (is_remote) return 0;  // the job has begun
    if (!can_hand_on()) {
        slurm_error(
            "elastic: --elastic does not reach the controller from here; use "
            "--comment=elastic:...");
        return -1;
    }
    annotation = argument ? argument : "";
    return annotation.empty() ? -1 : 0;
}

char option_name[] = "elastic";
char option_argument[] = "CLASS[,KEY=VALUE...]";
char option_help[] =
    "let the job change size: malleable, evolving or both, with min=, pref=, max= nodes and more; "
    "rigid: not; see elastic(7)";

spank_option option = {option_name, option_argument, option_help, 1, 0, take_option};

// ---- on a node

// What of this is for the task that begins: from the hook that root runs to the one of its user.
struct Preparation {
    elastic::node::Owner owner;
    std::vector<elastic::node::Record> records;
    std::string error;
};
Preparation preparation;

struct Arguments {
    std::string folder = "/run/slurm-elastic";
    bool front_end = false;
};

Arguments read_arguments(int count, char** texts) {
    Arguments arguments;
    for (int i = 0; i < count; ++i) {
        const std::string_view text = texts[i];
        if (text.starts_with("records="))
            arguments.folder = text.substr(8);
        else if (text == "front_end")
            arguments.front_end = true;
        else
            slurm_error("elastic: plugstack.conf: unknown argument '%s'", texts[i]);
    }
    return arguments;
}

std::string variable(spank_t spank, const char* name) {
    std::string text(65536, '\0');
    if (spank_getenv(spank, name, text.data(), static_cast<int>(text.size())) != ESPANK_SUCCESS)
        return "";
    return text.c_str();
}

// The nodes that this process is to prepare: its own, or all of the step in place of their slurmds.
// In the order of their names, so that two that lock several do not wait for each other.
elastic::Result<std::vector<std::string>> nodes_of(spank_t spank, bool front_end) {
    const char* own = getenv("SLURMD_NODENAME");  // of slurmstepd: the task has it later
    if (!front_end) return std::vector<std::string>{own ? own : ""};
    uint32_t step = 0;
    const bool is_step =
        spank_get_item(spank, S_JOB_STEPID, &step) == ESPANK_SUCCESS && step != SLURM_BATCH_SCRIPT;
    const char* list = is_step ? "SLURM_STEP_NODELIST" : "SLURM_JOB_NODELIST";
    auto names = elastic::expand_hostlist(variable(spank, list));
    if (!names) return names.error();
    return elastic::expand_hostlist(elastic::compress_hostlist(*names));
}

elastic::Result<void> prepare(const std::string& folder, const std::string& node) {
    if (preparation.owner.type.empty())
        return elastic::node::forget(folder, node, preparation.owner.job);
    auto record = elastic::node::Record::take(folder, node, preparation.owner);
    if (!record) return record.error();
    preparation.records.push_back(std::move(*record));
    return {};
}

elastic::Result<void> prepare_nodes(spank_t spank, const Arguments& arguments) {
    auto nodes = nodes_of(spank, arguments.front_end);
    if (!nodes) return nodes.error();
    for (const std::string& node : *nodes)
        if (auto done = prepare(arguments.folder, node); !done) return done;
    return {};
}

[[noreturn]] void end_task(const std::string& reason, int status) {
    dprintf(STDERR_FILENO, "elastic: %s\n", reason.c_str());
    _exit(status);
}

void initialise(elastic::node::Record& record, const char* const* environment) {
    if (record.is_initialised()) return;
    const std::string& program = preparation.owner.program;
    const int status = elastic::node::run_program(program, record.node(), environment);
    if (status != 0)
        end_task(fmt::format("{} did not initialise {} for jobs of type {}: exit status {}",
                             program, record.node(), preparation.owner.type, status),
                 status);
    // Not fatal: the next job initialises once more.
    if (auto done = record.set_initialised(); !done)
        dprintf(STDERR_FILENO, "elastic: %s\n", done.error().message.c_str());
}

}  // namespace

// slurmstepd is told the options of a step and complains of one that it does not know.
EXPORT int slurm_spank_init(spank_t spank, int, char**) {
    switch (spank_context()) {
        case S_CTX_LOCAL:
        case S_CTX_ALLOCATOR:
            if (can_hand_on()) forget_inherited(spank);
            return spank_option_register(spank, &option);
        case S_CTX_REMOTE:
            return spank_option_register(spank, &option);
        default:
            return 0;
    }
}

EXPORT int slurm_spank_init_post_opt(spank_t spank, int, char**) {
    const spank_context_t context = spank_context();
    if (context == S_CTX_REMOTE) return 0;
    if (context == S_CTX_LOCAL && is_inside_job()) {
        if (!annotation.empty())
            slurm_info(
                "elastic: a step cannot change what its job is: --elastic has no effect here");
        return 0;
    }
    if (++components == 2 && !takes_heterogeneous_jobs()) {
        slurm_error(
            "elastic: heterogeneous jobs cannot be scheduled on this cluster, elastic or "
            "not: leave out the ':' between components");
        return -1;
    }
    if (annotation.empty()) return 0;
    return spank_job_control_setenv(spank, elastic::slurm::kSpankVariable, annotation.c_str(), 1);
}

EXPORT int slurm_spank_task_init_privileged(spank_t spank, int count, char** arguments) try {
    preparation = {};
    elastic::node::Owner& owner = preparation.owner;
    spank_get_item(spank, S_JOB_UID, &owner.user);
    spank_get_item(spank, S_JOB_ID, &owner.job);
    owner.type = variable(spank, elastic::slurm::kTypeVariable);
    owner.program = variable(spank, elastic::slurm::kProgramVariable);
    if (owner.program.empty()) owner.type.clear();
    if (auto done = prepare_nodes(spank, read_arguments(count, arguments)); !done) {
        slurm_error("elastic: %s", done.error().message.c_str());
        preparation.error = done.error().message;
    }
    return 0;
} catch (const std::exception& exception) {
    preparation.error = exception.what();
    return 0;
}

EXPORT int slurm_spank_task_init(spank_t spank, int, char**) try {
    if (preparation.owner.type.empty()) return 0;
    if (!preparation.error.empty())
        end_task("cannot initialise the node: " + preparation.error, EXIT_FAILURE);
    char** environment = nullptr;
    spank_get_item(spank, S_JOB_ENV, &environment);
    for (elastic::node::Record& record : preparation.records) initialise(record, environment);
    preparation.records.clear();
    return 0;
} catch (const std::exception& exception) {
    end_task(exception.what(), EXIT_FAILURE);
}

// As root, on each node that a job leaves, when its last process there has ended.
EXPORT int slurm_spank_job_epilog(spank_t spank, int, char**) try {
    uint32_t job = 0;
    uid_t user = 0;
    if (spank_get_item(spank, S_JOB_ID, &job) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_JOB_UID, &user) != ESPANK_SUCCESS)
        return 0;
    for (const char* place : {"/dev/shm", "/tmp"})
        elastic::runtime::remove_leftovers(place, job, user);
    return 0;
} catch (const std::exception& exception) {
    slurm_error("elastic: %s", exception.what());
    return 0;
}

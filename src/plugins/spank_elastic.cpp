// SPDX-License-Identifier: GPL-2.0-or-later
// spank_elastic.so: the option --elastic of sbatch, salloc and srun.
//
// It only carries the text to job_submit/elastic, which understands it: errors are found in one
// place and shown at submission, whichever command was used.
//
// sbatch and salloc leave their options in the environment of the job, where the next sbatch would
// find them and Slurm would take them as given.  A job is elastic if its own submission says so:
// inside a job what the environment says is forgotten before options are read.
#include <dlfcn.h>

#include <cstdlib>
#include <string>

extern "C" {
#include <slurm/spank.h>
}

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
    if (++components > 1) {
        // Slurm refuses it where this scheduler is configured, but does not say why.
        slurm_error(
            "elastic: heterogeneous jobs cannot be scheduled on this cluster, elastic or "
            "not: leave out the ':' between components");
        return -1;
    }
    if (annotation.empty()) return 0;
    return spank_job_control_setenv(spank, elastic::slurm::kSpankVariable, annotation.c_str(), 1);
}

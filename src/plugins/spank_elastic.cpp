// SPDX-License-Identifier: GPL-2.0-or-later
// spank_elastic.so: the option --elastic of sbatch, salloc and srun.
//
// It only carries the text to job_submit/elastic, which understands it: errors
// are found in one place and shown at submission, whichever command was used.
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

int take_option(int, const char* argument, int) {
    annotation = argument ? argument : "";
    return annotation.empty() ? -1 : 0;
}

char option_name[] = "elastic";
char option_argument[] = "CLASS[,KEY=VALUE...]";
char option_help[] =
    "let the job change size: malleable, evolving or both, with min=, pref=, max= nodes and more; "
    "see elastic(7)";

spank_option option = {option_name, option_argument, option_help, 1, 0, take_option};

}  // namespace

EXPORT int slurm_spank_init(spank_t spank, int, char**) {
    switch (spank_context()) {
        case S_CTX_LOCAL:
        case S_CTX_ALLOCATOR:
            return spank_option_register(spank, &option);
        default:
            return 0;
    }
}

EXPORT int slurm_spank_init_post_opt(spank_t spank, int, char**) {
    if (spank_context() == S_CTX_LOCAL && getenv("SLURM_JOB_ID")) return 0;  // a step of a job
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

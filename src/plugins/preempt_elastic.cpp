// SPDX-License-Identifier: GPL-2.0-or-later
// preempt/elastic_qos and preempt/elastic_partition_prio: Slurm's own plugin of the rest of that
// name (HOSTED), which says who may preempt whom and how; when is for sched/elastic to say, if that
// is the scheduler.
//
// Slurm reads "qos" or "partition" in the name to know what it goes by.  What it looks up besides
// depends on its version: what the hosted plugin does not have is never asked.
#include <dlfcn.h>

#include <string>
#include <string_view>

#include "common/text.hpp"
#include "slurm/preemption.hpp"

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT const char plugin_name[] = "Preemption by " HOSTED
                                  " that asks malleable jobs to shrink first, built for "
                                  "Slurm " SLURM_VERSION_STRING;
EXPORT const char plugin_type[] = "preempt/elastic_" HOSTED;
EXPORT const uint32_t plugin_version = SLURM_VERSION_NUMBER;

namespace {

constexpr char kHosted[] = "preempt/" HOSTED;

using elastic::slurm::MayPreempt;
using Admits = bool (*)(job_record_t* preemptor, MayPreempt);

plugin_handle_t hosted = PLUGIN_INVALID_HANDLE;
bool (*comes_before)(job_queue_rec_t* preemptor, job_queue_rec_t* preemptee) = nullptr;
MayPreempt may_preempt = nullptr;

// Of the hosted plugin; null if it has none of that name.
template <class Function>
Function* find(const char* name) {
    return reinterpret_cast<Function*>(plugin_get_sym(hosted, name));
}

// Of sched/elastic; null as long as that is not loaded.
Admits find_admits() {
    for (const std::string_view folder : elastic::split(slurm_conf.plugindir, ':')) {
        const std::string path = std::string(folder) + "/sched_elastic.so";
        void* plugin = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
        if (!plugin) continue;
        void* admits = dlsym(plugin, "elastic_admits_preemption");
        dlclose(plugin);  // it is loaded all the same
        return reinterpret_cast<Admits>(admits);
    }
    return nullptr;
}

template <class... Args>
int refuse(const char* format, Args... args) {
    log_var(LOG_LEVEL_ERROR, format, args...);
    return SLURM_ERROR;
}

}  // namespace

EXPORT int init(void) {
    if (hosted != PLUGIN_INVALID_HANDLE) return SLURM_SUCCESS;
    constexpr int kModes = PREEMPT_MODE_SUSPEND | PREEMPT_MODE_REQUEUE | PREEMPT_MODE_CANCEL;
    if (!(slurm_conf.preempt_mode & kModes))
        return refuse("elastic: slurm.conf: PreemptType=%s needs a PreemptMode other than OFF",
                      plugin_type);
    const char* names[] = {"preempt_p_job_preempt_check", "preempt_p_preemptable"};
    void* functions[] = {nullptr, nullptr};
    hosted = plugin_load_and_link(kHosted, 2, names, functions);
    if (hosted == PLUGIN_INVALID_HANDLE)
        return refuse("elastic: PreemptType=%s: %s is not in PluginDir=%s", plugin_type, kHosted,
                      slurm_conf.plugindir);
    comes_before = reinterpret_cast<decltype(comes_before)>(functions[0]);
    may_preempt = reinterpret_cast<MayPreempt>(functions[1]);
    return SLURM_SUCCESS;
}

EXPORT int fini(void) {
    if (hosted != PLUGIN_INVALID_HANDLE)
        plugin_unload(std::exchange(hosted, PLUGIN_INVALID_HANDLE));
    return SLURM_SUCCESS;
}

EXPORT bool preempt_p_job_preempt_check(job_queue_rec_t* preemptor, job_queue_rec_t* preemptee) {
    return comes_before(preemptor, preemptee);
}

EXPORT bool preempt_p_preemptable(job_record_t* preemptee, job_record_t* preemptor) {
    if (!may_preempt(preemptee, preemptor)) return false;
    static Admits admits = nullptr;
    if (!admits) admits = find_admits();
    return !admits || admits(preemptor, may_preempt);
}

// Until 24.11; `what` is an enumeration.
EXPORT int preempt_p_get_data(job_record_t* job, int what, void* data) {
    return find<int(job_record_t*, int, void*)>("preempt_p_get_data")(job, what, data);
}

// Since 25.05.
EXPORT uint32_t preempt_p_get_grace_time(job_record_t* job) {
    return find<uint32_t(job_record_t*)>("preempt_p_get_grace_time")(job);
}

EXPORT uint16_t preempt_p_get_mode(job_record_t* job) {
    return find<uint16_t(job_record_t*)>("preempt_p_get_mode")(job);
}

EXPORT uint32_t preempt_p_get_prio(job_record_t* job) {
    return find<uint32_t(job_record_t*)>("preempt_p_get_prio")(job);
}

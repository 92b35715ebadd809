// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm's own loader finds the plugin, checks its version and calls its init(), so it runs as if
// slurm.conf had named it.
//
// Slurm asks for the name of its scheduler to know what users may have: heterogeneous jobs with
// sched/backfill, and with sched/builtin the order of the queue in all cases.  So it finds the name
// of the hosted one or, where this plugin starts jobs, of the one that can do the same, which
// `scontrol show config` shows, too.
//
// Always holds: the mutex is not held while the plugin is loaded or unloaded, which waits for
// slurmctld's locks; who reconfigures it has these.
#include "slurm/hosted_scheduler.hpp"

#include <utility>

#include "common/text.hpp"

namespace elastic::slurm {

namespace {

constexpr char kOurs[] = "sched/elastic";
constexpr char kLikeOurs[] = "sched/backfill";

}  // namespace

HostedScheduler::~HostedScheduler() {
    stop();
    if (is_named_) give_name_back();
}

// A slurmctld whose successor gives up at a reconfiguration begins its plugins anew, by the names
// that it has. Whoever reads the name just now still finds the one before.
void HostedScheduler::give_name_back() const {
    if (xstrcmp(slurm_conf.schedtype, kOurs) != 0) slurm_conf.schedtype = xstrdup(kOurs);
}

Result<void> HostedScheduler::run(const std::string& type) {
    if (type == type_) return {};
    stop();
    const char* names[] = {"sched_p_reconfig"};
    void* functions[] = {nullptr};
    plugin_ = plugin_load_and_link(type.c_str(), 1, names, functions);
    if (plugin_ == PLUGIN_INVALID_HANDLE)
        return elastic::error("{} of Slurm {} is not in PluginDir={} (Starts=slurm needs it): {}",
                              type, kBuiltForSlurm, text(slurm_conf.plugindir),
                              compat::name_of_plugin_error(errno));
    adopt(type, reinterpret_cast<int (*)()>(functions[0]));
    return {};
}

void HostedScheduler::stop() {
    if (plugin_ == PLUGIN_INVALID_HANDLE) return;
    adopt("", nullptr);
    plugin_unload(std::exchange(plugin_, PLUGIN_INVALID_HANDLE));
}

void HostedScheduler::adopt(const std::string& type, int (*reconfigure)()) {
    std::lock_guard guard(mutex_);
    reconfigure_ = reconfigure;
    type_ = type;
}

void HostedScheduler::name_to_slurm() {
    std::lock_guard guard(mutex_);
    is_named_ = true;
    name();
}

void HostedScheduler::name() const {
    const char* name = type_.empty() ? kLikeOurs : type_.c_str();
    if (xstrcmp(slurm_conf.schedtype, name) == 0) return;
    xfree(slurm_conf.schedtype);
    slurm_conf.schedtype = xstrdup(name);
}

void HostedScheduler::reconfigure() {
    std::lock_guard guard(mutex_);
    if (is_named_) name();
    if (reconfigure_) reconfigure_();
}

}  // namespace elastic::slurm

// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm's own loader finds the plugin, checks its version and calls its init(), so it runs as if
// slurm.conf had named it.
#include "slurm/hosted_scheduler.hpp"

#include "common/text.hpp"

namespace elastic::slurm {

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
    reconfigure_ = reinterpret_cast<int (*)()>(functions[0]);
    type_ = type;
    return {};
}

void HostedScheduler::stop() {
    if (plugin_ != PLUGIN_INVALID_HANDLE) plugin_unload(plugin_);
    plugin_ = PLUGIN_INVALID_HANDLE;
    reconfigure_ = nullptr;
    type_.clear();
}

void HostedScheduler::reconfigure() {
    if (reconfigure_) reconfigure_();
}

}  // namespace elastic::slurm

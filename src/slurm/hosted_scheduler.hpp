// SPDX-License-Identifier: GPL-2.0-or-later
// One of Slurm's own scheduler plugins inside this one (elastic.conf: Starts=slurm).
#pragma once

#include <optional>
#include <string>

#include "common/result.hpp"
#include "slurm/compat/compat.hpp"

namespace elastic::slurm {

class HostedScheduler {
  public:
    HostedScheduler() = default;
    ~HostedScheduler() { stop(); }
    HostedScheduler(const HostedScheduler&) = delete;
    HostedScheduler& operator=(const HostedScheduler&) = delete;

    // Loads that plugin ("sched/backfill") from PluginDir and begins it, unless it runs already;
    // another that ran is ended.  All of these wait for the plugin's thread, which takes locks of
    // slurmctld: none may be held.
    Result<void> run(const std::string& type);
    void stop();

    // Slurm has read slurm.conf anew.
    void reconfigure();

  private:
    std::string type_;
    plugin_handle_t plugin_ = PLUGIN_INVALID_HANDLE;
    int (*reconfigure_)() = nullptr;
};

}  // namespace elastic::slurm

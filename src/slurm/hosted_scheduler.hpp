// SPDX-License-Identifier: GPL-2.0-or-later
// One of Slurm's own scheduler plugins inside this one (elastic.conf: Starts=slurm).
#pragma once

#include <mutex>
#include <string>

#include "common/result.hpp"
#include "slurm/compat/compat.hpp"

namespace elastic::slurm {

class HostedScheduler {
  public:
    HostedScheduler() = default;
    ~HostedScheduler();
    HostedScheduler(const HostedScheduler&) = delete;
    HostedScheduler& operator=(const HostedScheduler&) = delete;

    // Loads that plugin ("sched/backfill") from PluginDir and begins it, unless it runs already;
    // another that ran is ended.  All of these wait for the plugin's thread, which takes locks of
    // slurmctld: none may be held.
    Result<void> run(const std::string& type);
    void stop();

    // For any thread, while slurm.conf is locked for writing.  Slurm finds the plugin's name as
    // that of its scheduler, or that of sched/backfill if none runs.  Once Slurm has begun: as it
    // does, the name must be that of slurm.conf.
    void name_to_slurm();
    // Slurm is reading slurm.conf anew, of which the plugin hears, and the name stays what it was.
    void reconfigure();

  private:
    void adopt(const std::string& type, int (*reconfigure)());
    void name() const;
    void give_name_back() const;

    plugin_handle_t plugin_ = PLUGIN_INVALID_HANDLE;
    std::mutex mutex_;
    std::string type_;                // "": none runs
    int (*reconfigure_)() = nullptr;  // the plugin's
    bool is_named_ = false;
};

}  // namespace elastic::slurm

// SPDX-License-Identifier: GPL-2.0-or-later
// What the parts of the controller's thread share.  Only that thread touches it.
#pragma once

#include <algorithm>

#include "common/log.hpp"
#include "controller/agreement.hpp"
#include "controller/times.hpp"
#include "core/model/config.hpp"
#include "core/pass/recording.hpp"
#include "journal/journal.hpp"
#include "slurm/job_table.hpp"
#include "slurm/lock.hpp"
#include "slurm/outbox.hpp"
#include "slurm/read/view.hpp"

namespace elastic::slurm {

using controller::ConnectionId;
using controller::Incoming;

struct Context {
    core::Config config;
    // StateSaveLocation as of the start: a change of it needs a restart, and Slurm frees its texts
    // and makes them anew whenever it reads slurm.conf.
    std::string state_directory;
    JobTable jobs;
    core::AgreementBook book;
    Queue queue;               // as it was read last
    View view;                 // as of the last pass, or newer
    core::PlanInputs planned;  // in the last pass; its seed is 0 before the first
    core::Plan plan;           // made of that
    Refusals refusals;         // since the queue was read
    Outbox outbox;
    QuietLog quiet;          // for what users can cause at will
    journal::Batch telling;  // what the journal is about to be told, saved before
    LockStatistics locks;
    controller::Times passes;  // whole passes, locked or not
    controller::Times saves;   // of Slurm's job state before a resize is told
    controller::Times states;  // of our own state file

    Duration grace_of(const JobEntry& job) const {
        if (job.annotation.grace < 0) return config.grace_time;
        return std::min(job.annotation.grace, config.max_grace_time);
    }
};

}  // namespace elastic::slurm

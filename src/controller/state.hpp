// SPDX-License-Identifier: MIT
// What the controller knows besides Slurm's records. One thread uses it: the one that plans and
// acts.
#pragma once

#include "controller/agreement.hpp"
#include "controller/counters.hpp"
#include "controller/group_book.hpp"
#include "controller/job_table.hpp"
#include "controller/observations.hpp"
#include "core/model/experience.hpp"
#include "journal/journal.hpp"

namespace elastic::controller {

struct State {
    // Kept by the state file:
    JobTable jobs;
    AgreementBook book;
    GroupBook groups;
    core::Experience experience;  // of jobs that have ended
    journal::Batch telling;       // what the journal is about to be told
    // And not:
    Observations observations;
    Counters counters;
};

}  // namespace elastic::controller

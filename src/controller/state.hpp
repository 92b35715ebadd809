// SPDX-License-Identifier: MIT
// What the controller knows besides Slurm's records, all of which the state file keeps. One thread
// uses it: the one that plans and acts.
#pragma once

#include "controller/agreement.hpp"
#include "controller/group_book.hpp"
#include "controller/job_table.hpp"
#include "journal/journal.hpp"

namespace elastic::controller {

struct State {
    JobTable jobs;
    AgreementBook book;
    GroupBook groups;
    journal::Batch telling;  // what the journal is about to be told
};

}  // namespace elastic::controller

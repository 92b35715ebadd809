// SPDX-License-Identifier: GPL-2.0-or-later
// What Slurm's answers hang on, as numbers to compare (controller/refusal_book.hpp): what a job
// asks for and for whom, and what nodes, partitions and reservations there are.  Need
// ControllerLock.
#pragma once

#include "controller/refusal_book.hpp"
#include "slurm/nodes.hpp"
#include "slurm/read/queue.hpp"

namespace elastic::slurm {

// As the job's record is set (Trying).
controller::RequestId request_of(const job_record_t*);
// Of a job tried in the way of its place; 0 if one of them is gone.
controller::RequestId request_of(const Queue&, const Queue::Place&);

controller::Account account_of(const Queue::Place&, const job_record_t*);

// Whether the job at that place, with so many nodes, is left out of plans for the rest of the pass.
bool is_left_out(const controller::PassRefusals&, const Queue::Place&, const job_record_t*,
                 int nodes);

std::uint64_t configuration_now();

controller::NodeMask mask_of(const NodeSet&);

}  // namespace elastic::slurm

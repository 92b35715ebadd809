// SPDX-License-Identifier: MIT
// A simulation as tables, each in one piece of text.
//
// Whole numbers have no decimals; others as few digits as it takes to read them back.
#pragma once

#include <string>

#include "simulator/engine.hpp"
#include "simulator/workload.hpp"

namespace elastic::simulator {

// job_id,class,submit,start,end,nodes_start,nodes_end,wait,turnaround,slowdown,resizes for each job
// run, in the order of the log; seconds from the log's zero.
std::string jobs_csv(const Workload&, const Outcome&);

// job_id,from,to,nodes,kind (run or redistribute), by job in the order of the log, then by time.
std::string segments_csv(const Workload&, const Outcome&);

}  // namespace elastic::simulator

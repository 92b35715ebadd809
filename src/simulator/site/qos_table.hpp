// SPDX-License-Identifier: MIT
// QOS with their priorities and limits, as Slurm's accounting prints them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/result.hpp"

namespace elastic::simulator {

// The command that prints what is read here, for messages and manuals.
inline constexpr std::string_view kQosCommand =
    "sacctmgr --parsable2 show qos "
    "format=Name,Priority,GrpTRES,GrpJobs,MaxTRESPU,MaxJobsPU,MaxTRESPA,MaxJobsPA";

// What all jobs, or those of each user or account, may have at a time; 0: as much as they like.
struct Cap {
    enum class Of { all, user, account };
    Of of = Of::all;
    double nodes = 0, processors = 0, gpus = 0, memory = 0;  // memory in MiB
    int jobs = 0;

    bool is_set() const {
        return nodes > 0 || processors > 0 || gpus > 0 || memory > 0 || jobs > 0;
    }
};

struct Qos {
    std::string name;
    double priority = 0;
    std::vector<Cap> caps;
};

// The first line names the columns, in any order; others than those of kQosCommand are passed over.
// An error is "NAME:LINE: COLUMN: what is wrong".
Result<std::vector<Qos>> parse_qos(std::string_view text, std::string_view name);

}  // namespace elastic::simulator

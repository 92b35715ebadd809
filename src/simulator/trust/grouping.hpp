// SPDX-License-Identifier: MIT
// The jobs of a workload by what the log says in one field.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "simulator/logs/job_type.hpp"
#include "simulator/workload.hpp"

namespace elastic::simulator {

struct Grouping {
    TypeField field = TypeField::user;
    std::vector<int> types;          // by job of the workload: a place in `names`; -1: not known
    std::vector<std::string> names;  // for people
};

// Of a log that could be read, one for each field that it names.
std::vector<Grouping> group_jobs(std::string_view text, std::string_view name, bool lenient,
                                 const Workload&);

}  // namespace elastic::simulator

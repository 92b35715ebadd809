// SPDX-License-Identifier: MIT
// Who wins and who loses by a preset: jobs by class, size and user.
#pragma once

#include <string_view>
#include <vector>

#include "studies/advice/trials.hpp"

namespace elastic::studies {

struct Groups {
    // By name, by size, and by how many jobs a user has.
    std::vector<Group> by_class, by_size, by_user;
};

// Under the middle condition, as means over the seeds.
Groups compare_groups(const Trials&, const Site&, std::string_view policy);

}  // namespace elastic::studies

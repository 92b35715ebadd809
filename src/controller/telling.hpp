// SPDX-License-Identifier: MIT
// What the journal is told when it has missed something.
#pragma once

#include <string>
#include <vector>

#include "controller/job_table.hpp"
#include "controller/site.hpp"
#include "journal/event.hpp"

namespace elastic::controller {

// All that the table knows, as events of `now` behind a Controller that resumes: every job that is
// known, and where those that run do so. They take the place of the events that led there.
std::vector<journal::Event> tell_anew(const JobTable&, const Site&, const std::string& policy,
                                      Time now);

}  // namespace elastic::controller

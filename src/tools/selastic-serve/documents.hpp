// SPDX-License-Identifier: MIT
// What /api/ gives, made of the controller's replies.
#pragma once

#include <map>
#include <string>

#include "common/json.hpp"
#include "selastic-serve/journal_ring.hpp"

namespace elastic::tools {

inline constexpr int kApiVersion = 1;  // another one where a field goes or changes its meaning

// Of a `jobs` reply, at a time for replies that do not say theirs.  What is counted from the
// controller's clock is a time in it, so that nothing changes where nothing has happened.
Json jobs_document(const Json& reply, double now);
// Of a `nodes` reply, null where there is none, and the document of the jobs.
Json nodes_document(const Json& reply, const Json& jobs);
std::string journal_document(const JournalRing::Part&);

}  // namespace elastic::tools

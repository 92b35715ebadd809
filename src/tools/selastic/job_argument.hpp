// SPDX-License-Identifier: MIT
// A job as users name it.
#pragma once

#include <string>
#include <string_view>

#include "common/result.hpp"
#include "protocol/message.hpp"

namespace elastic::tools {

struct JobArgument {
    JobId number = 0;                       // of the job, or of the array; 0: none is named
    std::int64_t task = protocol::kNoTask;  // the element of the array

    std::string text() const;  // "12", "12_3"
};

// Understands "12" and "12_3".
Result<JobArgument> parse_job(std::string_view);

}  // namespace elastic::tools

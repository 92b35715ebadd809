// SPDX-License-Identifier: MIT
// That one selastic-run at a time resizes a job: two would take nodes from under each other.
#pragma once

#include <utility>

#include "common/fd.hpp"
#include "common/result.hpp"

namespace elastic::tools {

class LoneRun {
  public:
    // An error if another process of this user resizes the job; waits for another process that does
    // not know yet whether it will resize the job.
    static Result<LoneRun> begin();
    // From here until it is destroyed there can be no other.
    void resizes() const;

  private:
    explicit LoneRun(Fd socket) : socket_(std::move(socket)) {}
    Fd socket_;
};

}  // namespace elastic::tools

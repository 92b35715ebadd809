// SPDX-License-Identifier: MIT
// When and where each pending job would start if nobody was resized: what users are told, and
// nothing else follows from it.
//
// A plan says it of few jobs (EASY reserves for the first ones), and looks at a job only if it
// could start.  A forecast reserves for each job in the order of the queue, as conservative
// backfilling does, so it costs much more and is made less often, step by step: whoever makes it
// may stop at any step, and what was found until then holds.
//
// Pure, as plans are: no clock decides what it says of a job, only whether it comes to that.
#pragma once

#include <memory>
#include <vector>

#include "core/model/expected_start.hpp"
#include "core/model/policy.hpp"
#include "core/model/snapshot.hpp"

namespace elastic::core {

class Forecast {
  public:
    Forecast();
    ~Forecast();

    // The snapshot has passed validate(), and must outlive the forecast.
    void begin(const Snapshot&, const Policy&);
    // Looks at the next job.  False if there is none.
    bool step();
    // In the order of the queue; of jobs whose nodes never come free none.  Of copies the first one
    // that starts.
    const std::vector<ExpectedStart>& starts() const;

  private:
    struct Scratch;
    std::unique_ptr<Scratch> scratch_;
};

}  // namespace elastic::core

// SPDX-License-Identifier: MIT
// What plans would do, and do not, with Observe=yes: the journal is told of each when it begins and
// when it is over, and whoever asks what is so now.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "controller/outbox.hpp"
#include "journal/event.hpp"

namespace elastic::controller {

class Observations {
  public:
    using What = journal::Would::What;

    // A look at a plan begins and ends; what is not said between is over.
    void begin_look() { ++look_; }
    void would(What, JobId, int count, JobId beneficiary, Time now, Outbox&);
    void end_look(Time now, Outbox&);
    // All of it is over.
    void end(Time now, Outbox& outbox) {
        begin_look();
        end_look(now, outbox);
    }

    // "would grow by 3 nodes", "" if nothing is to be said of the job.
    std::string of(JobId) const;

  private:
    struct Observation {
        journal::Would would;
        Time since = 0;
        unsigned look = 0;
    };

    static void tell_end(const Observation&, Time now, Outbox&);

    std::map<std::pair<JobId, What>, Observation> all_;
    unsigned look_ = 0;
};

}  // namespace elastic::controller

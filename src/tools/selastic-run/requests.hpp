// SPDX-License-Identifier: MIT
// What a program asks of its job while it runs: more nodes, or fewer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/result.hpp"
#include "libelastic/elastic.h"
#include "selastic-run/job_event.hpp"

namespace elastic::tools {

class Requests {
  public:
    explicit Requests(elastic_handle* job) : job_(job) {}

    // Asks the controller, for as long as it takes, content with the least; an error says why that
    // is of no use.
    Result<void> ask_for(int nodes, int least);
    Result<void> ask_for(int nodes) { return ask_for(nodes, nodes); }
    bool under_way() const { return op_.has_value(); }
    // The nodes that the job would be without if it had so many fewer; an error if it may not.
    Result<std::string> leaving(int nodes) const;
    // 0: it does not want more any longer.
    void withdraw();

    // It waits for the end of a resize, which is the answer if that is for another reason.
    void put_off(int change) { put_off_ = change; }
    std::optional<int> take_put_off();
    // A resize begins: with it what was asked for has come, or is not wanted any more.
    void overtaken_by(std::int64_t op);

    void queued(const JobEvent& event);
    // Whether it is over without effect.
    bool ended(const JobEvent& event);

  private:
    elastic_handle* job_;
    std::optional<std::int64_t> op_;  // of what is asked for; 0: not known yet
    std::optional<int> put_off_;
};

}  // namespace elastic::tools

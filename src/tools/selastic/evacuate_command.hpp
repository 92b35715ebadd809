// SPDX-License-Identifier: MIT
// selastic evacuate.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/json.hpp"
#include "common/time.hpp"

namespace elastic::tools {

struct EvacuateOptions {
    std::string nodes;     // a node list
    Duration timeout = 0;  // seconds
    bool json = false;     // at the end, the last answer; no progress
};

// Repeats the controller's evacuation until the nodes are empty, nobody who is left will leave, or
// the time is over. Interrupting it undoes nothing: the nodes stay drained.
int evacuate(const EvacuateOptions&);

// Progress of an evacuation as lines for people, from one answer of the controller to the next.
class EvacuationProgress {
  public:
    // What is new in this answer; whatever it lacks is passed over.
    std::vector<std::string> lines(const Json& answer);

  private:
    std::map<std::string, std::string> told_;  // by the job's label
};

}  // namespace elastic::tools

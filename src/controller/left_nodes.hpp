// SPDX-License-Identifier: MIT
// The nodes that a job has left lately. The slurmd of such a node refuses the job's steps for a
// while, so the job takes other nodes first.
//
// Times are whole seconds, as those that a slurmd compares.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace elastic::controller {

class LeftNodes {
  public:
    // What was left three seconds before nobody asks for any more.
    static constexpr std::int64_t kKept = 3;

    void add(std::string node_list, std::int64_t second);
    // The lists of what was left in that second or later.
    std::vector<std::string> since(std::int64_t second) const;
    bool empty() const { return departures_.empty(); }

    struct Departure {
        std::string node_list;
        std::int64_t second = 0;
    };

    // The state file's.
    template <class F>
    friend void fields(F&, LeftNodes&);

  private:
    std::vector<Departure> departures_;  // of each list the last
};

}  // namespace elastic::controller

// SPDX-License-Identifier: MIT
// Node lists of the job that a handle is of, and nodes that it gives back.
#pragma once

#include <string>
#include <vector>

#include "common/time.hpp"
#include "libelastic/elastic.h"

namespace elastic::tools {

// The names of a list, none if it is malformed.
std::vector<std::string> host_names(const std::string& list);

std::string common_hosts(const std::string& one, const std::string& other);

// Gives those of the nodes back that the job still has; a refusal is a note.
void release_nodes(elastic_handle* job, const std::string& nodes);

// Nodes on which nothing of ours runs any more, until the job is without them.
class GivenBack {
  public:
    explicit GivenBack(elastic_handle* job) : job_(job) {}

    const std::string& nodes() const { return nodes_; }  // that the job still has
    void give(const std::string& nodes);
    void leave(const std::string& nodes);     // they go by an agreement
    void gone();                              // the job has lost nodes
    void refused(const std::string& reason);  // by the controller, or the agreement is over
    // After a refusal: what was in the way may be over then.
    Time again_at() const { return again_at_; }
    void try_again();  // if it is time

  private:
    elastic_handle* job_;
    std::string nodes_;
    Time again_at_ = kNever;
    bool was_refused_ = false;
};

}  // namespace elastic::tools

// SPDX-License-Identifier: MIT
// The workers of a program by their nodes: a step each.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "common/time.hpp"
#include "selastic-run/job_step.hpp"
#include "selastic-run/options.hpp"

namespace elastic::tools {

class Workers {
  public:
    static constexpr Duration kLook = 0.1;  // for steps that have been started

    explicit Workers(const RunOptions& options) : options_(options) {}

    using Nodes = std::vector<std::string>;
    // Where there is none yet.
    void start(const Nodes& nodes);
    // Those there have a step by now, or have ended.
    bool all_seen(const Nodes& nodes);
    bool any_on(const Nodes& nodes) const;
    bool empty() const { return workers_.empty(); }

    // Their ends do not count for the status.
    void expect_ends(const Nodes& nodes);
    // Sends them a signal, as soon as they have a step, and expects their ends.
    void signal(const Nodes& nodes, const std::string& name);
    // What signal() has left; when to be called again.
    Time send_signals();
    // A signal that we have got.
    void pass_on(int number) const;

    void ended(pid_t process, int status);
    // The highest of those that have ended unexpectedly.
    int status() const { return status_; }

  private:
    struct Worker {
        JobStep step;
        bool leaves = false;
        std::string signal = {};  // that it has still to be sent; "": none
    };

    const RunOptions& options_;
    std::map<std::string, Worker> workers_;
    int status_ = 0;
};

}  // namespace elastic::tools

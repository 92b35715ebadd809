// SPDX-License-Identifier: MIT
// What nodes cost and how many may be used: which terms are in force as time goes on and their
// source says others, and what the journal is told of that.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "controller/outbox.hpp"
#include "controller/site.hpp"
#include "controller/standing.hpp"
#include "controller/supply_source.hpp"

namespace elastic::controller {

class SupplyTracker {
  public:
    // `wake` is called by another thread whenever follow() may find something new.
    SupplyTracker(Outbox& outbox, Site& site, std::function<void()> wake)
        : outbox_(outbox), site_(site), source_(std::move(wake)) {}

    // As of SupplySource.
    void configure(const core::Config& config) { source_.configure(config); }
    void stop() { source_.stop(); }
    bool is_ready() const { return source_.is_ready(); }

    // Whether there are news: of the source, or since a time has come that it has said before.
    bool follow(Time now);
    const std::vector<core::Terms>& terms() const { return clock_.terms(); }
    Time next() const { return clock_.next(); }  // kNever if nothing is said of later times

    // What is in force, with the nodes as they are known now, and what of the terms cannot be.
    // Journal and log are told what has changed since the last call.
    void announce(std::vector<journal::Supply> in_force, std::vector<std::string> errors, Time now);

  private:
    void name(std::vector<std::string> errors);

    Outbox& outbox_;
    Site& site_;
    SupplySource source_;
    core::SupplyClock clock_;  // of what was read last
    Standing<std::string> errors_;
};

}  // namespace elastic::controller

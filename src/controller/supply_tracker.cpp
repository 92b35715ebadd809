// SPDX-License-Identifier: MIT
// Terms name partitions and lists of nodes, which only Slurm's records resolve.  So what is in
// force comes back from who has resolved them, with the nodes by name, and is announced then.
//
// Always holds: the site's `supply` is what the journal was told last.
#include "controller/supply_tracker.hpp"

#include <algorithm>
#include <utility>

#include "common/log.hpp"

namespace elastic::controller {

bool SupplyTracker::follow(Time now) {
    site_.supply_complaint = source_.complaint();
    auto news = source_.take();
    const bool is_news = news.has_value();
    if (is_news) clock_ = core::SupplyClock(*std::move(news));
    return clock_.advance(now) || is_news;
}

void SupplyTracker::name(std::vector<std::string> errors) {
    for (const std::string& error : errors)
        if (errors_.begins(error)) log_error("supply: {}", error);
    errors_.end_look();
    site_.supply_errors = std::move(errors);
}

void SupplyTracker::announce(std::vector<journal::Supply> in_force, std::vector<std::string> errors,
                             Time now) {
    name(std::move(errors));
    for (journal::Supply& before : site_.supply)
        if (std::ranges::find(in_force, before.name, &journal::Supply::name) == in_force.end())
            outbox_.note(now, journal::Supply{before.name, before.nodes});
    for (const journal::Supply& supply : in_force) {
        if (std::ranges::find(site_.supply, supply) != site_.supply.end()) continue;
        outbox_.note(now, supply);
        log_info("supply: {}", journal::describe({now, supply}));
    }
    site_.supply = std::move(in_force);
}

}  // namespace elastic::controller

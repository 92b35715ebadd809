// SPDX-License-Identifier: MIT
// Changes in the order of time, summed once, so that a moment is a search.
#include "simulator/site/logged_use.hpp"

#include <algorithm>
#include <utility>

namespace elastic::simulator {

void LoggedUse::add(Time from, Time to, double nodes) {
    changes_.push_back({from, {nodes, 1}});
    changes_.push_back({to, {-nodes, -1}});
}

void LoggedUse::finish() {
    // Ends first: a job that starts where another ends has its nodes.
    std::ranges::sort(changes_, {}, [](const Change& c) { return std::pair(c.at, c.use.jobs); });
    Use use;
    for (Change& change : changes_) {
        use.nodes += change.use.nodes;
        use.jobs += change.use.jobs;
        change.use = use;
        peak_.nodes = std::max(peak_.nodes, use.nodes);
        peak_.jobs = std::max(peak_.jobs, use.jobs);
    }
}

LoggedUse::Use LoggedUse::at(Time time) const {
    const auto after = std::ranges::upper_bound(changes_, time, {}, &Change::at);
    return after == changes_.begin() ? Use{} : std::prev(after)->use;
}

}  // namespace elastic::simulator

// SPDX-License-Identifier: MIT
// A list that is left again and again is kept once, and an old one goes with the next: so however
// often a job is resized, there are few.
#include "controller/left_nodes.hpp"

namespace elastic::controller {

void LeftNodes::add(std::string node_list, std::int64_t second) {
    std::erase_if(departures_, [&](const Departure& departure) {
        return departure.second + kKept <= second || departure.node_list == node_list;
    });
    departures_.push_back({std::move(node_list), second});
}

std::vector<std::string> LeftNodes::since(std::int64_t second) const {
    std::vector<std::string> lists;
    for (const Departure& departure : departures_)
        if (departure.second >= second) lists.push_back(departure.node_list);
    return lists;
}

}  // namespace elastic::controller

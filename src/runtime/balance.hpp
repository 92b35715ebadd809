// SPDX-License-Identifier: MIT
// Which process has which object ([gupta] section III-D: GreedyLB and RefineLB).
#pragma once

#include <vector>

namespace elastic::runtime {

// The heaviest object to the process that has least, and so on.
std::vector<int> balance_greedily(const std::vector<double>& loads, int processes);

// `owners`: where the objects are, -1: nowhere, as those of a process that is to end.  Those go to
// the processes that have least; then objects leave processes that have more than a twentieth above
// the average, as long as that lowers the highest load.
std::vector<int> balance_by_refining(const std::vector<double>& loads, std::vector<int> owners,
                                     int processes);

}  // namespace elastic::runtime

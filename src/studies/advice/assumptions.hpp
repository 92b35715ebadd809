// SPDX-License-Identifier: MIT
// What an advice hangs on: assumptions, changed one at a time.
#pragma once

#include <string_view>
#include <vector>

#include "studies/advice/trials.hpp"

namespace elastic::studies {

// Of the recommended preset and the best other, under the headline's condition; the first is
// nothing changed.
std::vector<Assumption> change_assumptions(const Trials&, const std::vector<Standing>&,
                                           const std::vector<Ranking>&,
                                           std::string_view recommended);

}  // namespace elastic::studies

// SPDX-License-Identifier: MIT
// `selastic-sim reproduce mebf`: the experiments of [mebf] section 4.
#pragma once

#include "common/result.hpp"
#include "studies/study.hpp"

namespace elastic::studies {

// Writes runs.csv, the figures, tables 5 to 7 and index.html.
Result<StudyResult> reproduce_mebf(const StudyOptions&);

}  // namespace elastic::studies

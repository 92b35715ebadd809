// SPDX-License-Identifier: MIT
// `selastic-sim reproduce lina`: the experiments of [lina] section 5.
#pragma once

#include "common/result.hpp"
#include "studies/study.hpp"

namespace elastic::studies {

// Writes runs.csv, the figures, table3 and index.html.
Result<StudyResult> reproduce_lina(const StudyOptions&);

}  // namespace elastic::studies

// SPDX-License-Identifier: MIT
// `selastic-sim reproduce evolving`: the evaluation of [evolving] section 5.
#pragma once

#include "common/result.hpp"
#include "studies/study.hpp"

namespace elastic::studies {

// Needs no log.  Writes table1, table2, the schedules of the first test case and index.html.
// StudyOptions::tests and seed say how many test cases and which.
Result<StudyResult> reproduce_evolving(const StudyOptions&);

}  // namespace elastic::studies

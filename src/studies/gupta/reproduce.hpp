// SPDX-License-Identifier: MIT
// `selastic-sim reproduce gupta`: the case study of [gupta] section VI-E.
#pragma once

#include "common/result.hpp"
#include "studies/study.hpp"

namespace elastic::studies {

// Needs no log.  Writes table4, the Gantt charts figure6*, and index.html.
Result<StudyResult> reproduce_gupta(const StudyOptions&);

}  // namespace elastic::studies

// SPDX-License-Identifier: MIT
// `selastic-sim reproduce packet`: the scale ratio of the Packet algorithm, [packet] sections 6
// to 8.
#pragma once

#include "common/result.hpp"
#include "studies/study.hpp"

namespace elastic::studies {

// Needs no log.  Writes table1 to table3, figure05 to figure14, and index.html.
Result<StudyResult> reproduce_packet(const StudyOptions&);

}  // namespace elastic::studies

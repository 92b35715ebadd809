// SPDX-License-Identifier: MIT
// When an expansion has earned what it costs (Feasibility=payback).
#pragma once

#include "common/time.hpp"
#include "core/model/annotation/annotation.hpp"

namespace elastic::core {

// For how many more seconds a job is expected not to be resized: as long as it has not been, the
// time since its start or last resize.
Duration expected_rest(Time last_resize, Time now);

// What the job's work of `time` seconds at `from` nodes gains by the expansion, its cost deducted.
Duration earned_by_expansion(const Sizing&, int from, int to, Duration time);

// From when on the expansion of a job that is not resized before earns more than it costs; kNever
// if it never does, which is so if it makes the job no faster.
Time pays_from(const Sizing&, int from, int to, Time last_resize);

}  // namespace elastic::core

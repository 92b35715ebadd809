// SPDX-License-Identifier: MIT
// What must hold between the values of an annotation; only for the files of the annotation.
#pragma once

#include <string>

#include "core/model/annotation/annotation.hpp"

namespace elastic::core {

// Where a bound was not typed but taken from -N, the message must say so.
struct Source {
    std::string min, pref, max;
};

// What holds for every annotation, whether it was typed or kept.
Result<void> check_annotation(const Annotation&, const Source&);

// What also holds for an annotation at submission: a stored annotation of a running job need not
// say where the job starts.
Result<void> check_submitted(const Annotation&, const Source&);

}  // namespace elastic::core

// SPDX-License-Identifier: MIT
// How long the resizes of a job take, T_rescale of [gupta] section IV: as its application has
// shown, not only as its user has declared.
#pragma once

#include "core/model/annotation/annotation.hpp"

namespace elastic::controller {

class RescaleTime {
  public:
    // A resize has taken its application so many seconds; `declared` is what it was said to cost.
    void add(Duration seconds, Duration declared);

    // What further resizes are expected to cost.
    core::ResizeCost expected(const core::ResizeCost& declared) const;
    // Of a resize, smoothed; 0: none was measured.
    Duration seconds() const { return seconds_; }
    int count() const { return count_; }

    // The state file's.
    template <class F>
    friend void fields(F&, RescaleTime&);

  private:
    int count_ = 0;
    Duration seconds_ = 0;
    double ratio_ = 1;  // of what resizes take to what was declared, smoothed
};

}  // namespace elastic::controller

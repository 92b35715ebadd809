// SPDX-License-Identifier: MIT
// What the log says of jobs that cannot have what the site wants for them, once as long as it
// lasts.
#pragma once

#include "controller/site.hpp"
#include "controller/standing.hpp"
#include "controller/state.hpp"
#include "core/model/snapshot.hpp"

namespace elastic::controller {

class Warnings {
  public:
    Warnings(const State& state, Site& site) : state_(state), site_(site) {}

    // Malleable jobs whose batch script keeps them on a node that is to be left; the site's `bound`
    // are these from then on.
    void name_who_cannot_leave(const core::Snapshot&);

  private:
    const State& state_;
    Site& site_;
    Standing<JobId> bound_;
};

}  // namespace elastic::controller

// SPDX-License-Identifier: GPL-2.0-or-later
// Whether this slurm.conf lets the scheduler do its work.
#pragma once

#include <cstddef>
#include <string>

#include "controller/standing.hpp"
#include "core/model/config.hpp"

namespace elastic::slurm {

class Preflight {
  public:
    // The log names every setting that is wrong, with its value, the reason and what to write
    // instead; and those that work but that an administrator should know the effect of, once as
    // long as they stand.  How many are wrong.  To be called where Slurm cannot be reading
    // slurm.conf just now.
    std::size_t check(core::Starts);

  private:
    controller::Standing<std::string> doubtful_;
};

}  // namespace elastic::slurm

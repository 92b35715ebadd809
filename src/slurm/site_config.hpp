// SPDX-License-Identifier: GPL-2.0-or-later
// elastic.conf of this site, beside its slurm.conf.
#pragma once

#include <string>

#include "slurm/compat/compat.hpp"

namespace elastic::slurm {

inline std::string site_config_path() {
    char* found = get_extra_conf_path(const_cast<char*>("elastic.conf"));
    std::string path = found;
    xfree(found);
    return path;
}

}  // namespace elastic::slurm

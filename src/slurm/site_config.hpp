// SPDX-License-Identifier: GPL-2.0-or-later
// elastic.conf of this site, beside its slurm.conf.
#pragma once

#include "core/model/config.hpp"
#include "slurm/compat/compat.hpp"

namespace elastic::slurm {

inline Result<core::Config> read_site_config() {
    char* path = get_extra_conf_path(const_cast<char*>("elastic.conf"));
    auto config = core::read_config(path);
    xfree(path);
    return config;
}

}  // namespace elastic::slurm

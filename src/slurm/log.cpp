// SPDX-License-Identifier: GPL-2.0-or-later
// The number of kinds is fixed by the program, so the table cannot be filled
// from outside.
#include "slurm/log.hpp"

namespace elastic::slurm {

void QuietLog::say(const std::string& kind, const std::string& message) {
    Kind& entry = kinds_[kind];
    auto now = std::chrono::steady_clock::now();
    if (entry.last.time_since_epoch().count() && now - entry.last < std::chrono::minutes(1)) {
        ++entry.left_out;
        return;
    }
    std::string tail =
        entry.left_out ? fmt::format(" ({} more like it in between)", entry.left_out) : "";
    log_info("{}{}", message, tail);
    entry = {now, 0};
}

}  // namespace elastic::slurm

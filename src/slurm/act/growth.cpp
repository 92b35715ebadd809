// SPDX-License-Identifier: GPL-2.0-or-later
// A job grows by what is idle, what it may use, what its sizes allow and what limits of accounting
// leave it: the most of that which is not above what was agreed.
#include "slurm/act/growth.hpp"

#include <algorithm>

#include "slurm/read/eligibility.hpp"
#include "slurm/read/limits.hpp"

namespace elastic::slurm {

Growth choose_joining(job_record_t* job, const controller::Job& entry,
                      const controller::Agreement& agreement, NodeSet idle) {
    idle &= eligible_nodes(job, usable_nodes());
    int size = static_cast<int>(job->node_cnt);
    int most = std::min({entry.annotation.max, size + agreement.coming(), size + idle.count()});
    int least = agreement.requested ? size + agreement.least : size + 1;
    return within_limits(job, entry, idle, least, most);
}

Growth within_limits(job_record_t* job, const controller::Job& entry, const NodeSet& idle,
                     int least, int most) {
    Growth growth;
    const int size = static_cast<int>(job->node_cnt);
    const core::SizeRule& sizes = entry.annotation.sizes;
    for (int to = sizes.largest(least, most); to > size; to = sizes.largest(least, to - 1)) {
        growth.joining = idle.first(to - size);
        auto limit = limit_on_growth(job, growth.joining);
        if (!limit) return growth;
        growth.limit = *limit;
    }
    growth.joining = {};
    return growth;
}

}  // namespace elastic::slurm

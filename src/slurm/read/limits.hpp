// SPDX-License-Identifier: GPL-2.0-or-later
// What the limits of associations and QOS (kept by slurmdbd) say to what Slurm itself does not ask
// them about: a running job that would become larger or last longer, and a waiting one that others
// are to be shrunk for.  Without enforced limits each of these returns at once.
//
// All functions need ControllerLock, and no lock of assoc_mgr.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controller/minutes.hpp"
#include "slurm/nodes.hpp"
#include "slurm/read/attempt.hpp"

namespace elastic::slurm {

// The limit that keeps the job, which has used so much, from having `joining` besides its nodes.
std::optional<std::string> limit_on_growth(job_record_t*, const NodeSet& joining,
                                           const controller::NodeTime& used);

// The limit that keeps a pending job, tried so, from starting on so many nodes now; it becomes the
// job's reason.  Slurm may find another one when it selects the nodes.
std::optional<std::string> limit_on_start(job_record_t*, const FoundAttempt&, int nodes);

// The same of jobs that start together: each is asked about as if those before it ran.  Limits on
// minutes are asked of each for itself.
class LimitsTogether {
  public:
    LimitsTogether();
    ~LimitsTogether();
    LimitsTogether(const LimitsTogether&) = delete;
    LimitsTogether& operator=(const LimitsTogether&) = delete;

    std::optional<std::string> on_start(job_record_t*, const FoundAttempt&, int nodes);
    // The same of jobs that need not be of one user or QOS: their nodes count in the limits that
    // they have in common.
    std::optional<std::string> beside(job_record_t*, const FoundAttempt&, int nodes);

  private:
    struct Counted;
    template <class Same>
    int nodes_of(Same same) const;
    std::vector<std::unique_ptr<Counted>> counted_;
    int nodes_ = 0;  // of all of them, which Slurm counts only when it knows which they are
};

// The most nodes that its partition allows to the job; of a running one the present size, if the
// partition is not wholly open (DRAIN, DOWN, INACTIVE). INT32_MAX without a limit, as by a flag of
// the job's QOS.
int most_nodes_by_partition(const job_record_t*);

// The fewest nodes with which the job may start in its partition.
uint32_t least_nodes_by_partition(const job_record_t*);

// The same with limits of accounting, whatever others use: for planning.
int most_nodes(job_record_t*);

// When a running job must end at the latest: by its partition, MaxWall, its deadline, and
// reservations of its nodes.
time_t latest_end(job_record_t*);

}  // namespace elastic::slurm

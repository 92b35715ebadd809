// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the cluster for planning: Slurm's queue, its records, and what agreements in flight mean.
#pragma once

#include "slurm/read/observer.hpp"

namespace elastic::slurm {

class Reader {
  public:
    Reader(Context& context, Negotiation& negotiation, Observer& observer)
        : context_(context), negotiation_(negotiation), observer_(observer) {}

    // Locks, observes, and makes the queue, the view and its snapshot anew.
    void read(Time now);
    // The same with the order of the queue as it was read last.
    void read_again(Time now);

  private:
    void mark_resizable(Time now);
    void add_agreements();
    bool has_victims(const core::Agreement& growth) const;
    core::Promise promised_shrink(const core::Agreement&) const;
    core::Promise promised_growth(const core::Agreement&, job_record_t*, NodeSet& idle) const;

    Context& context_;
    Negotiation& negotiation_;
    Observer& observer_;
};

}  // namespace elastic::slurm

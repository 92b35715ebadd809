// SPDX-License-Identifier: GPL-2.0-or-later
// Follows what happens to jobs without our doing: submissions, ends, requeues,
// failed nodes, and what another controller did before us.
#pragma once

#include "slurm/negotiation.hpp"

namespace elastic::slurm {

class Observer {
  public:
    Observer(Context& context, Negotiation& negotiation)
        : context_(context), negotiation_(negotiation) {}

    // Compares Slurm's job records with what is known, writes what has changed
    // into the journal and ends agreements whose job has ended.  Needs
    // ControllerLock::Mode::write (it repairs batch steps).
    void observe(Time now);

    // Books that the job holds the nodes its record names (a start or resize of ours).
    void started(const job_record_t*, Time now);
    void resized(const job_record_t*, JobEntry&);

  private:
    void observe(job_record_t*, Time now);
    void submitted(const job_record_t*, JobEntry&, Time now);
    void ended(JobEntry&, const std::string& state, Time now);
    void note_foreign_resize(const job_record_t*, JobEntry&, Time now);

    Context& context_;
    Negotiation& negotiation_;
    std::uint64_t round_ = 0;  // entries that it has not touched are of jobs that are gone
};

}  // namespace elastic::slurm

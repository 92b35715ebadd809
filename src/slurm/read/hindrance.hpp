// SPDX-License-Identifier: GPL-2.0-or-later
// What keeps a pending job from starting whatever nodes are idle.
#pragma once

#include "slurm/compat/compat.hpp"

namespace elastic::slurm {

// What keeps the job from starting now wherever there is room, null if nothing does.  Slurm sets
// its reason for squeue.  Needs ControllerLock.
const char* why_not_now(job_record_t*);

// For as long as it lives, whoever asks may change why the job waits; afterwards it is what Slurm
// has said last.  Slurm's question about limits forgets its answer of before, which only its next
// attempt to start the job would give again.
class KeptReason {
  public:
    explicit KeptReason(job_record_t*);
    ~KeptReason();
    // It is to be this afterwards.
    void replace(std::uint32_t reason) {
        reason_ = reason;
        text_.clear();
    }
    KeptReason(const KeptReason&) = delete;
    KeptReason& operator=(const KeptReason&) = delete;

  private:
    job_record_t* job_;
    std::uint32_t reason_;
    std::string text_;
};

}  // namespace elastic::slurm

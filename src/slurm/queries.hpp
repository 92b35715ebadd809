// SPDX-License-Identifier: GPL-2.0-or-later
// What selastic asks: answers, and the operator's own resizes.
#pragma once

#include <map>

#include "slurm/negotiation.hpp"

namespace elastic::slurm {

class Queries {
  public:
    Queries(Context& context, Negotiation& negotiation, std::string journal_path)
        : context_(context), negotiation_(negotiation), journal_path_(std::move(journal_path)) {}

    // Answers through the outbox.  Slurm's rules: a user sees and steers the
    // user's own jobs, an operator all (and everybody sees all unless PrivateData
    // has `jobs`).
    void on_message(const Incoming&, Time now);
    void on_closed(ConnectionId id) { recordings_.erase(id); }
    void set_journal_path(std::string path) { journal_path_ = std::move(path); }

  private:
    Result<Json> answer(const protocol::Query&, const Incoming&, Time now);
    Result<Json> jobs(uid_t, Time now) const;
    Result<Json> show(const protocol::Query&, uid_t, Time now) const;
    Result<Json> snapshot(const protocol::Query&, const Incoming&);
    Result<Json> journal(const protocol::Query&, uid_t) const;
    Result<Json> resize(const protocol::Query&, uid_t, Time now);
    Result<Json> evacuate(const protocol::Query&, uid_t, Time now);
    Result<JobEntry*> steerable(const protocol::Query&, uid_t, Time now);
    Result<core::Agreement*> offer_leaving(JobEntry&, const std::vector<std::string>& leaving,
                                           const std::string& reason, Time now);
    bool may_see(const JobEntry&, uid_t) const;

    Context& context_;
    Negotiation& negotiation_;
    std::string journal_path_;
    // The recorded passes that are being read, as text, by who reads them.
    std::map<ConnectionId, std::string> recordings_;
};

}  // namespace elastic::slurm

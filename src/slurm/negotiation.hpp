// SPDX-License-Identifier: GPL-2.0-or-later
// The application's side of agreements: what it says, what it is told, and what
// happens when it says nothing.
//
// Takes no slurmctld locks and changes nothing in Slurm: an agreement that has
// become ripe is carried out by the Settlement.
#pragma once

#include <unordered_map>

#include "slurm/context.hpp"

namespace elastic::slurm {

class Negotiation {
  public:
    explicit Negotiation(Context& context) : context_(context) {}

    // A message on a connection that said Hello as an application.  True if a
    // planning pass should follow at once.
    bool on_message(const Incoming&, Time now);
    void on_closed(ConnectionId, Time now);

    // Offers; the job takes part and has no open agreement.
    core::Agreement& offer_shrink(JobEntry&, const std::string& node_list, int nodes,
                                  JobId beneficiary, std::string reason, Time now);
    core::Agreement& offer_expand(JobEntry&, int nodes, std::string reason, Time now);

    // Ends it before it was applied and tells the application.
    void end(core::Agreement&, core::AgreementEvent, const std::string& reason, Time now);
    // The nodes of shrinks for that job are no longer wanted by it.
    void drop_claim(JobId beneficiary, const std::string& reason, Time now);
    // What Slurm's books now say; bookkeeping of the job is the caller's.
    void applied(core::Agreement&, const JobEntry&, const std::string& changed, Time now);
    // The job holds nothing any more.
    void job_ended(JobEntry&, Time now);
    // It cannot answer, and its nodes may be given to others: what was in flight is over.
    void job_suspended(JobEntry&, Time now);

    // Ends what has taken too long.  True if a request is to be decided now: the
    // next planning pass grants or denies it.
    bool check_deadlines(Time now);
    // Nobody could answer while the controller was away: what applications hold
    // up gets its whole grace time anew.
    void after_restart(Time now);

    // Whether its user may ask for another size, after what was asked for in vain.
    Result<void> may_ask_again(JobEntry&, Time now) const;
    // Whether it may be offered something now.
    bool takes_part(const JobEntry&, Time now) const;

  private:
    void on_hello(const Incoming&, const protocol::Hello&, Time now);
    void catch_up(const JobEntry&, const core::Agreement&, Time now);
    bool on(JobEntry&, const protocol::Accept&, Time now);
    bool on(JobEntry&, const protocol::Decline&, Time now);
    bool on(JobEntry&, const protocol::Done&, Time now);
    bool on(JobEntry&, const protocol::Cancel&, Time now);
    bool on(JobEntry&, const protocol::Request&, Time now);
    bool on(JobEntry&, const protocol::Release&, Time now);
    bool on(JobEntry&, const protocol::Progress&, Time now);
    template <class Other>
    bool on(JobEntry&, const Other&, Time now);

    bool may_ask(const JobEntry&, std::int64_t token);
    core::Agreement* in_flight(const JobEntry&, OpId);
    bool advance(const JobEntry&, core::Agreement&, core::AgreementEvent);
    void send_offer(const JobEntry&, const core::Agreement&, Time now);
    void fail(const JobEntry&, std::int64_t token, std::string code, std::string message);
    void back_off(JobId, Time now);
    Result<std::string> nodes_to_release(const JobEntry&, const protocol::Release&) const;
    JobEntry* speaker(ConnectionId);

    Context& context_;
    std::unordered_map<ConnectionId, JobId> speakers_;  // the inverse of JobEntry::connection
};

}  // namespace elastic::slurm

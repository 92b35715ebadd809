// SPDX-License-Identifier: MIT
// The application's side of agreements: what it says, what it is told, and what happens when it
// says nothing.
//
// Takes no slurmctld locks and changes nothing in Slurm: an agreement that has become ripe is
// carried out by the AgreementExecutor.
#pragma once

#include <string>
#include <unordered_map>

#include "common/log.hpp"
#include "controller/outbox.hpp"
#include "controller/state.hpp"
#include "core/model/config.hpp"

namespace elastic::controller {

class Negotiation {
  public:
    // The configuration may change between calls.
    Negotiation(const core::Config& config, State& state, Outbox& outbox)
        : config_(config), state_(state), outbox_(outbox) {}

    // Whether the job is known to run.
    bool runs(JobId) const;
    // A message on a connection that said Hello as an application.  True if a planning pass should
    // follow at once.
    bool on_message(const Incoming&, Time now);
    void on_closed(ConnectionId, Time now);

    // Offers; the job takes part and has no open agreement.
    Agreement& offer_shrink(Job&, const std::string& node_list, int nodes, JobId beneficiary,
                            std::string reason, Time now);
    // `node_list` may be empty: any idle nodes will do when the job accepts.
    Agreement& offer_expand(Job&, const std::string& node_list, int nodes, std::string reason,
                            Time now);

    // Ends it before it was applied and tells the application.
    void end(Agreement&, AgreementEvent, const std::string& reason, Time now);
    // The nodes of shrinks for that job are no longer wanted by it.
    void drop_claim(JobId beneficiary, const std::string& reason, Time now);
    // What it gives up is for nobody in particular; an offer is taken back.
    void need_no_more(Agreement& shrink, const std::string& reason, Time now);
    // What Slurm's books now say; bookkeeping of the job is the caller's.
    void applied(Agreement&, const Job&, const std::string& changed, Time now);
    // The job holds nothing any more.
    void job_ended(Job&, Time now);
    // It cannot answer, and its nodes may be given to others: what was in flight is over.
    void job_suspended(Job&, Time now);

    // Ends what has taken too long.  True if a request is to be decided now: the next planning pass
    // grants or denies it.
    bool check_deadlines(Time now);
    // Goes on with the evolution profiles of running jobs: what a step lacks is asked for as if the
    // job had asked, what it does not need is asked of the job.  True if there is a request to
    // decide.
    bool follow_steps(Time now);
    // When the next step begins, as of then.
    Time next_step() const { return next_step_; }
    // Nobody could answer while the controller was away: what applications hold up gets its whole
    // grace time anew.
    void after_restart(Time now);

    // Whether its user may ask for another size, after what was asked for in vain.
    Result<void> may_ask_again(Job&, Time now) const;

  private:
    void on_hello(const Incoming&, const protocol::Hello&, Time now);
    void catch_up(const Job&, const Agreement&, Time now);
    bool on(Job&, const protocol::Accept&, Time now);
    bool on(Job&, const protocol::Decline&, Time now);
    bool on(Job&, const protocol::Done&, Time now);
    bool on(Job&, const protocol::Cancel&, Time now);
    bool on(Job&, const protocol::Request&, Time now);
    bool on(Job&, const protocol::Release&, Time now);
    bool on(Job&, const protocol::Progress&, Time now);
    bool on(Job&, const protocol::Step&, Time now);
    template <class Other>
    bool on(Job&, const Other&, Time now);

    bool follow_step(Job&, std::int64_t token, Time now);
    bool ask_for_step(Job&, Time now);
    void ask_back(Job&, Time now);
    void say_planned(const Job&, std::int64_t token, Time now);
    bool may_ask(const Job&, std::int64_t token);
    Agreement* in_flight(const Job&, OpId);
    bool may_be_traded(const Agreement& shrink) const;
    Result<void> may_take(const Job&, const Agreement&, int count) const;
    bool lower_request(Job&, Agreement&, int count, Time now);
    bool refuse_size(const Job&, OpId, protocol::FailureCode, std::string why);
    bool advance(const Job&, Agreement&, AgreementEvent);
    void send_offer(const Job&, const Agreement&, Time now);
    void tell(const Job&, protocol::Message);
    void fail(const Job&, std::int64_t token, protocol::FailureCode, std::string message);
    void back_off(JobId, Time now);
    void take(Agreement&);
    bool overdue(Agreement&, Time now);
    void measure(Job&, const Agreement&, Time now);
    Result<std::string> nodes_to_release(const Job&, const protocol::Release&) const;
    Job* speaker(ConnectionId);

    Time next_step_ = kNever;
    const core::Config& config_;
    State& state_;
    Outbox& outbox_;
    QuietLog quiet_;                                    // for what users can cause at will
    std::unordered_map<ConnectionId, JobId> speakers_;  // by connection
};

}  // namespace elastic::controller

// SPDX-License-Identifier: MIT
// The life of a resize, [gupta] section IV-B (split-phase execution).
//
//   shrink:  offered -> accepted -> released -> done
//   expand:  offered -> accepted [-> joined] -> applied  -> done
//   request: queued  -> accepted, then as an expand
//
// Besides, `queued` may end denied, `offered` and `accepted` declined or expired, and every open
// state cancelled; an expand that is applied is done at its deadline.
//
// Pure bookkeeping: no Slurm, no sockets, no clock; the caller does what the transitions mean.
//
// Always holds: at most one open agreement a job; operation ids only grow, also across restarts.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/resize.hpp"
#include "common/result.hpp"
#include "common/time.hpp"

namespace elastic::controller {

using elastic::to_string;

enum class AgreementState {
    queued,    // an evolving job has asked and nothing is decided
    offered,   // the application has not answered yet
    accepted,  // shrink: it is moving its data away; expand: the nodes are not there yet
    joined,    // expand: the nodes are the job's, their prolog runs and it has not been told
    released,  // shrink: it has left the nodes, which wait for their beneficiary
    applied,   // expand: the nodes are the job's, it is spreading over them
    // final
    done,  // shrink applied, expand ready
    declined,
    expired,
    cancelled,
    denied,
};
constexpr auto names(AgreementState) {
    return std::to_array<std::string_view>({"queued", "offered", "accepted", "joined", "released",
                                            "applied", "done", "declined", "expired", "cancelled",
                                            "denied"});
}
bool is_final(AgreementState);

enum class AgreementEvent {
    grant,
    accept,
    decline,
    join,
    release,
    apply,
    ready,
    expire,
    cancel,
    deny
};
constexpr auto names(AgreementEvent) {
    return std::to_array<std::string_view>({"grant", "accept", "decline", "join", "release",
                                            "apply", "ready", "expire", "cancel", "deny"});
}

// The table of the header's drawing; nothing for an event that the state does not know.
std::optional<AgreementState> next_state(ResizeKind, AgreementState, AgreementEvent);

struct Agreement {
    OpId op = 0;
    JobId job = 0;
    ResizeKind kind = ResizeKind::shrink;
    AgreementState state = AgreementState::offered;
    bool requested = false;  // began as an evolving job's request
    bool for_step = false;   // ... which nobody made: a step of its profile lacks the nodes
    int nodes = 0;           // how many more or fewer
    int least = 0;           // request: content with so many
    int granted = 0;         // request: how many the plan gives it; 0 while undecided
    // shrink: to give up.  expand: the idle nodes that were chosen for it, "" where any will do (an
    // operator's) or all come from victims; once applied, what came.
    std::string node_list;
    JobId beneficiary = 0;  // shrink: the job that waits for the nodes; 0 anybody
    Time created = 0;
    Time deadline = kNever;   // of the present state
    Time resizing_since = 0;  // the application moves its data; 0: not, or nobody saw it begin
    std::string reason;

    bool open() const { return !is_final(state); }
    // How many nodes an expansion will bring.
    int coming() const { return granted ? granted : nodes; }
};

// What a pending job has been promised that starts when its victims have left.
struct Claim {
    int size = 0;           // with how many nodes it is to start
    std::string node_list;  // the idle nodes that it takes besides those of its victims
    JobId job = 0;          // the pending job
};

class AgreementBook {
  public:
    // Ids begin after the largest of what was loaded and `epoch_seconds`, so they do not repeat
    // even when the saved state is lost.
    explicit AgreementBook(OpId epoch_seconds = 0) : last_op_(epoch_seconds) {}

    // Enters it with a new id, which is returned.  The job must have none open.
    Agreement& open(Agreement);

    Agreement* find(OpId);
    Agreement* of_job(JobId);  // the open one
    const Agreement* of_job(JobId) const;
    std::vector<Agreement*> shrinks_for(JobId beneficiary);
    std::vector<Agreement*> overdue(Time now);
    Time next_deadline() const;  // kNever if there is none

    // An error names the operation, its state and what was tried; nothing has changed then.  A
    // finished agreement stays until forget_finished().
    Result<void> advance(Agreement&, AgreementEvent);
    // Finished agreements, and claims without a victim left.
    void forget_finished();

    // A request is given so many nodes, those among them; 0 and "" while it is undecided.
    void decide(Agreement& request, int granted, std::string node_list);
    // What the victim gives up is for another job from now on.
    void pass_on(Agreement& shrink, JobId beneficiary);
    void claim(JobId pending, Claim);
    const Claim* claim_of(JobId pending) const;
    void drop_claim(JobId pending);
    const std::map<JobId, Claim>& claims() const { return claims_; }

    // Another one whenever an agreement or a claim begins, changes or ends.
    std::uint64_t revision() const { return revision_; }

    const std::map<OpId, Agreement>& all() const { return agreements_; }
    std::map<OpId, Agreement>& all() { return agreements_; }
    OpId last_op() const { return last_op_; }

    // Goes on with what another book had in flight, a controller's before this one.  An error names
    // what contradicts itself; nothing has changed then.
    Result<void> resume(const AgreementBook& before);

    // The state file's: what of a book outlives its controller.
    template <class F>
    friend void fields(F&, AgreementBook&);

  private:
    OpId last_op_;
    std::map<OpId, Agreement> agreements_;
    std::map<JobId, OpId> open_of_job_;
    std::map<JobId, Claim> claims_;  // by pending job
    std::uint64_t revision_ = 1;
};

}  // namespace elastic::controller

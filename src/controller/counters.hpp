// SPDX-License-Identifier: MIT
// Sums since this controller began, for monitoring: of what the journal is told.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "controller/agreement.hpp"
#include "controller/histogram.hpp"
#include "controller/job_table.hpp"
#include "journal/event.hpp"

namespace elastic::controller {

class Counters {
  public:
    // What a controller before this one has left in flight goes on.
    void begin(const AgreementBook&, Time now);
    // Each event once, in the order of the journal.
    void count(const std::vector<journal::Event>&, JobTable&);

    // None of its numbers is ever smaller than in an answer before.
    Json to_json(Time now) const;

  private:
    struct Operation {
        JobId job = 0;
        ResizeKind kind = ResizeKind::shrink;
        std::string reason = {};
        bool requested = false;
        Time begun = 0;  // accepted or granted; 0: not yet
    };
    // A running job that has been resized.
    struct Size {
        int first = 0, now = 0;
    };
    using Key = std::tuple<std::string, std::string, std::string>;

    void on(Time, JobTable&, const journal::Start&);
    void on(Time, JobTable&, const journal::Offer&);
    void on(Time, JobTable&, const journal::Request&);
    void on(Time, JobTable&, const journal::Release&);
    void on(Time, JobTable&, const journal::Accept&);
    void on(Time, JobTable&, const journal::Grant&);
    void on(Time, JobTable&, const journal::Resize&);
    void on(Time, JobTable&, const journal::Ready&);
    void on(Time, JobTable&, const journal::End&);
    void on(Time, JobTable&, const journal::Decline& event) { over(event.op, "declined"); }
    void on(Time, JobTable&, const journal::Expire& event) { over(event.op, "expired"); }
    void on(Time, JobTable&, const journal::Cancel& event) { over(event.op, "cancelled"); }
    void on(Time, JobTable&, const journal::Deny& event) { over(event.op, "denied"); }
    void on(Time, JobTable&, const journal::Controller&) {}
    void on(Time, JobTable&, const journal::Submit&) {}
    void on(Time, JobTable&, const journal::Step&) {}
    void on(Time, JobTable&, const journal::Initialise&) {}
    void on(Time, JobTable&, const journal::Supply&) {}
    void on(Time, JobTable&, const journal::Would&) {}

    Operation& begin(OpId, Operation);
    void bump(const char* what, const Operation&);
    void over(OpId, const char* what);
    void took(const Operation&, Time now);
    void change_size(JobId, int from, int to, Time now);
    void forget_size(JobId, Time now);
    void hold_until(Time now);

    Time since_ = 0;
    std::map<OpId, Operation> operations_;  // in flight
    std::map<Key, std::uint64_t> resizes_;  // by what happened, kind and reason
    std::map<std::string, Histogram> seconds_;
    std::map<std::string, Histogram> waits_;        // of started jobs, by class
    std::map<std::string, std::uint64_t> started_;  // by class
    std::map<std::string, std::uint64_t> ended_;    // by Slurm's state
    // Seconds of nodes that resized jobs have held beyond what they began with, and below it, until
    // `held_until_`; and with how many nodes these sums grow from then on.
    std::unordered_map<JobId, Size> sizes_;
    double grown_ = 0, given_ = 0;
    int more_ = 0, fewer_ = 0;
    Time held_until_ = 0;
};

// The reason of an offer without what differs from one job and user to the next, so that there are
// few of them: a phrase of the plan's, "asked for by a user", or "other".
std::string kind_of_reason(const std::string& reason);

}  // namespace elastic::controller

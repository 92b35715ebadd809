// SPDX-License-Identifier: MIT
// What all ways to run a program in an elastic job share: a loop that waits for the library's
// events, the ends of processes and signals; whether there may be another resize; the answers to
// offers; the exit status.
#pragma once

#include <sys/types.h>

#include <string>

#include "common/time.hpp"
#include "libelastic/elastic.h"
#include "selastic-run/job_event.hpp"
#include "selastic-run/job_step.hpp"

namespace elastic::tools {

class ElasticRun {
  public:
    virtual ~ElasticRun() = default;

    // Runs the program to its end; its exit status.
    int run();

  protected:
    explicit ElasticRun(elastic_handle* job) : job_(job) {}

    elastic_handle* job() const { return job_; }
    // A step on nodes of the job.
    StepPlace place_on(const std::string& nodes) const;
    // It ends, by a signal: there are no resizes any more.
    bool ending() const { return ending_; }
    // look() is called then, if nothing happens before.  To be said by each look() anew.
    void wake(Time when);
    // The end of the run.
    void finish(int status);

    bool accept(const JobEvent& offer);  // false: it is no longer there
    void decline(const JobEvent& offer, const char* why);
    // From here on the nodes are talked about; accept() says so itself.
    void begin_negotiation();
    Duration negotiated() const;  // since then; 0: never begun

    virtual void start() = 0;
    // Of an agreement, as the library tells it: of either kind, what is offered, agreed on, carried
    // out, or over without that.
    virtual void offered(const JobEvent& event) = 0;
    virtual void accepted(const JobEvent& event) = 0;
    virtual void queued(const JobEvent&) {}  // a request is known to the controller
    virtual void resized(const JobEvent& event) = 0;
    virtual void ended(const JobEvent& event) = 0;
    virtual void on_end(pid_t process, int status) = 0;  // the status as a shell has it
    virtual void on_signal(int number) = 0;              // TERM, INT, HUP, USR1 or USR2
    virtual void on_continue() {}  // it was stopped, as a suspended job is: no time has passed
    virtual void look() = 0;       // after each of the others, and when it is time
    // Readable when look() has something to do; -1: there is none.
    virtual int descriptor() const { return -1; }

  private:
    void take_signal(int number);
    void take_events();
    void take_event(const JobEvent& event);
    void take_ends();

    elastic_handle* job_;
    Time wake_at_ = 0, negotiation_began_ = kNever;
    bool ending_ = false, over_ = false;
    int status_ = 0;
};

}  // namespace elastic::tools

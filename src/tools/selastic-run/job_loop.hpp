// SPDX-License-Identifier: MIT
// What all ways to run a program wait for: the library's events, the ends of processes, signals.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "common/time.hpp"
#include "libelastic/elastic.h"

namespace elastic::tools {

// An elastic_event that owns its texts.
struct JobEvent {
    int type = 0, kind = 0, nodes = 0, size = 0;
    std::int64_t op = 0;
    Duration deadline = 0;
    std::string node_list, reason;
};

class JobUser {
  public:
    virtual ~JobUser() = default;
    void on_event(const JobEvent& event);
    virtual void on_end(pid_t process, int wait_status) = 0;
    virtual void on_signal(int number) = 0;  // TERM, INT, HUP, USR1 or USR2
    virtual void on_continue() {}  // it was stopped, as a suspended job is: no time has passed
    virtual void on_time() = 0;    // after each of the others, and every wake_after()
    virtual Duration wake_after() const = 0;
    virtual bool over() const = 0;
    // Readable when on_time() has something to do; -1: there is none.
    virtual int descriptor() const { return -1; }

  protected:
    // Of an agreement, as the library tells it: of either kind, what is offered, agreed on, carried
    // out, or over without that.
    virtual void offered(const JobEvent& event) = 0;
    virtual void accepted(const JobEvent& event) = 0;
    virtual void queued(const JobEvent&) {}  // a request is known to the controller
    virtual void resized(const JobEvent& event) = 0;
    virtual void ended(const JobEvent& event) = 0;

  private:
    static void closed(const JobEvent& event);  // there are no resizes any more
};

// Calls the user until it is over.
void run_loop(elastic_handle* job, JobUser& user);

}  // namespace elastic::tools

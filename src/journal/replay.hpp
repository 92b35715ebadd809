// SPDX-License-Identifier: MIT
// The independent checker: replays a journal and reports whatever cannot be.  Shares no code with
// the scheduler or the controller, so that it can find their mistakes.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/json.hpp"
#include "journal/journal.hpp"

namespace elastic::journal {

enum class Rule {
    malformed,       // a line that is no event
    time_order,      // time goes backwards
    no_controller,   // a job starts before the number of nodes is known
    too_many_nodes,  // more nodes in use than exist
    node_twice,      // a node is in two jobs
    node_list,       // a node list that is malformed or does not have the number of nodes said
    out_of_range,    // a job outside [min, max]
    bad_range,       // not 1 <= min <= pref <= max
    not_submitted,   // an event of a job nobody submitted
    not_running,     // an event that only a running job can have
    starts_twice,
    after_end,       // an event of a job that has ended
    wrong_size,      // `from` or an end's `count` is not what the job holds
    not_held,        // nodes leave a job that does not hold them
    op_repeats,      // an operation id used before
    two_agreements,  // a second agreement in flight for a job
    no_agreement,    // an answer or a resize for an agreement that is not in flight
    wrong_stage,     // an event that the agreement's stage does not allow
    vanished,        // no end
};
std::string_view to_string(Rule);  // "node_twice"

struct Violation {
    std::size_t line = 0;  // of the file; 0: at its end
    Rule rule = Rule::malformed;
    JobId job = 0;  // 0: of no job
    std::string message;
};

struct ReplayOptions {
    bool may_still_run = false;    // jobs without an end are fine: the journal is of a live cluster
    Duration clock_tolerance = 1;  // time may go back by so much
    bool lacks_beginning = false;  // jobs submitted before it are not judged until it resumes
};

struct Summary {
    int nodes = 0;  // that exist, as the journal said last
    int jobs = 0;   // submitted
    int started = 0;
    int completed = 0;  // ended in the state COMPLETED
    int shrinks = 0, expands = 0;
    int running = 0;     // at the end of the journal
    int peak_nodes = 0;  // most in use at once
};

// Whether a journal may begin so: a controller starts, or says anew what there is.
bool is_beginning(const Event&);

struct Held {
    JobId job = 0;
    std::string nodes;  // in Slurm's notation
    int count = 0;
};

// Feed it all lines in order, then finish().  A controller's `start` that is not the first means
// the last one died: agreements then in flight may be resumed or be silently gone, and the first
// event of an agreement may have been lost.
class Replay {
  public:
    explicit Replay(ReplayOptions options = {});
    ~Replay();

    void feed(std::size_t line, const Event&);
    void feed(const Malformed&);
    void finish();

    const std::vector<Violation>& violations() const;
    Summary summary() const;
    // Who holds what after the lines fed so far, by job id.
    std::vector<Held> held() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

// All of it at once.
struct Verdict {
    Summary summary;
    std::vector<Violation> violations;
};
Verdict check(const Journal&, ReplayOptions options = {});

Json to_json(const Verdict&);

}  // namespace elastic::journal

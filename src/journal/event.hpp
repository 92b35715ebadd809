// SPDX-License-Identifier: MIT
// What the journal records: one event a line, as JSON, written alike by the controller and the
// simulator (doc/architecture.md lists the keys).
//
// Every job that starts is journalled, rigid ones too (class "rigid"), so that the file alone says
// who held which node when.  The life of an agreement:
//
//   shrink:   offer  accept  release  resize        expand:   offer  accept  resize  ready
//   by the job itself:       release  resize        request:  request  grant  resize  ready
//
// with decline, expire, cancel or deny in place of what does not come to pass, and an accept of a
// request that is content with fewer nodes.  A resize that nobody agreed on (a node failed, the
// controller found another size after a restart) has op 0.
//
// Each kind of event says what the file calls it: kName.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "common/json.hpp"
#include "common/resize.hpp"
#include "common/result.hpp"
#include "common/time.hpp"

namespace elastic::journal {

using elastic::to_string;

// A job is known: written once before its `start`.
struct Submit {
    static constexpr std::string_view kName = "submit";
    JobId job = 0;
    std::string job_class;  // "rigid", "malleable", "evolving", "malleable+evolving"
    // A rigid job's: what its user asked for at first, max 0 if nothing bounds it.
    int min = 0, pref = 0, max = 0;
    Duration limit = 0;  // its time limit, seconds; 0 is unlimited
    std::string user;
    std::string name;  // "" if it has none
};

struct Start {
    static constexpr std::string_view kName = "start";
    JobId job = 0;
    std::string nodes;  // in Slurm's notation
    int count = 0;
    bool shared = false;     // it does not have its nodes for itself
    std::string array = {};  // "12_3" of an element of an array
};

struct Offer {
    static constexpr std::string_view kName = "offer";
    JobId job = 0;
    OpId op = 0;
    ResizeKind kind = ResizeKind::shrink;
    int count = 0;          // nodes more or fewer
    std::string nodes;      // shrink: which
    JobId beneficiary = 0;  // shrink: who waits for them; 0 is nobody in particular
    std::string reason;
};

struct Accept {
    static constexpr std::string_view kName = "accept";
    JobId job = 0;
    OpId op = 0;
    int count = 0;  // expand, request: so many nodes of those offered or asked for; 0: all
};
struct Decline {
    static constexpr std::string_view kName = "decline";
    JobId job = 0;
    OpId op = 0;
    std::string reason;
};
struct Expire {
    static constexpr std::string_view kName = "expire";
    JobId job = 0;
    OpId op = 0;
    std::string reason;
};
struct Cancel {
    static constexpr std::string_view kName = "cancel";
    JobId job = 0;
    OpId op = 0;
    std::string reason;
};

// The nodes to go are empty.  Without an offer before it: the job gives them back by itself.
struct Release {
    static constexpr std::string_view kName = "release";
    JobId job = 0;
    OpId op = 0;
};

// The allocation has changed.
struct Resize {
    static constexpr std::string_view kName = "resize";
    JobId job = 0;
    OpId op = 0;
    ResizeKind kind = ResizeKind::shrink;
    int from = 0, to = 0;  // nodes held before and after
    std::string nodes;     // that came or went
    std::string reason;
};

// The job uses the nodes an expansion gave it.
struct Ready {
    static constexpr std::string_view kName = "ready";
    JobId job = 0;
    OpId op = 0;
};

struct Request {
    static constexpr std::string_view kName = "request";
    JobId job = 0;
    OpId op = 0;
    ResizeKind kind = ResizeKind::expand;
    int want = 0;   // nodes more
    int least = 0;  // content with so many; 0: all of `want`
};

struct Grant {
    static constexpr std::string_view kName = "grant";
    JobId job = 0;
    OpId op = 0;
    ResizeKind kind = ResizeKind::expand;
    int want = 0;   // as asked
    int count = 0;  // nodes given; 0: as asked
};

struct Deny {
    static constexpr std::string_view kName = "deny";
    JobId job = 0;
    OpId op = 0;
    ResizeKind kind = ResizeKind::expand;
    int want = 0;
    std::string reason;
};

// The job holds nothing any more.  After the states "REQUEUED" and "SUSPENDED" it may start again;
// the nodes of a suspended job may be others' meanwhile.
struct End {
    static constexpr std::string_view kName = "end";
    JobId job = 0;
    std::string state;  // Slurm's name of it: "COMPLETED", "FAILED", ...
    int count = 0;      // nodes it held; 0 if it never started
};

// The writer itself, first in every journal; again whenever the number of nodes changes. `resume`:
// events before it may be missing, since the disk was full or the power failed; behind it the
// journal says anew which jobs there are and where they run, so that no missing event is needed.
struct Controller {
    static constexpr std::string_view kName = "controller";
    enum class What { start, stop, reconfigure, resume } what = What::start;
    int nodes = 0;  // that exist, in whatever state
    std::string policy;
};
constexpr auto names(Controller::What) {
    return std::to_array<std::string_view>({"start", "stop", "reconfigure", "resume"});
}

// A step of the job's evolution profile begins, or is waited for.
struct Step {
    static constexpr std::string_view kName = "step";
    JobId job = 0;
    int number = 0;  // from 1
    int nodes = 0;   // by the profile
    int held = 0;    // that the job has; fewer: it waits for the rest
};

// The job starts on nodes that are not known to be initialised for its type, so that it initialises
// them first.
struct Initialise {
    static constexpr std::string_view kName = "initialise";
    JobId job = 0;
    std::string type;   // of the job
    std::string nodes;  // those of its nodes
};

// [gupta] section VII: from now on these nodes cost so much each an hour, in the site's unit, and
// so many of them may be in use.
struct Supply {
    static constexpr std::string_view kName = "supply";
    std::string name;   // a partition, or a list
    std::string nodes;  // which these are
    double price = 0;   // 0: nothing beyond the usual
    int cap = -1;       // < 0: all of them
    friend bool operator==(const Supply&, const Supply&) = default;
};

// What is planned and, with Observe=yes, not done: it begins, or it is over.
struct Would {
    static constexpr std::string_view kName = "would";
    enum class What { start, shrink, expand } what = What::start;
    JobId job = 0;
    int count = 0;          // nodes to start with, fewer, or more
    JobId beneficiary = 0;  // shrink: who waits for them; 0 is nobody in particular
    Duration lasted = -1;   // < 0: it begins; else it is over, after so long
};
constexpr auto names(Would::What) {
    return std::to_array<std::string_view>({"start", "shrink", "expand"});
}

struct Event {
    Time time = 0;
    std::variant<Controller, Submit, Start, Offer, Accept, Decline, Expire, Cancel, Release, Resize,
                 Ready, Request, Grant, Deny, End, Step, Initialise, Supply, Would>
        what;
};

// "start on 4 nodes that others give up", "give up 2 nodes for job 9", "grow by 3 nodes".
std::string describe(const Would&);

bool is_resume(const Event&);            // a Controller's
std::string_view name_of(const Event&);  // "resize": what `event` says in the file
JobId job_of(const Event&);              // 0 for what is no job's

// {"time":12.5,"event":"resize","job":7,...}; keys that have their default and are not needed are
// left out.
Json to_json(const Event&);
// The error names the key, what was expected and what was found.  Unknown keys are ignored, so that
// an older reader copes with a newer writer.
Result<Event> event_from_json(const Json&);

// What users call jobs, which is not their number where they are elements of an array.
class JobNames {
  public:
    void learn(const Event&);  // if it says so
    void learn(JobId job, std::string name) { names_[job] = std::move(name); }
    std::string of(JobId) const;

  private:
    std::map<JobId, std::string> names_;
};

// One line for people, without the time: "job 7: 4 -> 2 nodes, gave up n[3-4] (for a pending job)".
// Printable ASCII, whatever the event's texts hold, and cut where it gets very long.
std::string describe(const Event&, const JobNames& = {});

}  // namespace elastic::journal

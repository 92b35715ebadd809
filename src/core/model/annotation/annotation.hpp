// SPDX-License-Identifier: MIT
// What a job says of its elasticity: `--elastic=malleable,min=2,max=16`.
//
// Grammar (elastic(7)):  CLASS[+CLASS][,key=value]...  or  packet=TYPE,init=PROGRAM[,key=value]...
// The same text may stand in --comment behind "elastic:".  job_submit/elastic parses it once; the
// normalised form is JSON in the job's admin_comment.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/json.hpp"
#include "common/result.hpp"
#include "common/time.hpp"
#include "core/model/evolution_profile.hpp"
#include "core/model/speedup.hpp"
#include "core/model/types.hpp"

namespace elastic::core {

// [mebf] section 2.2 and [lina] section 3: seconds a resize costs, alpha*dN + beta/N for the data,
// b*dN for the processes, and `sync` to synchronise them.  A cost linear in nodes says hours for a
// large machine, so the data may be said instead, in bytes: spread evenly before and after, all
// nodes send and receive at once.
struct ResizeCost {
    double alpha = 0, beta = 0, b = 0, sync = 0;
    double data = 0;  // bytes, of all nodes
    double rate = 0;  // bytes a second that a node sends or receives; 0: the site's LinkBandwidth

    // N is the sum of nodes before and after ([lina] section 3), dN the difference.
    Duration seconds(int from, int to) const;
    // A shrink and the expansion back, or the other way round.
    Duration there_and_back(int size, int other) const {
        return seconds(size, other) + seconds(other, size);
    }
    friend bool operator==(const ResizeCost&, const ResizeCost&) = default;
};

// Which sizes a job can have and what they mean to it: all that a planning pass needs to know, of
// which it has a copy for each job.
struct Sizing {
    bool malleable = false;
    bool evolving = false;
    int min = 0, pref = 0, max = 0;  // nodes; 1 <= min <= pref <= max
    SizeRule sizes;
    Duration gap = -1;     // least time between two resizes; < 0: the site's ResizeGap
    double price = -1;     // [gupta] section VII-B: the most a node may cost; < 0: any price
    SpeedupModel speedup;  // rho, overhead or downey; linear if not given
    ResizeCost cost;
    // The steps of a job that knows how its size evolves; empty for any other.  Of a running job,
    // those from now on: the first is the one it is in, or waits for the nodes of.
    EvolutionProfile profile;

    bool allows(int nodes) const;
    friend bool operator==(const Sizing&, const Sizing&) = default;
};

// [packet] section 3: what makes a node ready for jobs of one type.
struct Initialisation {
    std::string program;  // a path, absolute or from the job's folder
    Duration time = 0;    // that it takes; 0: not known

    friend bool operator==(const Initialisation&, const Initialisation&) = default;
};

struct Annotation : Sizing {
    Duration grace = -1;  // to answer and to move data; < 0: the site's GraceTime
    std::string packet;   // [packet] the job's type, "" for none
    Initialisation init;  // of nodes for the type; with a type, always a program

    friend bool operator==(const Annotation&, const Annotation&) = default;
};

// What the job's other options say, 0 where they say nothing.
struct RequestedNodes {
    int min = 0, max = 0;          // -N min-max; equal for -N n
    int needed = 0;                // without which its tasks have no room
    std::string_view needed_by{};  // the option from which that comes, "-n"
};

inline constexpr std::size_t kMaxAnnotation = 4096;       // characters
inline constexpr Duration kLeastGrace = 1;                // to answer at all
inline constexpr double kMaxCost = 1e6;                   // alpha, beta, b and sync, seconds
inline constexpr double kMaxPrice = 1e9;                  // of a node, in the site's unit
inline constexpr double kMaxBytes = 1e18;                 // of a job's data
inline constexpr double kMinRate = 1e3, kMaxRate = 1e15;  // bytes a second
inline constexpr double kDefaultRate = 1e9;
inline constexpr std::string_view kCommentPrefix = "elastic:";
inline constexpr std::string_view kRigid = "rigid";  // the whole text of a job that is not elastic

// What of a comment is an annotation's text: all behind kCommentPrefix, if a class (or "rigid", or
// "packet=") follows there at once.  Nothing for any other comment.
std::optional<std::string_view> annotation_in_comment(std::string_view comment);

// Parses and completes.  With -N, min and max default to its ends and pref to its lower end;
// without, min to 1, max to the larger of min and pref, and pref to the smallest allowed size.
// Where neither -N nor pref name one size, pref is at least RequestedNodes::needed.  With `profile`
// min and max default to its smallest and largest step, and pref is its first.  `profile` needs the
// class evolving alone, `init` and `packet` need each other.  The class may be left out of a text
// that begins with `packet`: such a job has one size.  The text kRigid is no annotation, but an
// error.  Every error is one line of printable ASCII that names the key, the value and the limit,
// fit to be shown by sbatch, e.g. "elastic: min=8 is larger than pref=4".
Result<Annotation> parse_annotation(std::string_view text, RequestedNodes nodes);

// What can only be checked against the cluster: largest size the partition has.
Result<void> check_against_partition(const Annotation&, int partition_nodes,
                                     std::string_view partition);

// Completes it by the site's LinkBandwidth.
void set_link_bandwidth(Annotation&, double bytes_a_second);

// And against the site's MaxGraceTime.
Result<void> check_grace(const Annotation&, Duration max_grace);

// And against the time limit that the job would have, in seconds; the limit `of` what it is, for
// the message: "partition debug" or "".
Result<void> check_time_limit(const Annotation&, Duration limit, std::string_view of);

// Of the kept form, for people who look and not read here: what the job has had, put there at its
// end, and what the site itself writes into admin comments.
inline constexpr char kSizesHad[] = "had", kSiteComment[] = "site";

// {"elastic":1,"class":"malleable+evolving","min":..,...}; defaults left out. The class of a rigid
// job is "rigid".
Json to_json(const Annotation&);
Json to_json(const Sizing&);
// Null-safe inverse, as strict as the grammar; an error says which key is wrong.
Result<Annotation> annotation_from_json(const Json&);
// The text form of to_json of what `admin_comment` holds; an error if it is not ours.
Result<Annotation> annotation_from_text(std::string_view admin_comment);

std::string class_name(const Sizing&);  // or "rigid"
std::string size_names(const Sizing&);  // "min=1, max=8, sizes=any", for messages

// Run time left at `to` nodes of what takes this job `left` at `from` nodes.  An evolution profile
// says how long its steps take, so with one it is the same.
Duration rescale(Duration left, int from, int to, const Sizing&);

}  // namespace elastic::core

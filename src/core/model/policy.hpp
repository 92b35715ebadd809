// SPDX-License-Identifier: MIT
// A policy is one choice in each of a few places (doc/architecture.md lists them with their
// papers); a published policy is a named preset of choices.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/result.hpp"
#include "common/time.hpp"

namespace elastic::core {

// With how many nodes a pending job starts.
enum class InitialSize {
    requested,    // the preferred size
    least,        // ... but a malleable job that starts by shrinking others starts with its
                  // minimum ([lina] algorithm 4, lines 2 and 3)
    available,    // a malleable job takes what is idle, from its minimum up to the preferred
                  // size ([mebf] GetResources)
    flexible,     // the same on idle nodes; by shrinking others the preferred size if they can
                  // give it, else the minimum
    beneficial,   // ... and more, as long as that saves more time than it costs the last victim;
                  // less than the preferred size only if that saves more than it costs all victims
    equal_share,  // a malleable job gets what each malleable job gets ([gupta] section VI-E)
    minimum,      // a malleable job starts with its minimum, idle nodes or not ([wagomu] MIN)
};

enum class Backfill {
    none,
    easy,
    conservative,
    first_fit,  // whoever fits, by nobody's leave: no job has a reservation ([lina] algorithm 3 to
                // the letter)
};

// In which order jobs are tried that may only start ahead of a blocked one.
enum class BackfillOrder {
    queue,
    shortest,  // shortest estimate first, as long as some job in the system is malleable or, where
               // the policy resizes nobody, always
    lightest,  // likewise by estimate times square root of the size: between the shortest
               // first, which is best for slowdowns, and the least work first, for turnaround
};

// When running jobs may be shrunk at all.
enum class ShrinkGuard {
    never,
    by_default,     // always ([lina] algorithm 5, "Default")
    application,    // not if some job ends soon; no victim that is nearly done (algorithm 6)
    system,         // not if the system is well used and some job ends soon (algorithm 7)
    system_text,    // not if the system is well used (the text on algorithm 7)
    queue_blocked,  // no node is idle and a job waits ([mebf] algorithm 1, lines 10 to 12)
    shrink_plus,    // ... or nothing could be backfilled on the idle ones (lines 17, 18)
};

// Which victims are shrunk first.
enum class VictimOrder {
    random,           // [lina] section 4, as the next five
    gain,             // most nodes gained so far
    shrinkable,       // most nodes above its minimum, then largest
    expansions,       // most often expanded
    adaptation_cost,  // cheapest to resize
    remaining_time,   // soonest to end
    scalability,      // least scalable ([mebf] algorithm 2)
    above_preferred,  // most nodes above its preferred size ([wagomu] PREF)
    use,              // most of the range between its minimum and its maximum ([wagomu] AVERAGE)
    slowdown,         // least added to its slowdown ([sd])
};

// How many nodes a victim gives.
enum class ShrinkAmount {
    needed,           // what is needed, or all it can give ([lina] algorithm 8)
    share,            // a share of what it has ([mebf] share_factor)
    equal_share,      // no more than leaves it its equal share ([gupta])
    even,             // what leaves all victims the same share of their ranges ([wagomu] AVERAGE)
    preferred_first,  // down to the preferred size; further only for a job's least size
                      // ([wagomu] PREF)
    to_preferred,     // never more than down to the preferred size ([wagomu] KEEP-PREF)
    each,             // every victim as many as the beneficiary wants in all, or all it can give
                      // ([lina] algorithms 5 to 8 to the letter)
};

// For whom they are shrunk when jobs wait.
enum class ShrinkFor {
    starter,  // a job that can then start; nobody, if that takes more than they have to give
    anybody,  // the queue: all that may be, as far as ShrinkAmount goes; what comes free is idle,
              // since [mebf] algorithm 2 names no job that is to have it
};

// Whether a job that was shrunk may be shrunk again: how [mebf] algorithm 2, which "excludes the
// previously configured ones", is read.
enum class ShrinkAgain {
    next_round,  // not twice in one plan
    never,       // once in its life
};

// On which nodes a pending job may start while its victims have not left all nodes that they give
// up.
enum class StartsOn {
    idle,    // idle ones that are nobody else's, if they suffice
    agreed,  // none: it waits for the nodes promised to it ([wagomu] agreement)
    steal,   // nodes promised to another such job, which gets its own for them ([wagomu] steal)
    pool,    // both kinds, together ([wagomu] common pool)
};

// When running jobs are expanded.
enum class ExpandTrigger {
    never,
    nobody_can_use,  // over nodes that no pending job can use ([lina])
    queue_empty,     // when nothing waits ([mebf] algorithm 1, lines 20, 21)
    expand_plus,     // ... or nothing could be backfilled ([mebf] lines 17, 18)
};

// Which jobs are expanded first.
enum class ExpandOrder {
    longest_remaining,  // [lina]
    scalability,        // most scalable ([mebf])
    benefit,            // most of its remaining time saved for each node
    smallest,           // fewest nodes: equal shares ([gupta])
    above_minimum,      // fewest nodes above its minimum ([wagomu] MIN)
    above_preferred,    // fewest nodes above its preferred size ([wagomu] PREF)
    use,                // least of the range between minimum and maximum ([wagomu] AVERAGE)
};

// By how many nodes a job is expanded.
enum class ExpandAmount {
    to_max,      // to the maximum, or as far as nodes go ([lina]; [mebf] algorithm 6, Intensive)
    to_fastest,  // the same, but not beyond the size at which it runs fastest
    to_earliest_end,  // to the size with which the job ends first, if that is sooner
    handoff,          // to the maximum, but only if it more than doubles ([mebf] algorithm 4)
    spare,        // ... only if it grows by more than SpareRatio ([mebf] algorithm 5), and never
                  // over more than a portion of the idle nodes (the text of its section 3.1)
    spare_all,    // the same over all of them
    equal_share,  // up to its equal share ([gupta])
    even,         // until all have the same share of their ranges ([wagomu] AVERAGE)
    preferred_first,  // to the preferred size; to the maximum if it has that ([wagomu] PREF)
    to_preferred,     // not beyond the preferred size ([sd])
};

// From when on a job is expanded.
enum class ExpandFrom {
    gap,    // when its first resize gap is over ([gupta] counts a start as a resize)
    start,  // at once: what would be an expansion is part of its start, and costs it nothing
};

// What becomes of idle nodes that a reservation needs.
enum class ReservedNodes {
    kept,  // no job gets them that would not have ended by then
    lent,  // malleable jobs are expanded over them too: they are shrunk when the reserved job
           // starts
};

// Who may not push back a promised start by more than HeadDelay.
enum class HeadDelayBinds {
    requests,  // those of evolving jobs
    all,       // ... and backfilled jobs: nodes free by then are kept for the promised start
};

// Which resizes are not worth their cost.
enum class Feasibility {
    none,      // all are
    mebf,      // [mebf] algorithm 3
    payback,   // what a resize costs has to be earned
    slowdown,  // shrinks that add more to slowdowns than waiting for a static start ([sd])
};

// What is believed of the speed-up that jobs declare beyond their preferred sizes.
enum class Belief {
    declared,  // all of it
    learned,   // as much as the jobs that have ended have shown (core/model/experience.hpp)
};

struct Policy {
    // What starts and resizes are weighed by, from turnaround, 0, to slowdown, 1.
    double objective = 0;
    InitialSize initial_size = InitialSize::least;
    Backfill backfill = Backfill::easy;
    BackfillOrder backfill_order = BackfillOrder::queue;
    ShrinkGuard shrink_guard = ShrinkGuard::by_default;
    VictimOrder victim_order = VictimOrder::shrinkable;
    ShrinkAmount shrink_amount = ShrinkAmount::needed;
    ShrinkFor shrink_for = ShrinkFor::starter;
    ShrinkAgain shrink_again = ShrinkAgain::next_round;
    StartsOn starts_on = StartsOn::idle;
    ExpandTrigger expand_trigger = ExpandTrigger::nobody_can_use;
    ExpandOrder expand_order = ExpandOrder::longest_remaining;
    ExpandAmount expand_amount = ExpandAmount::to_max;
    ExpandFrom expand_from = ExpandFrom::gap;
    ReservedNodes reserved_nodes = ReservedNodes::kept;
    Feasibility feasibility = Feasibility::none;
    Duration resize_gap = 0;  // [gupta] T_gap: least time between two resizes of one job
    // By how much a start that a waiting job has been promised may be pushed back.
    Duration head_delay = kNever;
    HeadDelayBinds head_delay_binds = HeadDelayBinds::requests;
    Belief belief = Belief::declared;

    // Parameters of single choices, with their papers' values.
    Duration guard_time = 5;         // application, system: t, "about to end"
    double guard_done = 0.9;         // application: x; the paper gives no value
    double guard_utilization = 0.8;  // system, system_text: u
    double shrink_share = 0.4;       // share: share_factor
    double spare_ratio = 0.5;        // spare, spare_all: ratio
    double spare_kept = 0.5;         // spare: share of the idle nodes; the paper gives no value
    double least_remaining = 0.5;    // mebf feasibility: theta
    double most_slowdown = 2;        // mebf feasibility: gamma

    friend bool operator==(const Policy&, const Policy&) = default;

    bool resizes() const {
        return shrink_guard != ShrinkGuard::never || expand_trigger != ExpandTrigger::never;
    }
    // Jobs that wait for victims may start on nodes that were promised to other such jobs.
    bool trades() const { return starts_on == StartsOn::steal || starts_on == StartsOn::pool; }
};

// The preset of a site that does not choose.
inline constexpr std::string_view kDefaultPolicy = "elastic";

// A preset by its name in elastic.conf(5), "lina-default" or "lina-default/gain" (with another
// victim order); an error lists the known names.
Result<Policy> preset(std::string_view name);
std::vector<std::string_view> preset_names();

// One choice by its key in elastic.conf ("VictimOrder", "gain"); an error names the key and the
// possible values.  `known` is false for a key that is no choice.
struct ChoiceResult {
    bool known = true;
    Result<void> result;
};
ChoiceResult set_choice(Policy&, std::string_view key, std::string_view value);

// All of them, in the order of elastic.conf(5): given to set_choice() one by one they make an equal
// Policy out of any other.
struct ChoiceValue {
    std::string_view key;
    std::string value;
};
std::vector<ChoiceValue> choices_of(const Policy&);

}  // namespace elastic::core

// SPDX-License-Identifier: MIT
// Nodes over time, drawn from a journal: for a terminal, and as SVG.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/json.hpp"
#include "common/result.hpp"
#include "journal/journal.hpp"

namespace elastic::journal {

// One node held by one job for a while.
struct Span {
    int job = 0;  // index into Timeline::jobs
    Time from = 0, to = 0;
    bool joined = false;       // began with an expansion, not with the job's start
    bool left = false;         // ended with a shrink, not with the job's end
    bool initialised = false;  // the job initialised the node for its type
    friend bool operator==(const Span&, const Span&) = default;
};

struct Row {
    std::string node;
    std::vector<Span> spans;  // by `from`; those of jobs that share the node may overlap
};

struct SizeChange {
    Time at = 0;
    int from = 0, to = 0;
    std::string reason;
};

// A step of the job's evolution profile that has begun, or waits for nodes.
struct StepBegin {
    Time at = 0;
    int number = 0;   // from 1
    int nodes = 0;    // that the profile says
    Time had_at = 0;  // when the job had the nodes: `at`, later if it waited, or when it gave up
};

struct JobHistory {
    std::string label;                         // its number, or "12_3" of an element of an array
    std::string name, job_class, user, state;  // state "" while it runs
    Time submit = 0, start = 0, end = 0;       // of its last run
    std::vector<int> sizes;                    // at the start and after each resize
    std::vector<SizeChange> changes;
    std::vector<StepBegin> steps;  // but for the first, with which it starts
    std::string type;              // that it initialised nodes for, "" if it did not

    // Seconds for which steps waited.
    Duration step_wait() const;
};

struct Timeline {
    Time from = 0, to = 0;
    int nodes = 0;                 // that exist; may be more than rows
    std::vector<Row> rows;         // every node that was ever used, in natural order
    std::vector<JobHistory> jobs;  // those that started, in the order of their first start
};

// Follows the journal as far as it can; what Replay would report is drawn as well as it goes.  Jobs
// without an end run until the last event.
Timeline timeline(const std::vector<Line>& lines);

// The timeline with the rows of `nodes` (Slurm's notation) alone.
Result<Timeline> only_nodes(Timeline, std::string_view nodes);

// What would be drawn; selastic(1) has its shape.
Json to_json(const Timeline&);

struct TextOptions {
    int width = 80;       // columns; at least 40 are used
    int max_rows = 64;    // where there are more nodes, neighbours share a row
    bool colour = false;  // ANSI, 256 colours
    bool unicode = true;
    std::size_t max_legend = 40;  // jobs in the legend
};

// A row a node (or some neighbouring nodes), a column a slice of time; a cell has the letter of the
// job that held it longest in that time, or '.' where it was idle for half of it or more.  Below it
// a time axis and a legend with the jobs' sizes.
std::string draw_text(const Timeline&, const TextOptions& = {});

// A self-contained image: no scripts, no references.  The jobs' data are its tooltips.
std::string draw_svg(const Timeline&, std::string_view title = "");

}  // namespace elastic::journal

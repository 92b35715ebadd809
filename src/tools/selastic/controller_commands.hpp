// SPDX-License-Identifier: MIT
// Commands that ask the controller.  Each prints and returns an exit code.
#pragma once

#include <string>

#include "common/json.hpp"
#include "common/result.hpp"
#include "common/time.hpp"
#include "journal/event.hpp"
#include "protocol/message.hpp"
#include "selastic/file_commands.hpp"

namespace elastic::tools {

// Asks and prints the answer as `render` makes it, or as it is.
int query_and_print(const protocol::Query&, bool json, std::string (*render)(const Json&));

// The present nodes of a running job.
struct JobSize {
    int code = 0;  // an exit code, after a message unless it is kExitOk
    std::string node_list = {};
    int nodes = 0;
    std::string node_aliases = {};  // SLURM_NODE_ALIASES; "" if it needs none
};
JobSize query_size(JobId);

// The whole of the last pass, for replaying it: for people to look at, or as it was recorded.
int show_snapshot(bool json);

// `selastic journal` without --file.
int show_journal(const JournalFilter&);

// Of a job of a reply, as users know it.
std::string job_label(const Json& job);
// What a reply calls the jobs of its events, and one of these as a line.
journal::JobNames names_of(const Json& reply);
std::string event_line(const Json& event, journal::JobNames&);

// Bodies of replies as text.  Whatever a body lacks is shown as empty.
std::string render_jobs(const Json& body);
std::string render_job(const Json& body);
std::string render_message(const Json& body);  // shrink, expand

}  // namespace elastic::tools

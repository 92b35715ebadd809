// SPDX-License-Identifier: MIT
// Commands that need nothing but a journal.  Each prints and returns an exit code.
#pragma once

#include <string>
#include <vector>

#include "selastic/job_argument.hpp"

namespace elastic::tools {

struct JournalFilter {
    int tail = 0;  // the last so many events; 0: all
    JobArgument job;
    bool follow = false;
    bool json = false;
};

// `selastic journal --file F`
int show_journal_file(const std::string& file, const JournalFilter&);

struct CheckOptions {
    std::vector<std::string> files;  // parts of one journal
    bool may_still_run = false;
    bool json = false;
};
// `selastic check`: 0 without violations, 1 with.
int check_journal(const CheckOptions&);

struct HoursOptions {
    std::vector<std::string> files;
    bool json = false;
};
// `selastic hours`: what jobs held and what it cost
int show_hours(const HoursOptions&);
// `selastic observed`: what Observe=yes has seen
int show_observed(const HoursOptions&);

struct GanttOptions {
    std::vector<std::string> files;
    std::string svg;    // file to write, "-" for standard output, "" to draw in the terminal
    std::string nodes;  // these alone, "" for all
    std::string title;
    int width = 0;                // 0: the terminal's
    std::string colour = "auto";  // auto, always, never
    bool ascii = false, json = false;
};
int draw_gantt(const GanttOptions&);

}  // namespace elastic::tools

// SPDX-License-Identifier: MIT
// What selastic-run is told on its command line, and by the settings of a program.
#pragma once

#include <string>
#include <vector>

namespace elastic::tools {

using Words = std::vector<std::string>;  // a command and its arguments

struct RunOptions {
    Words program = {};
    int tasks_per_node = 0;  // 0: as many as the job began with
    Words srun_options = {};

    std::string stop_signal = {};  // as scancel knows it: "TERM"; "": none
    double stop_seconds = 300;     // within which a program stops that stops at all
    std::string stop_file = {};    // made in place of, or besides, the signal; "": none
    std::string checkpoint = {};   // "": unknown to us
    std::string restart = {};      // "": the program again
    int stopped_status = -1;       // of a program that was stopped; -1: not known

    std::string birth =
        {};  // behind the name of a step, so that it can be told from others; "": none

    bool goes_on = false;  // the program has run before: files with its output are to be kept

    bool stop_first = false;  // a rebirth's old world has ended before the next one starts

    bool workers = false;               // one step a node
    std::string join = {}, leave = {};  // commands for a shell; "": none
    int control = -1;                   // descriptor of a socket; -1: none

    bool pmix = false;  // the program asks for nodes by PMIx

    bool json = false;  // of a dry run
    bool dry_run = false;

    bool stops() const { return !stop_signal.empty() || !stop_file.empty(); }
};

}  // namespace elastic::tools

// SPDX-License-Identifier: MIT
// selastic-sim run: one log, one policy.
#pragma once

#include <string>

#include "selastic-sim/policy_options.hpp"
#include "simulator/make_workload.hpp"
#include "simulator/site/site.hpp"

namespace elastic::tools {

struct RunOptions {
    std::string log;  // "-" for standard input
    bool lenient = false;
    simulator::SiteFiles site;
    simulator::WorkloadOptions workload;
    PolicyOptions policy;
    std::string supply, supply_nodes;  // --supply, a file, and --supply-nodes
    bool settle = false;               // as in SimulationOptions
    double completing = 0;             // likewise, seconds
    bool at_once = false;              // --preempt-at-once
    bool calibrate = false;            // --calibrate, in place of workload.scale_arrival
    bool references = false;           // --references
    std::string baseline;              // --baseline, a preset; "" for none
    // Files; "" for none, "-" for standard output, of which there can be one.
    std::string jobs_out, segments_out, journal, gantt;
    bool json = false;  // the summary
};

int run(const RunOptions&);

}  // namespace elastic::tools

// SPDX-License-Identifier: MIT
// selastic-sim trust: whether a simulation of a site's log shows the waits that the site has.
#include <fmt/format.h>

#include <memory>

#include "command_parser.hpp"
#include "program.hpp"
#include "selastic-sim/commands.hpp"
#include "selastic-sim/shared_options.hpp"
#include "simulator/trust/trust.hpp"
#include "studies/advice/site.hpp"
#include "studies/advice/trials.hpp"

namespace elastic::tools {
namespace {

int trust(const studies::AdviceOptions& options, bool json) {
    const Result<studies::Site> site = studies::read_site(options);
    if (!site) return fail(site.error());
    for (const std::string& warning : studies::warnings(*site)) note("{}", warning);
    note("{}: {} nodes: {}", site->log.name, site->workload.nodes, site->nodes_from);
    const simulator::Trust trust =
        studies::judge_trust(*site, studies::run_easy(site->workload, site->options.seed));
    if (json)
        fmt::print("{}\n", simulator::to_json(trust).dump());
    else
        fmt::print("{}", simulator::to_text(trust));
    return kExitOk;
}

}  // namespace

void add_trust(CommandParser app) {
    auto o = std::make_shared<studies::AdviceOptions>();
    auto json = std::make_shared<bool>(false);
    CommandParser sub =
        app.add_command("trust", "Say how far a simulation of a site's log is to be believed");
    sub.footer(
        "Compares what the jobs of LOG waited in truth with what they wait in a simulation, job\n"
        "by job and over time, and names what the simulation does not know.  advise does so, too.");
    sub.add_option("LOG", o->log, "As for run").required();
    add_machine(sub, o->lenient, o->workload);
    add_site(sub, o->files, "Options");
    sub.add_json(*json, "The same as JSON");
    sub.runs([o, json] { return trust(*o, *json); });
}

}  // namespace elastic::tools

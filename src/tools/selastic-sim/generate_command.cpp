// SPDX-License-Identifier: MIT
// selastic-sim generate: a log out of a workload model, on standard output.
//
// Writes the log piece by piece, so that a long one needs no memory twice.

#include <memory>
#include <string_view>

#include "command_parser.hpp"
#include "common/result.hpp"
#include "program.hpp"
#include "selastic-sim/commands.hpp"
#include "selastic-sim/shared_options.hpp"
#include "simulator/generators.hpp"
#include "simulator/workload.hpp"
#include "write_output.hpp"

namespace elastic::tools {
namespace {

using simulator::Range;

// `model` goes into the log's header.
int print_log(const Result<simulator::Log>& log, std::string_view model) {
    if (!log) return fail(log.error());
    Result<void> written;
    simulator::write_swf(*log, model, [&](std::string_view piece) {
        if (written) written = write_output("-", piece);
    });
    return written ? kExitOk : fail(written.error());
}

void add_generator_options(CommandParser sub, simulator::GeneratorOptions& o) {
    sub.add_option("--jobs", o.jobs, fmt::format("How many; {}", o.jobs)).type_name("N");
    sub.add_option("--procs", o.processors, fmt::format("Of the machine; {}", o.processors))
        .type_name("P");
    sub.add_option("--load", o.load, "Work over capacity; 0: as the model's arrivals say")
        .type_name("F");
    add_seed(sub, o.seed, "");
    sub.add_option("--estimate-factor", o.estimate_factor,
                   "Estimates are up to so many times the run time; 1")
        .type_name("F");
    sub.add_flag("--round-estimates", o.round_estimates, "Estimates as people write them");
    sub.add_option("--heterogeneous-share", o.heterogeneous_share,
                   "Probability of two components that start together; 0")
        .type_name("F");
}

void add_downey(CommandParser models) {
    auto o = std::make_shared<simulator::DowneyOptions>();
    CommandParser sub = models.add_command("downey", "Downey's model, as in [lina] table 1");
    add_generator_options(sub, o->common);
    add_range(sub, "--log-run", {0, 20}, "Natural logarithm of the run time in seconds; 5.69:9.91",
              [o](Range range) { o->log_run = range; });
    add_range(sub, "--log-size", {0, 20}, "Natural logarithm of the size in processors; 0.69:8.51",
              [o](Range range) { o->log_size = range; });
    sub.runs([o] { return print_log(simulator::generate_downey(*o), "Downey"); });
}

void add_lublin(CommandParser models) {
    auto o = std::make_shared<simulator::LublinOptions>();
    CommandParser sub = models.add_command("lublin", "Lublin and Feitelson's model of batch jobs");
    add_generator_options(sub, o->common);
    const auto add = [&](const char* name, double& value, const char* text) {
        sub.add_option(name, value, fmt::format("{}; {}", text, value)).type_name("F");
    };
    add("--serial-share", o->serial_share, "Probability of one processor");
    add("--pow2-share", o->power_of_two_share, "Probability of a power of two");
    add("--start-hour", o->start_hour, "Of the day at the log's zero");
    add("--wide-share", o->wide_share, "Probability of a rigid job of 90 to 100 % of the machine");
    sub.runs([o] { return print_log(simulator::generate_lublin(*o), "Lublin-Feitelson"); });
}

void add_evolving(CommandParser models) {
    auto o = std::make_shared<simulator::EvolvingOptions>();
    CommandParser sub = models.add_command(
        "evolving", "A test case of [evolving] section 5.1: jobs with evolution profiles");
    add_nodes(sub, o->nodes, "The machine's; 100");
    sub.add_option("--test", o->test, "Which of the seed's test cases; 1")
        .whole_number(1, 1'000'000'000)
        .type_name("N");
    add_seed(sub, o->seed, "Of all that is drawn; ");
    sub.runs([o] { return print_log(simulator::generate_evolving(*o), "evolving"); });
}

}  // namespace

void add_generate(CommandParser app) {
    CommandParser sub = app.add_command("generate", "Print a log out of a workload model, as SWF");
    add_downey(sub);
    add_lublin(sub);
    add_evolving(sub);
}

}  // namespace elastic::tools

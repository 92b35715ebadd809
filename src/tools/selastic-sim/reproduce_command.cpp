// SPDX-License-Identifier: MIT
// selastic-sim reproduce: the studies of the papers.
//
// The verdicts go to standard output, where the page is to standard error.
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <string>

#include "command_parser.hpp"
#include "common/json.hpp"
#include "common/text.hpp"
#include "program.hpp"
#include "selastic-sim/commands.hpp"
#include "selastic-sim/shared_options.hpp"
#include "studies/evolving/reproduce.hpp"
#include "studies/gupta/reproduce.hpp"
#include "studies/lina/reproduce.hpp"
#include "studies/mebf/reproduce.hpp"
#include "studies/packet/reproduce.hpp"
#include "studies/study.hpp"

namespace elastic::tools {
namespace {

Result<studies::StudyResult> run_study(const std::string& study,
                                       const studies::StudyOptions& options) {
    if (study == "lina") return studies::reproduce_lina(options);
    if (study == "mebf") return studies::reproduce_mebf(options);
    if (study == "evolving") return studies::reproduce_evolving(options);
    if (study == "packet") return studies::reproduce_packet(options);
    return studies::reproduce_gupta(options);
}

void print(const studies::StudyResult& result) {
    for (const studies::Table& table : result.tables) fmt::print("{}\n", table.text());
    for (const studies::Finding& finding : result.findings)
        fmt::print("{:<14}{}: {}\n{:14}{}\n", studies::to_string(finding.verdict), finding.place,
                   finding.statement, "", finding.outcome);
}

void print_json(const studies::StudyResult& result) {
    Json tables = Json::array();
    for (const studies::Table& table : result.tables) tables.push(studies::to_json(table));
    Json all = Json::object();
    all.set("tables", tables).set("findings", studies::to_json(studies::to_table(result.findings)));
    fmt::print("{}\n", all.dump());
}

// `study` is "lina", "mebf", "gupta", "evolving" or "packet"; without --out the folder is named
// after it.
int reproduce(const std::string& study, studies::StudyOptions options, bool json) {
    if (options.out.empty()) options.out = "reproduce-" + study;
    options.tells = true;
    const auto begin = std::chrono::steady_clock::now();
    const Result<studies::StudyResult> result = run_study(study, options);
    if (!result) return fail(result.error());
    json ? print_json(*result) : print(*result);
    if (!result->remark.empty()) note("{}", result->remark);
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    note("wrote {} in {:.1f} s", result->page, passed.count());
    return kExitOk;
}

void add_test_cases(CommandParser sub, studies::StudyOptions& o) {
    sub.add_option("--tests", o.tests, "Test cases; 1000")
        .whole_number(1, 1'000'000)
        .type_name("N");
    add_nodes(sub, o.nodes, "The machine's; 100");
    add_seed(sub, o.seed, "Of all that is drawn; ");
    add_threads(sub, "-j,--threads", o.threads, "Test cases");
}

void add_number_of_runs(CommandParser sub, studies::StudyOptions& o) {
    sub.add_option("--jobs", o.jobs, "Of a workload, instead of the paper's number")
        .whole_number(1, 1'000'000)
        .type_name("N");
    sub.add_option("--seeds", o.seeds, "Runs to average").whole_number(1, 1000).type_name("N");
    add_threads(sub, "-j,--threads", o.threads, "Runs");
}

void add_study(CommandParser studies_app, const std::string& name, const char* text) {
    auto o = std::make_shared<studies::StudyOptions>();
    auto json = std::make_shared<bool>(false);
    CommandParser sub = studies_app.add_command(name, text);
    sub.add_json(*json, "The tables and what is found of each statement, as JSON");
    add_path(sub, "--out", o->out, fmt::format("Folder for the results; reproduce-{}", name))
        .type_name("DIR");
    sub.runs([o, json, name] { return reproduce(name, *o, *json); });
    if (name == "gupta") return;
    if (name == "evolving") return add_test_cases(sub, *o);
    add_number_of_runs(sub, *o);
    if (name == "packet") return;
    sub.add_option("--trace", o->trace, "The workload log, as for run").type_name("LOG");
    add_nodes(sub, o->nodes, "The machine's; by default as the log says");
    add_procs_per_node(sub, o->procs_per_node,
                       "Sizes in the log are divided by K; by default as the paper did");
}

}  // namespace

void add_reproduce(CommandParser app) {
    CommandParser sub = app.add_command("reproduce", "Do a paper's study again, and compare");
    add_study(sub, "lina", "Shrink guards and victim orders ([lina] section 5)");
    add_study(sub, "mebf", "Malleable EASY backfilling ([mebf] section 4)");
    add_study(sub, "evolving", "Evolution profiles on 1000 test cases ([evolving] section 5)");
    add_study(sub, "gupta", "Equipartition on 16 nodes ([gupta] section VI-E)");
    add_study(sub, "packet", "The scale ratio of job groups ([packet] sections 6 to 8)");
}

}  // namespace elastic::tools

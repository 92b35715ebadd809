// SPDX-License-Identifier: MIT
// The verdicts go to standard output, where the page is to standard error.
#include "selastic-sim/reproduce_command.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>

#include "common/json.hpp"
#include "common/text.hpp"
#include "program.hpp"
#include "studies/evolving/reproduce.hpp"
#include "studies/gupta/reproduce.hpp"
#include "studies/lina/reproduce.hpp"
#include "studies/mebf/reproduce.hpp"
#include "studies/packet/reproduce.hpp"

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

Json to_json(const studies::Table& table) {
    Json rows = Json::array();
    for (const std::vector<std::string>& cells : table.rows()) {
        Json row = Json::object();
        for (std::size_t i = 0; i < cells.size(); ++i)
            if (const auto number = parse_number(cells[i]))
                row.set(table.columns()[i], *number);
            else
                row.set(table.columns()[i], cells[i]);
        rows.push(row);
    }
    return rows;
}

void print_json(const studies::StudyResult& result) {
    Json tables = Json::array();
    for (const studies::Table& table : result.tables) tables.push(to_json(table));
    Json all = Json::object();
    all.set("tables", tables).set("findings", to_json(studies::to_table(result.findings)));
    fmt::print("{}\n", all.dump());
}

}  // namespace

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

}  // namespace elastic::tools

// SPDX-License-Identifier: MIT
// The verdicts go to standard output, where the page is to standard error.
#include "selastic-sim/reproduce_command.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>

#include "program.hpp"
#include "studies/gupta.hpp"
#include "studies/lina.hpp"
#include "studies/mebf.hpp"

namespace elastic::tools {
namespace {

Result<studies::StudyResult> run_study(const std::string& study,
                                       const studies::StudyOptions& options) {
    if (study == "lina") return studies::reproduce_lina(options);
    if (study == "mebf") return studies::reproduce_mebf(options);
    return studies::reproduce_gupta(options);
}

}  // namespace

int reproduce(const std::string& study, studies::StudyOptions options) {
    if (options.out.empty()) options.out = "reproduce-" + study;
    options.tells = true;
    const auto begin = std::chrono::steady_clock::now();
    const Result<studies::StudyResult> result = run_study(study, options);
    if (!result) return fail(result.error());
    for (const studies::Finding& finding : result->findings)
        fmt::print("{:<14}{}: {}\n{:14}{}\n", studies::to_string(finding.verdict), finding.place,
                   finding.statement, "", finding.outcome);
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    note("wrote {} in {:.1f} s", result->page, passed.count());
    return kExitOk;
}

}  // namespace elastic::tools

// SPDX-License-Identifier: MIT
// That the files can be written is known before the hours that it may take, not after.
#include "selastic-sim/advise_command.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "program.hpp"
#include "studies/advice/page.hpp"
#include "studies/report/plot.hpp"
#include "write_output.hpp"

namespace elastic::tools {
namespace {

Result<void> check_output(const char* option, const std::string& file, const std::string& log) {
    if (file.empty() || is_standard_output(file)) return {};
    const auto folder = std::filesystem::path(file).parent_path();
    std::error_code failure;
    if (!folder.empty() && !std::filesystem::is_directory(folder, failure))
        return error("{}: {} is no folder", option, folder.string());
    if (std::filesystem::equivalent(file, log, failure))
        return error("{}: {} is the file of LOG, too", option, file);
    return {};
}

Result<void> check_outputs(const AdviceOutput& output, const std::string& log) {
    if (auto ok = check_output("--html", output.html, log); !ok) return ok;
    if (auto ok = check_output("--json", output.json, log); !ok) return ok;
    if (!output.json.empty() && output.html == output.json)
        return error("--json: {} is the file of --html, too", output.json);
    return {};
}

Result<void> write(const char* option, const std::string& file, const std::string& content) {
    if (file.empty()) return {};
    const Result<void> written = write_output(file, content);
    if (!written) return error("{}: {}", option, written.error().message);
    if (!is_standard_output(file)) note("wrote {}", file);
    return {};
}

}  // namespace

int advise(const studies::AdviceOptions& options, const AdviceOutput& output) {
    if (auto ok = check_outputs(output, options.log); !ok) return fail(ok.error());
    const Result<studies::Advice> advice = studies::advise(options);
    if (!advice) return fail(advice.error());
    for (const std::string& warning : advice->warnings) note("{}", warning);
    note("{}: {} nodes: {}", advice->log, advice->nodes, advice->nodes_from);
    if (auto can = studies::check_can_draw(); !can) note("{}", can.error().message);
    if (!is_standard_output(output.html) && !is_standard_output(output.json))
        fmt::print("{}", studies::to_text(*advice));
    for (const Result<void>& written :
         {write("--html", output.html, studies::to_html(*advice)),
          write("--json", output.json, studies::to_json(*advice).dump_pretty() + '\n')})
        if (!written) return fail(written.error());
    return kExitOk;
}

}  // namespace elastic::tools

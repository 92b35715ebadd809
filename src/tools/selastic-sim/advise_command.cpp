// SPDX-License-Identifier: MIT
// selastic-sim advise: from a site's log to its elastic.conf.
//
// That the files can be written is known before the hours that it may take, not after.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>

#include "command_parser.hpp"
#include "program.hpp"
#include "selastic-sim/commands.hpp"
#include "selastic-sim/shared_options.hpp"
#include "studies/advice/advice.hpp"
#include "studies/advice/page.hpp"
#include "studies/report/plot.hpp"
#include "write_output.hpp"

namespace elastic::tools {
namespace {

// Files; "" for none, "-" for standard output, of which there can be one.
struct AdviceOutput {
    std::string html = "advice.html", json;
};

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

}  // namespace

void add_advise(CommandParser app) {
    auto o = std::make_shared<studies::AdviceOptions>();
    auto output = std::make_shared<AdviceOutput>();
    CommandParser sub = app.add_command("advise", "Recommend a policy by a site's own log");
    sub.footer(
        "Compares all presets with 20, 50 and 100 % of the jobs malleable, at the usual cost of a\n"
        "resize and ten times that, and writes a page that says who wins, who loses and what it\n"
        "hangs on.");
    sub.add_option("LOG", o->log, "As for run").required();
    add_machine(sub, o->lenient, o->workload);
    add_site(sub, o->files, "Options");
    sub.add_option("--seeds", o->seeds, "Runs to average; 3").whole_number(2, 1000).type_name("N");
    sub.add_flag("--calibrate", o->calibrate,
                 "Look, too, with arrivals scaled until jobs wait as they did");
    add_path(sub, "--html", output->html, "The page, one file; advice.html").type_name("FILE");
    add_path(sub, "--json", output->json, "The same as JSON; none").type_name("FILE");
    add_threads(sub, "-j,--threads", o->pool.threads, "Runs");
    sub.runs([o, output] { return advise(*o, *output); });
}

}  // namespace elastic::tools

// SPDX-License-Identifier: MIT
// selastic-sim advise: from a site's log to its elastic.conf.
//
// That the files can be written is known before the hours that it may take, not after.
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "command_parser.hpp"
#include "program.hpp"
#include "selastic-sim/commands.hpp"
#include "selastic-sim/shared_options.hpp"
#include "studies/advice/advice.hpp"
#include "studies/advice/page.hpp"
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
    return {};
}

Result<void> write_all(const AdviceOutput& output, const studies::Advice& advice) {
    if (auto ok = write("--html", output.html, studies::to_html(advice)); !ok) return ok;
    return write("--json", output.json, studies::to_json(advice).dump_pretty() + '\n');
}

// On the way: files as they are so far, each replaced as a whole, so that they can be read at any
// time and an interrupt leaves what there was.  What cannot be written is told in the end.
class SoFar {
  public:
    explicit SoFar(AdviceOutput output) : files_(std::move(output)) {
        for (std::string* file : {&files_.html, &files_.json})
            if (is_standard_output(*file)) file->clear();
    }

    void tell(const studies::Advice& advice) {
        if (files_.html.empty() && files_.json.empty()) return;
        (void)write_all(files_, advice);
        const Clock::time_point now = Clock::now();
        if (now < quiet_until_) return;
        quiet_until_ = now + kQuiet;
        note("{} {}", studies::basis_text(advice), studies::headline(advice));
    }

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds kQuiet{5};

    AdviceOutput files_;
    Clock::time_point quiet_until_ = Clock::now() + kQuiet;
};

int advise(const studies::AdviceOptions& options, const AdviceOutput& output) {
    if (auto ok = check_outputs(output, options.log); !ok) return fail(ok.error());
    SoFar files(output);
    const Result<studies::Advice> advice =
        studies::advise(options, [&](const studies::Advice& so_far) { files.tell(so_far); });
    if (!advice) return fail(advice.error());
    for (const std::string& warning : advice->warnings) note("{}", warning);
    note("{}: {} nodes: {}", advice->log, advice->nodes, advice->nodes_from);
    if (!is_standard_output(output.html) && !is_standard_output(output.json))
        fmt::print("{}", studies::to_text(*advice));
    if (auto ok = write_all(output, *advice); !ok) return fail(ok.error());
    for (const std::string& file : {output.html, output.json})
        if (!file.empty() && !is_standard_output(file)) note("wrote {}", file);
    return kExitOk;
}

}  // namespace

void add_advise(CommandParser app) {
    auto o = std::make_shared<studies::AdviceOptions>();
    auto output = std::make_shared<AdviceOutput>();
    CommandParser sub = app.add_command("advise", "Recommend a policy by a site's own log");
    sub.footer(
        "Compares all presets with 50 % of the jobs malleable, and elastic and the best others "
        "with\n"
        "5, 10, 20 and 100 %, and with resizes at ten times the usual cost; and writes a page "
        "that\n"
        "says who wins, who loses and what it hangs on.  Of a long log some weeks are looked at\n"
        "first, and the page is written again and again until it is of the whole log.");
    sub.add_option("LOG", o->log, "As for run").required();
    add_machine(sub, o->lenient, o->workload);
    add_site(sub, o->files, "Options");
    sub.add_option("--seeds", o->seeds, "Runs to average; 3").whole_number(2, 1000).type_name("N");
    sub.add_option(
           "--sample", o->sample,
           "Of a log of over three times as many jobs look at some weeks with N jobs first;\n"
           "0: do not; 20000")
        .whole_number(std::int64_t{0}, std::int64_t{1'000'000'000})
        .type_name("N");
    sub.add_flag("--all-presets", o->all_presets,
                 "Compare all presets under all shares and costs, not the best alone");
    sub.add_flag("--calibrate", o->calibrate,
                 "Look, too, with arrivals scaled until jobs wait as they did");
    add_path(sub, "--html", output->html, "The page, one file; advice.html").type_name("FILE");
    add_path(sub, "--json", output->json, "The same as JSON; none").type_name("FILE");
    add_threads(sub, "-j,--threads", o->pool.threads, "Runs");
    sub.runs([o, output] { return advise(*o, *output); });
}

}  // namespace elastic::tools

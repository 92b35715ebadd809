// SPDX-License-Identifier: MIT
// The archive's logs are recognised by their names: their headers say no more than the machine's
// size, and other logs of the same machine are not those of the papers.
#include "studies/study.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "common/text.hpp"
#include "simulator/logs/reader.hpp"

namespace elastic::studies {
namespace {

KnownTrace known_trace(const std::string& file) {
    const std::string name = lower_case(file);
    if (name.find("atlas") != std::string::npos) return KnownTrace::atlas;
    if (name.find("kit-fh2") != std::string::npos) return KnownTrace::kit;
    return KnownTrace::none;
}

std::string label(const std::string& file, KnownTrace known) {
    if (known == KnownTrace::atlas) return "LLNL";
    if (known == KnownTrace::kit) return "KIT";
    const std::string name = std::filesystem::path(file).filename().string();
    const std::string stem = printable(name.substr(0, name.find('.')), 40);
    return stem.empty() ? "log" : stem;
}

}  // namespace

Result<Trace> read_trace(const StudyOptions& options, std::string_view study) {
    if (options.trace.empty())
        return error(
            "reproduce {}: give the workload log with --trace FILE; the papers' logs "
            "(LLNL-Atlas-2006-2.1-cln, KIT-FH2-2016-1) are in the Parallel Workloads "
            "Archive, and selastic-sim generate makes others",
            study);
    Result<simulator::Log> log = simulator::read_log(options.trace, false);
    if (!log) return error("--trace: {}", log.error().message);
    const KnownTrace known = known_trace(std::filesystem::path(options.trace).filename().string());
    return Trace{*std::move(log), known, label(options.trace, known)};
}

std::int64_t exact_estimates(const simulator::Log& log, std::int64_t jobs) {
    const auto end = log.jobs.begin() + std::min<std::int64_t>(jobs, std::ssize(log.jobs));
    return std::count_if(log.jobs.begin(), end,
                         [](const simulator::LogJob& job) { return job.estimate == job.run; });
}

PoolOptions pool(const StudyOptions& options, std::string progress) {
    return {options.threads, options.tells ? std::move(progress) : std::string()};
}

}  // namespace elastic::studies

// SPDX-License-Identifier: MIT
// The input is a log in any format, read as an export of sacct and as whatever it looks like.  The
// jobs that come out are within their limits and have a number each, and a workload is made of them
// or refused in one clean line.
#include <algorithm>
#include <set>

#include "fuzz.hpp"
#include "simulator/logs/reader.hpp"
#include "simulator/logs/sacct.hpp"
#include "simulator/logs/swf.hpp"
#include "simulator/make_workload.hpp"

using namespace elastic;
using namespace elastic::simulator;

namespace {

void check_components(const Log& log) {
    std::set<std::size_t> seen;
    for (const auto& components : log.heterogeneous) {
        fuzz::require(components.size() > 1, "several components");
        fuzz::require(std::ranges::is_sorted(components), "the order of the log");
        for (const std::size_t place : components)
            fuzz::require(place < log.jobs.size() && seen.insert(place).second, "one job of each");
    }
}

void check(const Log& log) {
    check_components(log);
    std::set<std::int64_t> ids;
    for (const LogJob& job : log.jobs) {
        fuzz::require(job.type >= -1 && job.type < std::ssize(log.types), "a type");
        fuzz::require(job.submit >= 0 && job.submit <= kMaxLogTime, "a submit time");
        fuzz::require(job.run > 0 && job.run <= kMaxLogTime, "a run time");
        fuzz::require(job.estimate > 0 && job.estimate <= kMaxLogTime, "an estimate");
        fuzz::require(job.processors >= 0 && job.nodes >= 0, "a size");
        fuzz::require(job.processors + job.nodes > 0, "a size");
        fuzz::require(ids.insert(job.id).second, "a number of its own");
    }
}

// Whatever is read can be made a workload of, or is refused.
void make(const Log& log) {
    const auto workload = make_workload(log, {.nodes = 1000, .elastic = 100});
    if (!workload) return fuzz::require_clean(workload.error().message);
    for (const Job& job : workload->jobs) {
        fuzz::require(job.nodes >= 1 && job.nodes <= workload->nodes, "a size");
        fuzz::require(job.run > 0 && job.estimate > 0, "times");
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = fuzz::text(data, size);
    const auto sacct = read_sacct(text, "log", false);
    if (!sacct) fuzz::require_clean(sacct.error().message);
    const auto any = parse_log(text, "log", true);
    if (!any) {
        fuzz::require_clean(any.error().message);
        return 0;
    }
    check(*any);
    make(*any);
    const auto typed = parse_log(text, "log", true, {TypeField::user, TypeField::executable});
    if (typed)
        check(*typed);
    else
        fuzz::require_clean(typed.error().message);
    return 0;
}

// SPDX-License-Identifier: MIT
#include <algorithm>
#include <set>

#include "fuzz.hpp"
#include "simulator/log_reader.hpp"
#include "simulator/sacct_reader.hpp"
#include "simulator/swf_reader.hpp"

using namespace elastic;
using namespace elastic::simulator;

namespace {

void check(const Log& log) {
    std::set<std::int64_t> ids;
    for (const LogJob& job : log.jobs) {
        fuzz::require(job.submit >= 0 && job.submit <= kMaxLogTime, "a submit time");
        fuzz::require(job.run > 0 && job.run <= kMaxLogTime, "a run time");
        fuzz::require(job.estimate > 0 && job.estimate <= kMaxLogTime, "an estimate");
        fuzz::require(job.processors >= 0 && job.nodes >= 0, "a size");
        fuzz::require(job.processors + job.nodes > 0, "a size");
        fuzz::require(ids.insert(job.id).second, "a number of its own");
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
    return 0;
}

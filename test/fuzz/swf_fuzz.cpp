// SPDX-License-Identifier: MIT
// The input is a log in the Standard Workload Format, packed or not.  Unpacking keeps to its limit,
// lenient reading takes every text, strict reading those without a malformed line, and jobs are
// within their limits.
#include "simulator/logs/swf.hpp"

#include <algorithm>
#include <set>

#include "fuzz.hpp"
#include "simulator/logs/unpack.hpp"

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
    for (const LogJob& job : log.jobs) {
        fuzz::require(job.type >= -1 && job.type < std::ssize(log.types), "a type");
        fuzz::require(job.submit >= 0 && job.submit <= kMaxLogTime, "a submit time");
        fuzz::require(job.run > 0 && job.run <= kMaxLogTime, "a run time");
        fuzz::require(job.estimate > 0 && job.estimate <= kMaxLogTime, "an estimate");
        fuzz::require(job.processors > 0 && job.processors <= kMaxProcessors, "a size");
    }
    fuzz::require(log.processors >= 0 && log.nodes >= 0, "a machine");
}

void read(std::string_view text) {
    const auto strict = read_swf(text, "log", false), lenient = read_swf(text, "log", true);
    fuzz::require(static_cast<bool>(lenient), "lenient reading");
    check(*lenient);
    fuzz::require(static_cast<bool>(strict) == (lenient->malformed == 0), "what is malformed");
    if (!strict) fuzz::require_clean(strict.error().message);
    const TypeRule all{TypeField::user, TypeField::group, TypeField::executable, TypeField::queue,
                       TypeField::partition};
    check(*read_swf(text, "log", true, all));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = fuzz::text(data, size);
    if (!is_packed(text)) {
        read(text);
        return 0;
    }
    const TextLimits limits{.bytes = 1 << 20, .free_bytes = 1 << 18, .ratio = 50};
    const auto unpacked = unpack(text, "log", limits);
    if (unpacked) {
        fuzz::require(unpacked->view().size() <= limits.bytes, "the limit");
        read(unpacked->view());
    } else {
        fuzz::require_clean(unpacked.error().message);
    }
    return 0;
}

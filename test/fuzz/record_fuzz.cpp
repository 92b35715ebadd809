// SPDX-License-Identifier: MIT
// The input is JSON for a record with a field of every format.
#include "fuzz.hpp"
#include "sample_record.hpp"

using namespace elastic;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const Result<Json> json = Json::parse(fuzz::text(data, size));
    if (!json) return 0;
    testing::Sample sample;
    const Result<void> done = read_record(*json, sample);
    if (!done) {
        fuzz::require_clean(done.error().message);
        return 0;
    }
    fuzz::require(sample.text.size() <= 5 && sample.part.id >= 1 && sample.least <= sample.most,
                  "what was read is within its limits");
    const Json written = write_record(sample);
    testing::Sample again;
    fuzz::require(static_cast<bool>(read_record(written, again)), "what was written can be read");
    fuzz::require(write_record(again).dump() == written.dump(), "the round trip");
    return 0;
}

// SPDX-License-Identifier: MIT
// The input is a string, which JSON can carry whatever its bytes, and a JSON text, which is refused
// or survives the way to a value and back.
#include "common/json.hpp"

#include "fuzz.hpp"

using namespace elastic;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // Any bytes as a string can be dumped and parsed.
    Json string(fuzz::text(data, size));
    Result<Json> read = Json::parse(string.dump());
    fuzz::require(read && read->text() == string.text(), "a string's round trip");

    Result<Json> value = Json::parse(fuzz::text(data, size));
    if (!value) {
        fuzz::require_clean(value.error().message);
        return 0;
    }
    Result<Json> again = Json::parse(value->dump());
    fuzz::require(again && again->dump() == value->dump(), "the round trip");
    fuzz::require_clean(value->describe());
    return 0;
}

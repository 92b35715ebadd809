// SPDX-License-Identifier: MIT
// The input is an annotation, typed or as it is stored.  One that is taken has its sizes in order
// and in range and survives the way to JSON and back; one that is refused is told in one clean
// line.
#include "core/model/annotation/annotation.hpp"

#include "fuzz.hpp"

using namespace elastic;
using namespace elastic::core;

namespace {

void check(const Result<Annotation>& result) {
    if (!result) return fuzz::require_clean(result.error().message);
    const Annotation& a = *result;
    fuzz::require(1 <= a.min && a.min <= a.pref && a.pref <= a.max && a.max <= kMaxNodes, "range");
    fuzz::require(a.sizes.allows(a.pref), "pref is an allowed size");
    Result<Annotation> again = annotation_from_text(to_json(a).dump());
    fuzz::require(again && *again == a, "the round trip");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string_view text = fuzz::text(data, size);
    check(parse_annotation(text, {0, 0}));
    check(parse_annotation(text, {4, 8}));
    check(annotation_from_text(text));
    return 0;
}

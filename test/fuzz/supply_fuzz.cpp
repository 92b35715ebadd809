// SPDX-License-Identifier: MIT
// The input is a file of prices and caps.  What is taken has bounded terms at every instant at
// which they change, and those instants come to an end; what is refused is told with the source's
// name.
#include "common/limits.hpp"
#include "common/text.hpp"
#include "core/model/annotation/annotation.hpp"
#include "core/model/supply.hpp"
#include "fuzz.hpp"

using namespace elastic;
using namespace elastic::core;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto supply = parse_supply(fuzz::text(data, size), "supply");
    if (!supply) {
        fuzz::require(supply.error().message.starts_with("supply:"), "an error names the source");
        fuzz::require_clean(supply.error().message);
        return 0;
    }
    fuzz::require(supply->sets.size() <= kMaxSupplySets, "few sets");
    for (const std::string& set : supply->sets)
        fuzz::require(!set.empty() && printable(set, kMaxSupplyLine) == set, "a printable name");
    SupplyClock clock(*supply);
    for (Time now = 0;; now = clock.next()) {
        clock.advance(now);
        fuzz::require(clock.next() > now, "time goes on");
        for (const Terms& terms : clock.terms()) {
            fuzz::require(terms.price >= 0 && terms.price <= kMaxPrice, "a price");
            fuzz::require(!terms.most || (*terms.most >= 0 && *terms.most <= kMaxNodes), "a cap");
        }
        if (clock.next() >= kNever) return 0;
    }
}

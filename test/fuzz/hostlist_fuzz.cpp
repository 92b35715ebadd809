// SPDX-License-Identifier: MIT
// The input is a node list.  Expanded, compressed and expanded again it is the same set of names,
// of bounded number.
#include "common/hostlist.hpp"

#include <set>

#include "fuzz.hpp"

using namespace elastic;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Result<std::vector<std::string>> names = expand_hostlist(fuzz::text(data, size));
    if (!names) {
        fuzz::require_clean(names.error().message);
        return 0;
    }
    fuzz::require(names->size() <= kMaxHosts, "the number of names is bounded");
    constexpr std::size_t kEnough = 1000;  // more of them are no other case, but slow
    if (names->size() > kEnough) return 0;
    Result<std::vector<std::string>> again = expand_hostlist(compress_hostlist(*names));
    fuzz::require(bool(again), "what compress wrote can be read");
    std::set<std::string> unique(names->begin(), names->end());
    fuzz::require(again->size() == unique.size(), "duplicates are dropped");
    fuzz::require(std::set<std::string>(again->begin(), again->end()) == unique, "same names");
    return 0;
}

// SPDX-License-Identifier: MIT
// Node lists in Slurm's notation ("n[1-4,7],login") and as names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/result.hpp"

namespace elastic {

inline constexpr std::size_t kMaxHosts = 100'000;

// The names in the order of the text, duplicates included; none for "".  Understands ranges with
// leading zeros and one bracket at the end of a name, as Slurm prints for one-dimensional clusters.
// Refuses more than `most` names, names over 255 characters, characters other than letters, digits
// and "._-" in names, and anything malformed.
Result<std::vector<std::string>> expand_hostlist(std::string_view text,
                                                 std::size_t most = kMaxHosts);

// Such a text for the names, with runs as ranges; "" for none.  Sorts by prefix and then
// numerically, so n2 stands before n10; duplicates are dropped.
std::string compress_hostlist(std::vector<std::string> names);

// The text of a list without the names of another; the list itself if one of them is malformed.
std::string without_hosts(const std::string& list, const std::string& others);

// The last `count` of the names besides `kept`, or as many as there are: what a job gives up that
// keeps the node of its batch script.
std::vector<std::string> last_hosts(std::vector<std::string> names, const std::string& kept,
                                    int count);

}  // namespace elastic

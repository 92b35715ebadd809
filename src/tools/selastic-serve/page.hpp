// SPDX-License-Identifier: MIT
// The page of "/", which is one file.
#pragma once

#include <string>
#include <string_view>

namespace elastic::tools {

std::string_view page();

// The policy of contents under which it works: its own style and script by their digests, and
// nothing else.
std::string page_policy();

}  // namespace elastic::tools

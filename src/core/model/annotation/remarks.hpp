// SPDX-License-Identifier: MIT
// Members of an annotation's kept form that are for people and are not read: what a site itself
// writes into admin comments ("site"), and what the job has had (kSizesHad).
#pragma once

#include <string>
#include <string_view>

#include "common/result.hpp"

namespace elastic::core {

// The kept form `stored` with this text of the site's in place of the one it has; with "" without
// one.  Refused is what is too long, or meant as an annotation.
Result<std::string> with_site_comment(std::string_view stored, std::string_view text);

// As before the job's last run ended.
std::string without_sizes_had(std::string_view stored);

}  // namespace elastic::core

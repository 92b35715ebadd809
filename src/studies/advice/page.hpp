// SPDX-License-Identifier: MIT
// Advice as a page that is one file, as JSON, and as text for a terminal.
#pragma once

#include <string>

#include "common/json.hpp"
#include "studies/advice/advice.hpp"

namespace elastic::studies {

// Pictures are inside the page.  One that is not finished loads itself again.
std::string to_html(const Advice&);
// Of what it is made so far.
std::string basis_text(const Advice&);
// The answer in one paragraph.
std::string headline(const Advice&);
Json to_json(const Advice&);
// The recommendation and the presets, the best first.
std::string to_text(const Advice&);

}  // namespace elastic::studies

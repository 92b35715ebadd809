// SPDX-License-Identifier: MIT
// Advice as a page that is one file, as JSON, and as text for a terminal.
#pragma once

#include <string>

#include "common/json.hpp"
#include "studies/advice/advice.hpp"

namespace elastic::studies {

// Figures are images inside the page; without gnuplot the page says so in their place.
std::string to_html(const Advice&);
Json to_json(const Advice&);
// The recommendation and the presets, the best first.
std::string to_text(const Advice&);

}  // namespace elastic::studies

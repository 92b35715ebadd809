// SPDX-License-Identifier: MIT
// selastic-sim advise: from a site's log to its elastic.conf.
#pragma once

#include <string>

#include "studies/advice/advice.hpp"

namespace elastic::tools {

// Files; "" for none, "-" for standard output, of which there can be one.
struct AdviceOutput {
    std::string html = "advice.html", json;
};

int advise(const studies::AdviceOptions&, const AdviceOutput&);

}  // namespace elastic::tools

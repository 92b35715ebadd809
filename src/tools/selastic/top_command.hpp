// SPDX-License-Identifier: MIT
// `selastic top`.
#pragma once

#include <string>

namespace elastic::tools {

struct TopOptions {
    std::string sort = "job";
    std::string filter;
    bool reverse = false;
    bool once = false;
    bool json = false;  // once, too
};

int top(const TopOptions&);

}  // namespace elastic::tools
